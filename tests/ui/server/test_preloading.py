"""The script of charts is named to the browser with the page."""

import pytest
from starlette.datastructures import Headers

from kgdash.ui.server.preloading import Preloading, chart_scripts
from tests.support.own_loop import run_apart


@pytest.fixture
def static(tmp_path):
    scripts = tmp_path / "static" / "js"
    scripts.mkdir(parents=True)
    (tmp_path / "index.html").write_text('<script src="./static/js/index.a1.js"></script>')
    (scripts / "PlotlyChart.b2.js").write_text(
        'import{a as b}from"./index.a1.js";import"./frame.c3.js";import("./later.d4.js")'
    )
    return tmp_path


def headers(static, kind: bytes, **more: bytes) -> Headers:
    """Return the headers of an answer of a kind."""
    sent = []

    async def page(scope, receive, send):
        start = {"type": "http.response.start", "status": 200}
        others = [(name.encode().replace(b"_", b"-"), value) for name, value in more.items()]
        await send({**start, "headers": [(b"content-type", kind), *others]})
        await send({"type": "http.response.body", "body": b""})

    async def keep(message):
        sent.append(message)

    run_apart(Preloading(page, static)({"type": "http"}, None, keep))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return Headers(raw=sent[0]["headers"])


def test_streamlit_has_such_a_script():
    (chart,) = [path for path in chart_scripts() if path.startswith("./static/js/PlotlyChart.")]
    assert chart == chart_scripts()[0]


def test_only_what_the_page_does_not_name(static):
    assert chart_scripts(static) == ["./static/js/PlotlyChart.b2.js", "./static/js/frame.c3.js"]


def test_pages_alone_name_it(static):
    assert headers(static, b"text/html; charset=utf-8")["link"] == (
        "<./static/js/PlotlyChart.b2.js>; rel=modulepreload, "
        "<./static/js/frame.c3.js>; rel=modulepreload"
    )
    assert "link" not in headers(static, b"application/json")
    saved = headers(static, b"text/html", content_disposition=b'attachment; filename="report.html"')
    assert "link" not in saved


def test_without_streamlits_files(static, tmp_path):
    (static / "index.html").unlink()
    assert chart_scripts(static) == []
    assert "link" not in headers(tmp_path / "none", b"text/html")
