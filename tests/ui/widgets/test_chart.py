"""What pages offer for saving: under charts, under tables, the report and the LaTeX table."""

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.widgets.file_name import file_name


def chart_page(can_draw):
    import plotly.graph_objects as go

    from kgdash.charts.message import with_message
    from kgdash.ui.widgets import chart as figures

    figures.find_browser = (lambda: "/usr/bin/chromium") if can_draw else (lambda: None)
    drawn = with_message(go.Figure(go.Bar(y=[1, 2])), "1 < 2")
    figures.show_chart(drawn, "bars", "umls-/m/0a b-mrr")


def table_page():
    import pandas as pd

    from kgdash.ui.widgets.table import download

    download(pd.DataFrame({"a": [1]}), "umls-part of")


def report_page():
    import kgdash
    from kgdash.ui.metrics.report_button import offer_report

    offer_report(kgdash.load("umls-transe"))


def latex_page():
    import kgdash
    from kgdash.ranking.main_table import evaluated_text
    from kgdash.ui.metrics.latex_button import offer_latex

    run = kgdash.load("umls-transe")
    evaluated = evaluated_text("umls", "test", "train+valid+test", 661, 135)
    offer_latex({run.name: kgdash.metrics(run.ranks())}, evaluated, "umls-transe-test")


def opened(page, **kwargs) -> AppTest:
    app = AppTest.from_function(page, default_timeout=60, kwargs=kwargs).run()
    assert not app.exception
    return app


def offered(app) -> dict[str, bool]:
    """Return label -> enabled of the download buttons."""
    return {b.proto.label: not b.proto.disabled for b in app.get("download_button")}


@pytest.mark.parametrize("can_draw", [True, False])
def test_under_a_chart(can_draw, monkeypatch):
    from kgdash.ui.widgets import chart as figures

    monkeypatch.setattr(figures, "find_browser", figures.find_browser)
    app = opened(chart_page, can_draw=can_draw)
    assert app.get("plotly_chart")
    assert offered(app) == {"HTML, works offline": True, "SVG": can_draw, "PNG": can_draw}
    assert bool(app.caption) is not can_draw
    assert [text.proto.body for text in app.get("html")] == [
        '<p class="chart-message">1 &lt; 2</p>'
    ]


def test_under_a_table():
    assert offered(opened(table_page)) == {"Download CSV": True, "Download Parquet": True}


def test_the_report_is_made_when_asked_for():
    memory.clear()
    app = opened(report_page)
    assert not offered(app)
    app.button[0].click().run()
    assert not app.exception
    assert list(offered(app)) == ["Download the report (0.8 MB)"]
    assert not app.button
    app.run()
    assert offered(app), "it stays"


def test_latex():
    app = opened(latex_page)
    assert offered(app) == {"Download .tex": True}
    assert "\\caption{Link prediction by umls-transe on umls, test split" in app.code[0].value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("umls-transe-test-metrics", "umls-transe-test-metrics.csv"),
        ("umls-/m/0a_b c", "umls--m-0a_b-c.csv"),
        ("../../etc/passwd", "etc-passwd.csv"),
        ('a"b<c>:|?*\n', "a-b-c.csv"),
        ("Zoë", "Zoë.csv"),
        ("...", "kgdash.csv"),
        ("x" * 500, "x" * 120 + ".csv"),
    ],
)
def test_names_of_files(name, expected):
    assert file_name(name, ".csv") == expected
