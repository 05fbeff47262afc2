"""Pages that the server answers by itself, before any of the dashboard runs."""

from starlette.responses import HTMLResponse

#: in the colours of the dashboard's themes
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>kgdash</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>
body {{ font: 16px/1.5 system-ui; max-width: 36rem; margin: 4rem auto; padding: 0 1rem;
  background: light-dark(#fff, #12171d); color: light-dark(#1c2733, #e8edf2) }}
a {{ color: light-dark(#1f63b8, #6aa6e8) }}
a.button {{ display: inline-block; padding: .4rem 1rem; border-radius: .5rem; text-decoration: none;
  background: #1f63b8; color: #fff }}
</style>
<h1>{heading}</h1>{body}"""


def plain_page(heading: str, body: str, status: int = 200) -> HTMLResponse:
    """Build a page without scripts.

    :param heading: text, without marks of HTML
    :param body: HTML
    """
    page = _PAGE.format(heading=heading, body=body)
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store"})


#: what they read for whom there is no room to wait
BUSY = plain_page("Busy", "<p>Too many are waiting. Try again in a minute.</p>", 503)
