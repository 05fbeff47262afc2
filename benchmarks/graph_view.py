"""How many frames a second the graph view draws while one zooms and pans.

    python benchmarks/graph_view.py [--entities N] [--facts M]      (default: 500 and 2,000)

In a headless Chromium without a graphics card, the slowest there is; the figure is of the component
itself, outside Streamlit, fed through real wheel and mouse events.
"""

import argparse
import json
import shutil

import measure
import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from kgdash.charts.graph_drawing import GraphDrawing
from kgdash.charts.graph_layout import layout, pairs_of
from kgdash.charts.relik_scale import relik_scale
from kgdash.ui.graph_view.component import FOLDER, scripts

_COUNT = """() => { window.gaps = []; let last = performance.now();
    const tick = now => { window.gaps.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick); }"""


def drawing(entities: int, facts: int) -> GraphDrawing:
    """Make a random graph whose degrees are as uneven as those of knowledge graphs."""
    rng = np.random.default_rng(0)
    ends = (entities * rng.random((facts, 2)) ** 2).astype(int)
    triples = pd.DataFrame({"head": ends[:, 0], "relation": rng.integers(12, size=facts)})
    triples = triples.assign(tail=ends[:, 1], relik=10 ** rng.uniform(-5, 0, facts))
    ids = np.arange(entities)
    names = [f"entity number {number}" for number in ids]
    relations = [f"relation {number}" for number in range(12)]
    scale, placed = relik_scale(triples["relik"]), layout(ids, pairs_of(triples))
    return GraphDrawing(ids, triples, names, relations, placed, scale, 0)


def frames(page: Page, act: str) -> tuple[float, float]:
    """Return frames a second while the mouse acts, and the 95th percentile of the gaps (ms)."""
    page.evaluate(_COUNT)
    page.mouse.move(450, 350)
    if act == "pan":
        page.mouse.down()
    for step in range(120):
        if act == "zoom":
            page.mouse.wheel(0, -60 if step % 40 < 20 else 60)
        else:
            page.mouse.move(450 + 150 * np.sin(step / 9), 350 + 100 * np.cos(step / 9))
    page.mouse.up()
    gaps = np.array(page.evaluate("() => window.gaps"))
    return 1000 * len(gaps) / gaps.sum(), float(np.percentile(gaps, 95))


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", type=int, default=500)
    parser.add_argument("--facts", type=int, default=2000)
    chosen = parser.parse_args()
    data = drawing(chosen.entities, chosen.facts).payload() | {"facts": "all", "view": "graph"}
    html, css = ((FOLDER / f"view.{kind}").read_text() for kind in ("html", "css"))
    show = f"window.show = root => start({{parentElement: root, data: {json.dumps(data)}}});"
    script = scripts().replace("export default function", "function start") + show
    print(measure.machine())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 900, "height": 800})
        page.set_content(f"<style>{css}</style><main>{html}</main>")
        page.add_script_tag(content=script, type="module")
        page.evaluate("""() => { const root = document.querySelector("main");
            Object.defineProperty(root, "activeElement", {get: () => document.activeElement});
            window.show(root); }""")
        page.locator(".stage").focus()
        page.wait_for_selector(".stage[data-drawn^=graph]")
        for act in ("zoom", "pan"):
            rate, gap = frames(page, act)
            print(f"{act}: {rate:.0f} frames a second, 95% within {gap:.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
