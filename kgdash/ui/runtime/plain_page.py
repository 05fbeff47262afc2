"""Pages that the server answers by itself, before any of the dashboard runs."""

from starlette.responses import HTMLResponse

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>kgdash</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font:16px system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem">
<h1>{heading}</h1>{body}"""


def plain_page(heading: str, body: str, status: int = 200) -> HTMLResponse:
    """Build a page without scripts.

    :param heading: text, without marks of HTML
    :param body: HTML
    """
    page = _PAGE.format(heading=heading, body=body)
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store"})
