"""Saving charts and tables from pages, and opening the saved files without any network."""

import time

import pandas as pd
import pytest

import kgdash
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.content import report_content
from kgdash.reports.html import report_html, write_report
from tests.browser.driver import open_page, save, settle, widget


@pytest.fixture
def offline(browser):
    """Open files in a tab of a browser that reaches no network; nothing may ask for any."""
    context = browser.browser.new_context(offline=True, color_scheme="dark")
    asked, faults = [], []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))

    def open_file(path):
        page.goto(path.as_uri())
        return page

    yield open_file
    leaving = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    context.close()
    assert not leaving
    assert not faults


def menu(tab, key):
    widget(tab, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    widget(tab, f"save_{key}").get_by_role("button").click()


def test_a_chart_and_a_table_are_saved(address, tab, run, tmp_path, offline):
    open_page(tab, f"{address}/metrics")
    settle(tab)
    menu(tab, "bars")
    paths = {
        kind: save(tab, widget(tab, f"save_bars_{kind}").get_by_role("button"), tmp_path)
        for kind in ("html", "svg")
    }
    assert [p.name for p in paths.values()] == [
        f"umls-transe-test-inverse_harmonic_mean_rank.{kind}" for kind in paths
    ]
    page = offline(paths["html"])
    page.locator(".main-svg").first.wait_for()
    drawn = page.evaluate("() => document.querySelector('.js-plotly-plot')._fullData[0].y")
    values = kgdash.metrics(run.ranks())
    assert list(drawn.values() if isinstance(drawn, dict) else drawn) == [
        values.value("mrr", side) for side in values.sides
    ]
    assert "Mean reciprocal rank (MRR)" in paths["svg"].read_text(encoding="utf-8")

    path = save(tab, tab.get_by_role("button", name="Download Parquet"), tmp_path)
    assert path.name == "umls-transe-test-metrics.parquet"
    table = pd.read_parquet(path).set_index("key")
    expected = kgdash.metrics(run.ranks()).values("tail", "realistic")
    assert table["tail · realistic"].to_dict() == expected


_SHOWN = """() => [...document.querySelectorAll("[data-chart]")].map(chart => [
    chart.dataset.chart,
    chart.querySelectorAll(".main-svg").length > 0 && chart._fullData.length > 0,
    chart._fullLayout.font.color,
])"""

_WIDEST = """() => Math.max(...[...document.querySelectorAll(".main-svg")].map(
    drawing => drawing.getBoundingClientRect().width))"""

_SCORES = """() => [...document.querySelectorAll("#groups ~ section table")[0].tBodies[0].rows].map(
    row => Number(row.cells[2].dataset.value))"""


def wait_until(page, script, argument=None):
    """Ask again and again from outside: the report lets no script ask by itself (`eval`)."""
    end = time.monotonic() + 60
    while not page.evaluate(script, argument):
        assert time.monotonic() < end, script
        page.wait_for_timeout(100)


def test_a_report_draws_sorts_and_fits_a_phone_without_any_network(run, tmp_path, offline):
    content = report_content(run)
    write_report(content, tmp_path / "report.html")
    page = offline(tmp_path / "report.html")
    page.set_viewport_size({"width": 390, "height": 844})
    for scheme in ("dark", "light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ink = {"light": "#1b1f24", "dark": "#e6e9ed"}[scheme]
        wait_until(
            page,
            "ink => [...document.querySelectorAll('[data-chart]')].every("
            "chart => chart._fullLayout?.font.color === ink)",
            ink,
        )
    shown = page.evaluate(_SHOWN)
    drawn_of_trust = [part.name for section in content.trust for part in section.shown if part.name]
    assert [name for name, _, _ in shown] == [
        *drawn_of_trust,
        *("losses", "metrics", "ranks"),
        *(name for name in content.charts if name.startswith("breakdown")),
    ]
    assert all(drawn for _, drawn, _ in shown)
    # Charts follow a change of the window's width a moment later.
    wait_until(page, "document.documentElement.scrollWidth <= 390")
    drawn = page.evaluate("document.querySelector('[data-chart=losses]')._fullData[0].y")
    assert list(drawn.values() if isinstance(drawn, dict) else drawn) == run.training["losses"]

    assert page.evaluate(_SCORES) == content.groupings[0].best["both"].tolist()
    heading = page.locator("#groups ~ section table").first.get_by_role("button", name="both")
    heading.click()
    assert page.evaluate(_SCORES) == sorted(content.groupings[0].best["both"])
    heading.click()
    assert page.evaluate(_SCORES) == sorted(content.groupings[0].best["both"], reverse=True)

    page.set_viewport_size({"width": 1440, "height": 900})
    wait_until(page, "document.querySelector('[data-chart=ranks] .main-svg').clientWidth > 900")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert 600 < page.evaluate(_WIDEST) < 700
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.set_viewport_size({"width": 794, "height": 1123})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    inks = page.evaluate(_SHOWN)
    assert {colour for _, _, colour in inks} == {"#1b1f24"}
    wait_until(page, "document.documentElement.scrollWidth <= 794")


def test_a_report_is_made_and_saved(address, tab, run, tmp_path):
    open_page(tab, address)
    tab.get_by_role("button", name="Make a report").click()
    button = tab.get_by_role("button", name="Download the report")
    button.wait_for()
    settle(tab)
    path = save(tab, button, tmp_path)
    assert path.name == "umls-transe-test-report.html"
    assert path.read_text(encoding="utf-8") == report_html(report_content(run, RankSetting("test")))
