"""The page Local reliability shows what `compare` computes."""

import re
import threading
from dataclasses import replace

import numpy as np
import pytest

import kgdash
from kgdash.runs.bundled import FOLDER_CHOICE
from kgdash.statistics.estimate import number
from kgdash.studies.reliability import local_comparison
from kgdash.studies.reliability.local_comparison import Mean, compare
from kgdash.ui.runtime.computed import _STOPPED
from kgdash.ui.subgraphs.form import SubgraphChoice
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table
from tests.support.tiny_runs import DEMO, altered_run, read_run, write_run

CARDS = {
    "relik": "Mean ReliK",
    "tail_mrr": "Tail MRR",
    "head_mrr": "Head MRR",
    "both_mrr": "Both MRR",
    "relation_mrr": "Relation MRR",
}


def counts(app) -> dict[str, int]:
    """Return the n below each card."""
    return {
        card.label.rstrip(" ↑"): int(re.search(r"n = ([\d,]+)", card.delta)[1].replace(",", ""))
        for card in app.main.metric
    }


def assert_shows(app, comparison) -> None:
    figures = comparison.means
    assert cards(app) == {label: number(figures[name][0]) for name, label in CARDS.items()}
    assert counts(app) == {label: figures[name][1] for name, label in CARDS.items()}


def first_entity(run) -> str:
    return run.graph.entities[int(run.graph.degrees.argmax())]


def test_cards_at_first_are_of_the_entity_with_most_triples(run):
    app = open_page("local")
    subgraph = run.subgraph(first_entity(run), size=60)
    comparison = compare(run, subgraph)
    assert_shows(app, comparison)
    inside = table(app, "relation", "relik", "tail_rank")
    expected = run.graph.with_names(comparison.triples).sort_values("relik")
    assert inside[["head", "relation", "tail"]].to_numpy().tolist() == (
        expected[["head", "relation", "tail"]].to_numpy().tolist()
    )
    for column in ("relik", "head_rank", "tail_rank", "relation_rank", "reciprocal_rank"):
        np.testing.assert_array_equal(inside[column], expected[column])


def test_widgets_change_the_numbers(run):
    app, chosen, seen = open_page("local"), {"entity": first_entity(run)}, []
    for widgets in (
        {"size": 20},
        {"direction": "outgoing"},
        {"restart": 0.75, "seed": 7},
        {"entity": "virus"},
        {"method": "Neighbourhood", "hops": 2, "direction": "incoming"},
    ):
        seen.append(cards(app))
        choose(app, **widgets)
        chosen |= widgets
        method = chosen.get("method", "rwr").lower()
        assert_shows(app, compare(run, run.subgraph(**{**chosen, "method": method})))
        assert cards(app) not in seen


def test_the_address_chooses_too(run):
    app = open_page("local", entity="bacterium", size="25", seed="3", evaluated="all triples")
    assert_shows(app, compare(run, run.subgraph("bacterium", size=25, seed=3), "all"))


def test_an_entity_that_is_not_there_is_said_to_be(run):
    app = open_page("local", entity="no_such")
    first = first_entity(run)
    said = f"No entity “no_such” in this graph; showing {first}."
    assert messages(app) == [said]
    assert_shows(app, compare(run, run.subgraph(first)))


def test_on_a_graph_with_labels_addresses_name_entities_by_either(tmp_path):
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    graph = replace(graph, entity_labels=tuple(f"The {name}" for name in graph.entities))
    out = write_run(tmp_path / "run", graph, spec, state, manifest["training"], {})
    url = {"run": FOLDER_CHOICE, "folder": str(out), "size": "8"}
    loaded = kgdash.load(str(out))
    for text in ("bacterium", "The bacterium", "The bacterium (bacterium)"):
        app = open_page("local", entity=text, **url)
        assert not messages(app)
        assert_shows(app, compare(loaded, loaded.subgraph("bacterium", size=8)))
    app = open_page("local", entity="bacteri", **url)
    assert_shows(app, compare(loaded, loaded.subgraph("bacterium", size=8)))


@pytest.mark.parametrize("size", ["0", "many"])
def test_nonsense_in_the_address_is_dropped(run, size):
    app = open_page("local", size=size, restart="1.5")
    assert_shows(app, compare(run, run.subgraph(first_entity(run))))


def test_sampled_relik_shows_its_interval_and_names_its_middle(run):
    app = open_page("local", size="20")
    comparison = compare(run, run.subgraph(first_entity(run), size=20), method="sampled")
    low, middle, high = (
        number(comparison.means[key].value) for key in ("relik_low", "relik", "relik_high")
    )
    assert " – " not in cards(app)["Mean ReliK"]
    choose(app, relik_method="sampled, with interval")
    assert cards(app)["Mean ReliK"] == f"{low} – {high}"
    (card,) = [each for each in app.main.metric if each.label.startswith("Mean ReliK")]
    assert f"geometric middle {middle}" in card.delta
    assert counts(app)["Mean ReliK"] == len(comparison.triples)
    assert any("where in it is not known" in text for text in messages(app))


def test_while_relik_is_counted_its_mean_is_an_estimate_and_single_ones_are_blank(run, monkeypatch):
    part = run.subgraph(first_entity(run), size=60)
    last = compare(run, part)
    some = last.triples.assign(relik=last.triples["relik"].where(last.triples.index % 3 > 0))
    ends = {"relik": Mean(0.02, 9), "relik_low": Mean(0.01, 9), "relik_high": Mean(0.04, 9)}
    step = replace(last, method="growing", triples=some, means=last.means | ends, share=0.4)
    go = threading.Event()

    def steps(*_, progress, **__):
        yield step
        while not go.wait(0.01):
            progress(1, 2)
        yield last

    monkeypatch.setattr("kgdash.studies.reliability.local_comparison.compare_steps", steps)
    monkeypatch.setattr("kgdash.ui.runtime.refined._PATIENCE", 0.0)
    app = open_page("local", restart="0.35", size="60")
    assert cards(app)["Mean ReliK"] == "–"
    assert cards(app)["Tail MRR"] == number(last.means["tail_mrr"].value)
    (bar,) = app.main.get("progress")
    assert bar.proto.text.startswith("Mean ReliK about 0.0200 (95%: 0.0100 to 0.0400). Counting")
    assert table(app, "relation", "relik", "tail_rank")["relik"].isna().any()
    go.set()
    assert app.session_state["refining_job"].job.wait(60)
    app.run()
    assert cards(app)["Mean ReliK"] == number(last.means["relik"].value)


def lonely_entity(run) -> str:
    """Return an entity without a triple from itself to itself."""
    heads, _, tails = run.graph.all_triples.T
    return run.graph.entities[min(set(range(run.graph.num_entities)) - set(heads[heads == tails]))]


def test_subgraph_without_triples_says_so(run):
    app = choose(open_page("local", entity=lonely_entity(run)), size=1)
    assert set(cards(app).values()) == {"–"}
    assert set(counts(app).values()) == {0}
    assert len(messages(app)) == 1
    assert not app.get("plotly_chart")


def test_more_triples_than_a_page_shows_are_refused(monkeypatch):
    monkeypatch.setattr(local_comparison, "_MOST", 50)
    app = open_page("local", size="57", seed="41")
    (told,) = [error.value for error in app.error]
    assert "these 57 entities have" in told
    assert "a page shows 50 at most: take fewer entities" in told
    assert not app.exception


def test_subgraph_without_test_triples_says_so_and_still_shows_relik(run):
    tested = run.graph.known(("test",))
    entity, seed = next(
        (entity, seed)
        for entity in run.graph.entities
        for seed in range(3)
        for inside in [run.subgraph(entity, size=2, seed=seed).triples()]
        if len(inside) and not tested.contains(inside).any()
    )
    app = open_page("local", entity=entity, size="2", seed=str(seed))
    comparison = compare(run, run.subgraph(entity, size=2, seed=seed))
    assert_shows(app, comparison)
    assert cards(app)["Mean ReliK"] != "–"
    assert cards(app)["Both MRR"] == "–"
    assert len(messages(app)) == 1
    choose(app, evaluated="all triples")
    assert not messages(app)
    assert cards(app)["Both MRR"] != "–"


def test_size_beyond_the_component_says_how_many_were_reached(tmp_path, run):
    heads, _, tails = run.graph.splits["train"].T
    inside = (heads < 10) & (tails < 10)
    nothing = np.empty((0, 3), dtype=np.int64)
    train = run.graph.splits["train"][inside]
    folder = altered_run(
        tmp_path / "small", splits={"train": train, "valid": nothing, "test": nothing}
    )
    loaded = kgdash.load(folder)
    app = choose(choose_folder(open_page("local"), folder), entity=first_entity(loaded))
    part = loaded.subgraph(first_entity(loaded))
    assert len(part.entities) < 60
    assert part.note.startswith(f"reached {len(part.entities)} of 60")
    assert [c.value for c in app.caption if part.note in c.value]
    assert_shows(app, compare(loaded, part))


@pytest.mark.own_cache
@pytest.mark.parametrize("step", ["subgraph", "comparison", "layout"])
def test_stopped_step_says_so_and_starts_again(run, step):
    arguments = {
        "entity": first_entity(run),
        "method": "rwr",
        "size": 60,
        "direction": "either",
        "restart": 0.2,
        "seed": 0,
    }
    choice = SubgraphChoice(tuple(arguments.items()), "test", "exact")
    app = open_page("overview")
    app.session_state[_STOPPED] = ((run.digest, run.shown_digest), choice, step)
    app.switch_page("pages/local.py").run()
    assert not app.exception
    assert "stopped" in app.main.info[0].value
    app.main.button[0].click()
    app.run()
    assert not app.exception
    assert not messages(app)
    assert_shows(app, compare(run, run.subgraph(first_entity(run))))


def test_a_smaller_graph_takes_its_own_defaults(pykeen_directory):
    app = open_page("local", entity="virus", size="100")
    choose_folder(app, pykeen_directory, "nations")
    loaded = kgdash.load(pykeen_directory, "nations")
    assert not app.error
    size = app.get_by_key("size").value
    assert size <= loaded.graph.num_entities
    assert "No entity “virus”" in messages(app)[0]
    assert_shows(app, compare(loaded, loaded.subgraph(first_entity(loaded), size=size)))
