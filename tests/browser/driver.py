"""Using a page the way a person does, and reading what it shows."""

from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, Page, TimeoutError

Cards = list[tuple[str, str]]

#: a script that returns what the metric cards show: label without arrow, value
CARDS = """() => [...document.querySelectorAll("[data-testid=stMain] [data-testid=stMetric]")]
    .map(card => ["stMetricLabel", "stMetricValue"].map(part =>
        card.querySelector(`[data-testid=${part}]`).innerText.replace(/[↑↓]/g, "").trim()))"""

# An app is idle for a moment between two runs of a script, and before it has loaded what draws
# its elements.
_IDLE = """() => {
    const idle = document.querySelector("[data-testid=stApp]")
        ?.getAttribute("data-test-script-state") === "notRunning"
        && !document.querySelector("[data-testid=stSkeleton]");
    window.idleSince = idle ? window.idleSince ?? performance.now() : null;
    return idle && performance.now() - window.idleSince > 150;
}"""

_STILL = """() => Promise.all(document.getAnimations()
    .filter(each => each.effect.getComputedTiming().iterations !== Infinity)
    .map(each => each.finished.catch(() => null)))"""

# A table tells screen readers what it shows a fifth of a second after it shows it.
_CELLS = """grid => new Promise(done => {
    const rows = () => done([...grid.querySelectorAll("tbody tr")].map(row =>
        [...row.querySelectorAll("td")].map(cell => cell.textContent)));
    let calm = setTimeout(rows, 400);
    new MutationObserver(() => { clearTimeout(calm); calm = setTimeout(rows, 400); })
        .observe(grid, {subtree: true, childList: true, characterData: true});
})"""

_POINTS = """([key, name]) => {
    const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    const box = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    return chart.calcdata.flatMap(points => points[0].trace.name !== name ? [] : points.map(
        (point, i) => ({
            x: box.left + xaxis._offset + xaxis.c2p(point.x),
            y: box.top + yaxis._offset + yaxis.c2p(point.y),
            data: points[0].trace.customdata[i],
        })));
}"""


def open_page(tab: Page, url: str) -> None:
    """Open an address and wait until the page has its title and is done."""
    tab.goto(url)
    tab.wait_for_selector("h1")
    settle(tab)


def settle(tab: Page) -> None:
    """Wait until the script has run to its end."""
    tab.evaluate("window.idleSince = null")
    tab.wait_for_function(_IDLE, polling=50)


def expect_cards(tab: Page, expected: Cards) -> None:
    """Wait until the page shows exactly these cards (label without arrow, value)."""
    wanted = [list(card) for card in expected]
    try:
        tab.wait_for_function(
            f"wanted => JSON.stringify(({CARDS})()) === JSON.stringify(wanted)",
            arg=wanted,
            polling=100,
        )
    except TimeoutError:
        assert tab.evaluate(CARDS) == wanted
        raise
    settle(tab)


def go_to(tab: Page, menu: str, page: str = "") -> None:
    """Choose a page in the menu on top, as the mouse does."""
    entries = tab.get_by_test_id("stTopNav")
    if page:
        entries.get_by_role("button", name=menu, exact=True).click()
        tab.get_by_test_id("stTopNavPopover").get_by_text(page, exact=True).click()
    else:
        entries.get_by_role("link", name=menu, exact=True).click()


def widget(tab: Page, key: str) -> Locator:
    """Return the container of the widget with a key; what is folded is unfolded."""
    found = tab.locator(f".st-key-{key}")
    found.first.wait_for(state="attached")
    folded = tab.locator("details:not([open])").filter(has=found)
    if folded.count():
        folded.first.locator("summary").click()
        # A list that opens while things still move closes again.
        tab.evaluate(_STILL)
    return found


def select(tab: Page, key: str, text: str) -> None:
    """Type a choice into a selectbox and take it."""
    box = widget(tab, key).get_by_role("combobox")
    box.click()
    box.fill(text)
    tab.get_by_role("option", name=text, exact=True).click()


def enter(tab: Page, key: str, value: object) -> None:
    """Type a value into a number or text field."""
    field = widget(tab, key).locator("input")
    field.fill(str(value))
    field.press("Enter")


def press(tab: Page, key: str, text: str) -> None:
    """Press one of the buttons of a segmented control or of pills."""
    buttons = widget(tab, key).locator("button[data-variant]")
    buttons.filter(has_text=text).first.click()


def drawn_points(tab: Page, key: str, name: str) -> list[dict]:
    """Return the points of a trace: where they are on the screen, and their data."""
    chart = widget(tab, key).locator(".js-plotly-plot")
    chart.wait_for()
    chart.scroll_into_view_if_needed()
    return tab.evaluate(_POINTS, [key, name])


def click_point(tab: Page, point: dict) -> None:
    """Click a point of a chart, as its label shows under the mouse."""
    tab.mouse.move(point["x"] - 3, point["y"] - 3)
    tab.mouse.move(point["x"], point["y"], steps=3)
    tab.wait_for_selector(".hoverlayer .hovertext")
    tab.mouse.click(point["x"], point["y"])


def freest(points: list[dict], others: list[dict]) -> dict:
    """Return the point that is farthest from its nearest neighbour."""
    return max(
        points,
        key=lambda p: min(
            (p["x"] - o["x"]) ** 2 + (p["y"] - o["y"]) ** 2 for o in others if o is not p
        ),
    )


def table_texts(tab: Page, number: int = -1) -> list[list[str]]:
    """Return the cells that a table on the page shows, row by row, as a screen reader gets them."""
    grid = tab.locator("[data-testid=stDataFrame]").nth(number)
    grid.scroll_into_view_if_needed()
    grid.locator("td").first.wait_for(state="attached")
    return grid.evaluate(_CELLS)


def save(tab: Page, button: Locator, folder: Path) -> Path:
    """Press a button that offers a file, and keep the file under the name that it offers."""
    with tab.expect_download() as started:
        button.click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def download(tab: Page, folder: Path) -> pd.DataFrame:
    """Press the last button on the page that offers a table as CSV, and read the file."""
    return pd.read_csv(save(tab, tab.get_by_role("button", name="Download CSV").last, folder))
