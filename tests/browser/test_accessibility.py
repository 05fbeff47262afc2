"""axe finds nothing serious on any page, in light and in dark."""

import time
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from kgdash.ui.runtime.navigation import MENU
from tests.browser.driver import open_page, settle

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")

#: as users find them serious: of axe's impacts those that keep people from reading or operating
IMPACTS = {"moderate", "serious", "critical"}

#: choices that make a page quick; all pages are visited
QUICK = {
    "study": "?subgraphs=10&study_size=15",
    "expected_performance": "?subgraphs=24&here_size=12",
    "reliability": "?permutations=19",
    "which_model": "?regions=relations",
}

#: how many charts have no text that says what they show
UNSAID = """() => [...document.querySelectorAll(".js-plotly-plot")].filter(chart => {
    const block = chart.closest("[data-testid=stVerticalBlock]");
    return !block.querySelector(".chart-message")?.textContent;
}).length"""

#: selectors of all that is in order are not asked for, which would take most of the time
AXE_RUN = 'rules => axe.run({...rules, resultTypes: ["violations"]})'

#: scheme -> rules that axe runs: a dark page differs from a light one in its colours alone
SCHEMES = {"light": {}, "dark": {"runOnly": ["color-contrast", "link-in-text-block"]}}

#: seconds; while a page runs once more, what it showed is faded
FADING = 20


@pytest.mark.parametrize(
    "page", [*(page for pages in MENU.values() for page in pages), "runs", "cache"]
)
def test_nothing_serious(address, tab, page):
    open_page(tab, f"{address}/{page.removeprefix('overview')}{QUICK.get(page, '')}")
    assert not tab.evaluate(UNSAID)
    tab.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    for scheme, rules in SCHEMES.items():
        tab.emulate_media(color_scheme=scheme)
        end = time.monotonic() + FADING
        while (told := findings(tab, rules)) and time.monotonic() < end:
            pass
        assert not told, (scheme, told)


def findings(tab: Page, rules: dict) -> list[tuple[str, ...]]:
    """Return which of axe's rules are broken, where, and why."""
    settle(tab)
    return [
        (rule["id"], node["html"][:200], node["failureSummary"][:200])
        for rule in tab.evaluate(AXE_RUN, rules)["violations"]
        if rule["impact"] in IMPACTS
        for node in rule["nodes"]
    ]
