"""Cards: what each figure says, the doubt first, and what is not known says so."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.progress import silent
from kgdash.runs.loading import load
from kgdash.studies.inspection.inspected_triple import InspectedTriple, find_triple
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.studies.probability.answer_queries import answer_queries
from kgdash.studies.trust import basis as basis_module
from kgdash.studies.trust import card as card_module
from kgdash.studies.trust.basis import card_basis
from kgdash.studies.trust.card import CardFigure, card_line, trust_card
from tests.support.tiny_runs import altered_run

NAMES = ("virus", "causes", "disease_or_syndrome")


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-transe")


def inspected(run, *names):
    return inspect_triple(run, find_triple(run.graph, *(names or NAMES)))


def figures(card):
    return {figure.name: figure for figure in card.figures}


@pytest.mark.parametrize("side", ["head", "tail"])
def test_figures(run, bundled, side):
    found = inspected(run)
    others = {"umls-distmult": bundled("umls-distmult"), "umls-conve": bundled("umls-conve")}
    card = trust_card(found, others, side)
    told = figures(card)
    (queries,) = answer_queries(run, found.triple.row, found.filter, [side])
    row = card_basis(run).placing.place(queries).iloc[0]
    assert told["answer_set"].values["in_set"] == row["in_set"]
    assert told["answer_set"].values["size"] == row["set_size"]
    assert told["probability"].values["probability"] == row["probability"]
    if side == "tail":
        table = run.probabilities(triples=found.triple.row, sides=["tail"])
        assert row["probability"] == pytest.approx(table["probability"].iloc[0])
    relik = run.relik(triples=found.triple.row)["relik"].iloc[0]
    assert told["relik"].values["relik"] == relik
    ranks = {
        each.name: each.ranks(triples=found.triple.row, sides=[side])["realistic"].iloc[0]
        for each in (run, *others.values())
    }
    assert told["agreement"].values["ranks"] == ranks
    assert told["agreement"].text == f"{sum(rank <= 10 for rank in ranks.values())} of 3"
    assert told["reason"].level == "unknown"
    assert card.line.endswith("The model was trained on this fact, which flatters it.")
    plain = card.about()
    assert list(plain["figures"]) == list(told)
    assert plain["command"] is None


def test_a_wrong_looking_one_has_the_doubt_first(run):
    card = trust_card(inspected(run, "virus", "causes", "finding"), {})
    assert card.level == "doubtful"
    assert card.line.startswith("Doubt it: outside the 90% set of 10 answers, probability < 0.1%")


def test_an_open_side(run):
    with pytest.raises(KgdashError, match="leave no side open"):
        trust_card(inspected(run, "virus", "causes", "?"), {})


def test_one_run_only(run):
    figure = figures(trust_card(inspected(run), {}))["agreement"]
    assert (figure.text, figure.level, figure.values) == ("–", "unknown", {})
    assert figure.about.startswith("one run only")


def test_runs_that_were_not_asked(run):
    """ "One run only" was not so."""
    told = figures(trust_card(inspected(run), {}, unasked=2))["agreement"]
    assert told.text == "–"
    assert told.about == "more runs rank about as well: not asked (2)"


def test_without_validation_triples(tmp_path):
    run = load(str(altered_run(tmp_path / "run", {"valid": np.zeros((0, 3), dtype=np.int64)})))
    told = figures(trust_card(inspected(run), {}))
    for name in ("answer_set", "probability"):
        assert told[name].level == "unknown"
        assert "has no valid triples to fit probabilities on" in told[name].about
    assert told["relik"].values["coverage"] is None
    assert told["relik"].text != "–"


def test_a_relation_with_three_queries(run, tmp_path):
    valid = run.graph.split("valid")
    relation = int(valid[0, 1])
    few = np.concatenate([valid[valid[:, 1] == relation][:3], valid[valid[:, 1] != relation]])
    small = load(str(altered_run(tmp_path / "run", {"valid": few})))
    found = inspect_triple(small, InspectedTriple(*map(int, few[0])))
    card = trust_card(found, {})
    betas = card_basis(small).placing.fitted.betas
    assert relation not in set(betas["relation"])
    assert 0 <= figures(card)["probability"].values["probability"] <= 1
    assert "were fitted on this fact" in card.line


def test_all_scores_tied(tmp_path):
    run = load(str(altered_run(tmp_path / "run", weights=torch.zeros_like)))
    card = trust_card(inspected(run), {})
    told = figures(card)
    assert told["answer_set"].level == told["probability"].level == "unknown"
    assert "candidates have the same score" in told["probability"].about
    assert card.level == "unknown"
    assert card.line.startswith("Not known")


def test_what_is_not_prepared_is_not_computed(run, monkeypatch):
    monkeypatch.setattr(basis_module, "_FEW_SCORES", 0)
    monkeypatch.setattr("kgdash.studies.trust.card.card_basis", lambda run: pytest.fail("waits"))
    card = trust_card(inspected(run), {})
    assert card.command == "kgdash prepare umls-transe"
    odd = trust_card(inspected(replace(run, name="a; b $(c)")), {})
    assert odd.command == "kgdash prepare 'a; b $(c)'"
    told = figures(card)
    assert told["answer_set"].level == told["probability"].level == "unknown"
    assert "not prepared" in told["answer_set"].about
    assert told["relik"].text != "–"


def test_what_is_not_known_is_unsure_at_best(run):
    """Of 115 such triples that were called likely, at 0.87, seven were recorded."""
    new = run.discover(20, types="seen")[["head", "relation", "tail"]].to_numpy()
    cards = [trust_card(inspect_triple(run, InspectedTriple(*map(int, row))), {}) for row in new]
    for card in cards:
        told = figures(card)["probability"]
        assert told.values["supposed"]
        assert told.level != "likely"
        assert not card.line.startswith("Likely right")
        assert "if the query has an answer that is not known yet" in card.line
    assert max(figures(card)["probability"].values["probability"] for card in cards) > 0.2
    assert not figures(trust_card(inspected(run), {}))["probability"].values["supposed"]


def figure(name, level, **values):
    return CardFigure(name, "3 of 5", "", "", level, values)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            [("answer_set", "likely", {"in_set": True, "size": 1}), ("relik", "likely", {})],
            "Likely right: alone in the 90% set.",
        ),
        (
            [
                ("answer_set", "unsure", {"in_set": True, "size": 1200}),
                ("probability", "doubtful", {}),
                ("relik", "unsure", {}),
                ("agreement", "likely", {}),
            ],
            "Doubt it: probability 3 of 5, one of 1,200 answers in the 90% set, answer sets of "
            "this region miss the truth more often than promised; but among the first 10 by 3 of "
            "5 runs.",
        ),
        ([("agreement", "unsure", {})], "Unsure: among the first 10 by 3 of 5 runs."),
        (
            [("relik", "likely", {})],
            "Not known: nothing is there to say how far it can be trusted.",
        ),
    ],
)
def test_lines(given, line):
    made = tuple(figure(name, level, **values) for name, level, values in given)
    assert card_line(made, None)[0] == line


def test_a_graph_whose_communities_take_too_much_memory_has_cards_without_them(run, monkeypatch):
    for module in (card_module, basis_module):
        monkeypatch.setattr(module, "communities_fit", lambda graph: False)
    coverage = basis_module._coverage(run, silent)
    assert coverage["community"].tolist() == [-1]
    assert coverage["queries"].tolist() == [2 * len(run.graph.splits["test"])]
    relik = figures(trust_card(inspected(run), {}))["relik"]
    assert relik.beneath == "coverage not known"
    assert "too much memory" in relik.about
