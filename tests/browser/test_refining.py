"""A large graph on the page Local reliability: sampled figures first, exact ones in their place."""

from urllib.parse import quote

import numpy as np
import pytest
import torch

from kgdash.formats.run_directory import read_run, write_run
from kgdash.graph import KnowledgeGraph
from kgdash.runs.bundled import DEMO
from kgdash.runs.loading import load
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import compare
from tests.browser.driver import expect_cards, go_to, open_page, settle
from tests.browser.test_local import cards

#: what the strip says may be gone before a look from outside
_KEEP_TEXTS = """
    window.refiningTexts = [];
    new MutationObserver(() => {
        const text = document.querySelector(".st-key-refining")?.textContent;
        if (text && text !== window.refiningTexts.at(-1)) window.refiningTexts.push(text);
    }).observe(document, {childList: true, subtree: true, characterData: true});
"""

ENTITIES, RELATIONS = 15_000, 200

#: exact ReliK of so many entities takes seconds; of so many, longer than a person is patient
SOME, MANY = 250, 1000


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


def test_sampled_then_exact_without_doing_anything(address, tab, large):
    run, folder = large
    part = run.subgraph("e0", size=SOME)
    sampled, exact = compare(run, part, method="sampled"), compare(run, part)
    assert cards(sampled) != cards(exact)
    # A cold browser is busy with its first chart for longer than the exact figures take.
    open_page(tab, f"{address}/local?size=12")
    tab.locator(".st-key-drawing .main-svg").first.wait_for()
    tab.add_init_script(_KEEP_TEXTS)
    tab.goto(page(address, folder, SOME))
    expect_cards(tab, cards(exact))
    tab.locator(".st-key-refining").wait_for(state="detached")
    ends = [number(sampled.means[end].value) for end in ("relik_low", "relik_high")]
    interval = f"mean ReliK between {ends[0]} and {ends[1]} (95 %)"
    texts = tab.evaluate("() => window.refiningTexts")
    assert any(interval in text and "Refining to exact" in text for text in texts), texts
    tab.reload()
    expect_cards(tab, cards(exact))


def test_stop_keeps_the_sampled_figures_and_refine_starts_again(address, tab, large):
    run, folder = large
    sampled = compare(run, run.subgraph("e0", size=MANY), method="sampled")
    tab.goto(page(address, folder, MANY))
    tab.locator(".st-key-refining").get_by_role("button", name="Stop").click()
    again = tab.get_by_role("button", name="Refine to exact")
    again.wait_for()
    expect_cards(tab, cards(sampled))
    assert tab.get_by_role("button", name="Stop").count() == 0
    again.click()
    tab.locator(".st-key-refining").get_by_text("Refining to exact").wait_for()
    expect_cards(tab, cards(sampled))
    # Leaving ends it; nothing of the job may follow to another page.
    go_to(tab, "Overview")
    tab.get_by_role("heading", name="DistMult on large").wait_for()
    settle(tab)
    assert tab.locator(".st-key-refining").count() == 0
    open_page(tab, f"{address}/local?size=12")
    assert tab.locator(".st-key-refining").count() == 0
