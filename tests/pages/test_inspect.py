"""The page Inspect shows what the library says of a triple, and goes through the list it is of."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.runs import preparation
from kgdash.runs.loading import load
from kgdash.statistics.estimate import number
from kgdash.studies.explanations.verdict import carried_text, doubts
from kgdash.studies.inspection import inspection
from kgdash.studies.inspection.ends import facts_of_entity, facts_with_relik
from kgdash.studies.inspection.inspected_triple import InspectedTriple, find_triple
from kgdash.studies.inspection.inspection import inspect_triple, what_beats
from kgdash.studies.inspection.other_runs import runs_on_same_graph, same_triple
from kgdash.studies.inspection.verdict import count_text, verdict
from kgdash.studies.trust import basis
from kgdash.studies.trust.card import trust_card
from kgdash.studies.trust.competing import competing_names
from kgdash.ui.inspection import card, large_runs
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.inspect_link import _LIST, TripleList
from tests.pages.driver import cards, choose, messages, open_page, table
from tests.pages.driver import run as rerun
from tests.support.tiny_runs import altered_run

NAMES = {"head": "virus", "relation": "causes", "tail": "disease_or_syndrome"}


def of(run, **names):
    return inspect_triple(run, find_triple(run.graph, **(NAMES | names)))


def assert_shows(app, found):
    assert plain(verdict(found)) in [text.value for text in app.main.markdown]
    ranks = {side: each.rank(each.answer) for side, each in found.sides.items()}
    names = competing_names(found.run)
    card = trust_card(found, {name: load(name) for name in names})
    said = plain(card.line.partition(": ")[2])
    assert any(text.value.endswith(said) for text in app.main.markdown)
    trust = {figure.name: figure.text for figure in card.figures}
    assert cards(app) == {
        "Answer set": trust["answer_set"],
        "Probability": trust["probability"],
        "Agreement": trust["agreement"],
        "Strongest reason": trust["reason"],
        "Score": number(found.score),
        **{
            f"{side.capitalize()} rank": f"{ranks[side].realistic:,g}"
            for side in ("tail", "head", "relation")
        },
        "ReliK": number(found.relik.value),
    }


def shown_triple(app):
    return {part: app.get_by_key(f"inspected_{part}").value for part in NAMES}


def test_the_address_names_the_triple(run):
    app = open_page("inspect", **NAMES)
    assert shown_triple(app) == NAMES
    assert_shows(app, of(run))
    listed = table(app, "score", "raw_rank", "tail")
    top = of(run).sides["tail"].top(10)
    assert listed["tail"].tolist()[:10] == [run.graph.entity_labels[i] for i in top["id"]]
    assert listed["score"].tolist()[:10] == top["score"].tolist()
    assert [text.removesuffix(" (this)") for text in listed["known"][:10]] == [
        split or "–" for split in top["known"]
    ]
    assert listed["known"].str.endswith("(this)").sum() == 1


def test_it_opens_on_a_test_triple(run):
    app = open_page("inspect")
    triple = run.graph.splits["test"][0].tolist()
    assert list(shown_triple(app).values()) == InspectedTriple(*triple).names(run.graph)
    assert_shows(app, inspect_triple(run, InspectedTriple(*triple)))


def test_choices_change_the_triple(run):
    app = choose(open_page("inspect", **NAMES), inspected_tail="neoplastic_process")
    assert_shows(app, of(run, tail="neoplastic_process"))


@pytest.mark.parametrize("side", ["head", "relation", "tail"])
def test_an_open_side_lists_candidates_only(run, side):
    app = open_page("inspect", **NAMES | {side: "?"})
    found = of(run, **{side: "?"})
    assert plain(verdict(found)) in [text.value for text in app.main.markdown]
    assert not cards(app)
    top = found.sides[side].top(10)
    listed = table(app, "score", "raw_rank", side)
    assert listed["rank"].tolist() == top["filtered_rank"].tolist()
    assert listed["raw_rank"].tolist() == top["raw_rank"].tolist()


def test_two_open_sides_ask_for_more():
    app = choose(open_page("inspect", **NAMES | {"tail": "?"}), inspected_head="?")
    assert messages(app) == ["Choose two of head, relation and tail."]


def test_an_unknown_name_is_said_and_replaced(run):
    app = open_page("inspect", **NAMES | {"head": "no_such"})
    assert "unknown entity" in messages(app)[0].replace("\\", "")
    triple = run.graph.splits["test"][0].tolist()
    assert list(shown_triple(app).values()) == InspectedTriple(*triple).names(run.graph)


def test_the_address_may_have_labels(run, tmp_path):
    names = tuple(f"id{i}" for i in range(run.graph.num_entities))
    folder = altered_run(tmp_path / "renamed", entities=names)
    app = open_page(
        "inspect",
        run="A folder on this machine …",
        folder=str(folder),
        head="id3",
        relation="causes",
        tail="ID7",
    )
    assert shown_triple(app) == {"head": "id3", "relation": "causes", "tail": "id7"}


@pytest.mark.own_cache
def test_a_card_that_is_not_prepared_is_computed_at_a_click(run, monkeypatch):
    monkeypatch.setattr(basis, "_FEW_SCORES", 0)
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", -1)
    app = open_page("inspect", **NAMES)
    assert cards(app)["Answer set"] == "–"
    app.get_by_key("compute_cards").click()
    assert cards(rerun(app))["Answer set"] == "in"
    with pytest.raises(KeyError):
        app.get_by_key("compute_cards")


def test_sides_have_their_own_candidates(run):
    app = open_page("inspect", **NAMES)
    for side in ("head", "relation"):
        choose(app, candidates_for=side)
        top = of(run).sides[side].top(10)
        assert table(app, "score", "raw_rank", side)["score"].tolist()[:10] == top["score"].tolist()


def test_what_beats_it(run):
    app = open_page("inspect", **NAMES)
    for side, better in what_beats(of(run)).items():
        text = (
            f"**{count_text(better.count)} of {count_text(better.negatives)} negatives with this "
            f"{side} score higher**"
        )
        assert text in [each.value for each in app.main.markdown]
        frames = [each.value for each in app.dataframe]
        other = "tail" if side == "head" else "head"
        (best,) = [f for f in frames if set(f.columns) == {"relation", other, "score"}]
        assert best["score"].tolist() == better.best["score"].tolist()
        counts = better.relations().head(8)["count"].tolist()
        assert counts in [f["count"].tolist() for f in frames if "relation" in f and "count" in f]


def test_what_beats_it_is_looked_for_at_a_click_where_that_takes_long(run, monkeypatch):
    monkeypatch.setattr(inspection, "_MOMENT", 0.0)
    monkeypatch.setattr(preparation, "UNASKED", 0.0)
    monkeypatch.setattr(preparation, "prepared_share", lambda run: 0.5)
    names = NAMES | {"tail": "neoplastic_process"}  # not yet in the memory of results
    app = open_page("inspect", **names)
    said = " ".join(text.value for text in app.main.markdown)
    assert "by 100,000 negatives of other relations a side" in said
    assert not any("score higher**" in text.value for text in app.main.markdown)
    (button,) = (each for each in app.main.button if each.label == "Count them")
    button.click()
    rerun(app)
    assert sum("score higher**" in text.value for text in app.main.markdown) == 2
    exact = run.relik(triples=find_triple(run.graph, **names).row)["relik"].iloc[0]
    assert f"By all negatives, ReliK is {number(exact)}." in [c.value for c in app.main.caption]
    rerun(app)
    assert sum("score higher**" in text.value for text in app.main.markdown) == 2


def test_both_ends(run):
    app = choose(open_page("inspect", **NAMES), look_at="Both ends")
    frames = [each.value for each in app.dataframe]
    for name in (NAMES["head"], NAMES["tail"]):
        facts = facts_of_entity(run.graph, run.graph.entity_id(name))
        relik = facts_with_relik(run, facts, 50)["relik"].tolist()
        assert relik in [f["relik"].tolist() for f in frames if "relik" in f]
        assert any(f"{facts.degree:,} known triples" in each.value for each in app.caption)


@pytest.mark.own_cache
def test_other_runs(run, bundled):
    app = choose(open_page("inspect", **NAMES), look_at="Other runs")
    names = runs_on_same_graph(run)
    runs = {name: bundled(name) for name in (run.name, *names[:8])}
    rest = ", ".join(map(plain, names[8:]))
    assert any(
        each.value.endswith(f"for want of room or as damaged: {rest}.") for each in app.caption
    )
    expected = same_triple(runs, find_triple(run.graph, **NAMES))
    expected = expected.sort_values("relik", ascending=False, kind="stable")
    listed = table(app, "run", "relik_head_rank")
    assert listed["run"].tolist() == expected["run"].tolist()
    assert listed["relik"].tolist() == expected["relik"].tolist()


def test_geometry(run):
    app = choose(open_page("inspect", **NAMES), look_at="Geometry")
    frames = [each.value for each in app.dataframe if "distance" in each.value]
    assert len(frames) == 2
    assert all(np.all(np.diff(frame["distance"]) >= 0) for frame in frames)
    assert len(app.get("plotly_chart")) == 2


def test_next_and_previous_go_through_the_list(run):
    triples = run.graph.splits["test"][:3]
    app = open_page("inspect")
    app.session_state[_LIST] = TripleList(run.graph.digest, triples, "some triples")
    rerun(app)
    for name, place in (("next", 1), ("next", 2), ("previous", 1)):
        app.get_by_key(f"inspect_{name}").click()
        rerun(app)
        names = InspectedTriple(*triples[place].tolist()).names(run.graph)
        assert list(shown_triple(app).values()) == names
        assert f"{place + 1} of 3: some triples" in [each.value for each in app.caption]
    app.get_by_key("inspect_next").click()
    assert rerun(app).get_by_key("inspect_next").disabled


def test_a_list_of_another_graph_or_without_the_triple_is_not_shown(run):
    triples = run.graph.splits["test"][:3]
    for found in (
        TripleList("another", triples, "list"),
        TripleList(run.graph.digest, triples[1:], "list"),
    ):
        app = open_page("inspect")
        app.session_state[_LIST] = found
        rerun(app)
        with pytest.raises(KeyError):
            app.get_by_key("inspect_next")


def test_why_says_the_doubt_then_the_reasons_and_the_card_names_the_strongest(bundled):
    run = bundled("umls-complex")
    app = open_page("inspect", run="umls-complex", look_at="Why", **NAMES)
    why = run.why(*NAMES.values())
    said = [text.value for text in (*app.main.markdown, *app.main.caption)]
    assert [plain(carried_text(why, each)) for each in why.carried] == [
        text for text in said if "carry it" in text or text.startswith("No facts of")
    ]
    rules = table(app, "reading", "pca_confidence", "support", "paths")
    assert rules["pca_confidence"].tolist() == why.rules.table["pca_confidence"].tolist()
    assert table(app, "entity", "distance", "tails")["entity"].tolist() == [
        run.graph.entity_labels[entity] for entity in why.similar["entity"]
    ]
    card = trust_card(of(run), {}, why=why)
    (reason,) = (figure for figure in card.figures if figure.name == "reason")
    assert cards(app)["Strongest reason"] == reason.text != "–"
    assert not app.main.warning

    wrong = {**NAMES, "tail": "finding"}
    app = open_page("inspect", run="umls-complex", look_at="Why", **wrong)
    (warning,) = app.main.warning
    said = "  \n".join(doubts(run.why(*wrong.values())))
    assert warning.value.replace("\\", "") == said


def test_a_server_asks_large_runs_once_somebody_wants_it(run, as_visitor, monkeypatch):
    """Seven runs that claimed a bundled one's MRR had everybody's Inspect take 40 s, each time."""
    as_visitor(name="ada", folder="a")
    monkeypatch.setattr(large_runs, "quick_runs", lambda run, names: [])
    app = open_page("inspect", **NAMES)
    assert cards(app)["Agreement"] == "–"
    app.get_by_key("compute_cards").click()
    rerun(app)
    assert cards(app)["Agreement"] == "6 of 6"
    assert "compute_cards" not in [button.key for button in app.button]


def test_so_do_other_runs(run, as_visitor, monkeypatch):
    """Six that another account added to a bundled graph took 33 s of everybody's page."""
    as_visitor(name="ada", folder="a")
    monkeypatch.setattr(large_runs, "quick_runs", lambda run, names: ["umls-rotate"])
    app = choose(open_page("inspect", **NAMES), look_at="Other runs")
    assert table(app, "run", "relik_head_rank")["run"].tolist() == ["umls-rotate", "umls-transe"]
    button = app.get_by_key("larger_runs")
    assert button.label == "Score in 7 larger runs, too"
    button.click()
    assert len(table(rerun(app), "run", "relik_head_rank")) == 9
    with pytest.raises(KeyError):
        app.get_by_key("larger_runs")


def test_a_run_that_a_card_asks_may_change_meanwhile(run, monkeypatch):
    """The page ended there, and told neither rank nor score."""

    def changed(*_, **__):
        raise KgdashError("umls-rotate was changed meanwhile: open it anew")

    monkeypatch.setattr(card, "trust_card", changed)
    other = {**NAMES, "tail": "cell"}  # of which no card is kept
    app = open_page("inspect", **other)
    (error,) = app.error
    assert error.value.endswith("was changed meanwhile: open it anew")
    assert cards(app)["Score"] == number(of(run, **other).score)
