"""A large graph on the page Local reliability: what is counted so far, then exact values."""

from urllib.parse import quote

import numpy as np
import pytest
import torch

from kgdash.formats.run_directory import read_run, write_run
from kgdash.graph import KnowledgeGraph
from kgdash.runs.bundled import DEMO
from kgdash.runs.loading import load
from kgdash.studies.reliability.local_comparison import compare
from tests.browser.driver import expect_cards, open_page, settle
from tests.browser.test_local import cards

#: what the strip says may be gone before a look from outside
_KEEP_TEXTS = """
    window.refiningTexts = [];
    new MutationObserver(() => {
        const text = document.querySelector(".st-key-refining")?.textContent;
        if (text && text !== window.refiningTexts.at(-1)) window.refiningTexts.push(text);
    }).observe(document, {childList: true, subtree: true, characterData: true});
"""

ENTITIES, RELATIONS = 15_000, 500

#: exact ReliK of so many entities takes seconds; of so many, longer than a person is patient
SOME, MANY = 400, 1000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write a run with random weights on a graph as large as benchmarks are, and load it."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, n, 60_000) for n in (ENTITIES, RELATIONS, ENTITIES)]
    rows = np.unique(np.stack(columns, axis=1), axis=0)
    rows = rows[rng.permutation(len(rows))]
    parts = dict(zip(("valid", "test", "train"), np.split(rows, [2_000, 12_000]), strict=True))
    entities = tuple(f"e{i}" for i in range(ENTITIES))
    relations = tuple(f"r{i}" for i in range(RELATIONS))
    graph = KnowledgeGraph(
        name="large",
        entities=entities,
        relations=relations,
        splits={name: np.unique(part, axis=0) for name, part in parts.items()},
        entity_labels=entities,
        relation_labels=relations,
    )
    small, spec, state, _ = read_run(DEMO / "umls-distmult")
    rows_of = {small.num_entities: ENTITIES, small.num_relations: RELATIONS}
    generator = torch.Generator().manual_seed(0)
    state = {
        key: torch.randn((rows_of[tensor.shape[0]], *tensor.shape[1:]), generator=generator)
        for key, tensor in state.items()
    }
    folder = write_run(tmp_path_factory.mktemp("large") / "run", graph, spec, state, {}, {})
    return load(folder), folder


def page(address, folder, size) -> str:
    other = quote("A folder on this machine …")
    return f"{address}/local?run={other}&folder={quote(str(folder))}&entity=e0&size={size}"


def test_an_estimate_then_exact_without_doing_anything(address, tab, large):
    run, folder = large
    exact = compare(run, run.subgraph("e0", size=SOME))
    # A cold browser is busy with its first chart for longer than the exact figures take.
    open_page(tab, f"{address}/local?size=12")
    tab.locator(".st-key-scatter .main-svg").first.wait_for()
    tab.add_init_script(_KEEP_TEXTS)
    tab.goto(page(address, folder, SOME))
    expect_cards(tab, cards(exact))
    tab.locator(".st-key-refining").wait_for(state="detached")
    texts = tab.evaluate("() => window.refiningTexts")
    assert any("Counting" in text for text in texts), texts
    tab.reload()
    expect_cards(tab, cards(exact))


def test_stop_keeps_what_is_counted_and_it_goes_on_there(address, tab, large):
    _, folder = large
    tab.goto(page(address, folder, MANY))
    strip = tab.locator(".st-key-refining")
    strip.get_by_text("Mean ReliK about").wait_for()
    strip.get_by_role("button", name="Stop").click()
    again = tab.get_by_role("button", name="Go on")
    again.wait_for()
    strip.get_by_text("Stopped before all was counted").wait_for()
    tab.locator(".st-key-drawing .stage").first.wait_for()
    assert strip.get_by_role("button", name="Stop").count() == 0
    again.click()
    strip.get_by_text("Counting").wait_for()
    # Leaving ends it; nothing of the job may follow to another page.
    tab.goto(f"{address}/metrics?size=12")
    settle(tab)
    assert strip.count() == 0
    open_page(tab, f"{address}/local?size=12")
    assert strip.count() == 0
