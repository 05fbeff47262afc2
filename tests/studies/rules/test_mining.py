import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.rules import body_counting, mining
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.parsing import parse_rule
from tests.support.fakes import make_graph
from tests.support.instance_fakes import (
    AMIE,
    CODEX,
    all_rules,
    count_rule,
    graphs,
    needs_codex,
    small_graph,
)


@settings(max_examples=25, deadline=None)
@given(graphs(entities=4, relations=2))
def test_every_rule_and_figure_is_what_brute_force_finds(graph):
    mined = mine_rules(graph, min_support=1, min_head_coverage=0, min_pca=0)
    rows = {parse_rule(row["rule"], graph): row for row in mined.to_dict("records")}
    assert len(rows) == len(mined)
    for rule in all_rules(graph.num_relations):
        support, body, pca, facts, variable = count_rule(rule, graph)
        row = rows.pop(rule, None)
        if not support:
            assert row is None
            continue
        assert (row["support"], row["body_size"], row["pca_body_size"]) == (support, body, pca)
        assert row["head_coverage"] == support / facts
        assert row["standard_confidence"] == support / body
        assert row["pca_confidence"] == support / pca
        assert row["functional_variable"] == variable
        assert row["head_relation"] == rule.head[0]
        assert row["atoms"] == len(rule.body)
    assert not rows


@needs_codex
def test_amie_s_rules_are_ours_but_for_rare_heads_with_its_figures():
    """AMIE's defaults leave out rules for relations with less than 100 facts."""
    graph = load_dataset(CODEX)
    mined = mine_rules(graph)
    facts = np.bincount(graph.split("train")[:, 1], minlength=graph.num_relations)
    often = mined[facts[mined["head_relation"]] >= 100]
    rows = {parse_rule(row["rule"], graph): row for row in often.to_dict("records")}
    lines = [line.split("\t") for line in AMIE.read_text().splitlines() if line.startswith("?")]
    assert len(lines) == len(often) == 214
    assert {parse_rule(text, graph) for text, *_ in lines} == set(rows)
    columns = ["support", "body_size", "pca_body_size", "functional_variable"]
    found = [[str(rows[parse_rule(line[0], graph)][c]) for c in columns] for line in lines]
    assert found == [line[4:] for line in lines]


def test_a_rule_by_hand():
    # r0: 0→1, 2→3, 4→5; r1: 0→1, 2→6. Of r1's heads, 4 is unknown.
    graph = small_graph([(0, 0, 1), (2, 0, 3), (4, 0, 5), (0, 1, 1), (2, 1, 6)])
    mined = mine_rules(graph, min_support=1).set_index("rule")
    row = mined.loc["?a  r0  ?b   => ?a  r1  ?b"]
    assert (row["support"], row["body_size"], row["pca_body_size"]) == (1, 3, 2)
    assert row["head_coverage"] == 1 / 2
    assert row["standard_confidence"] == 1 / 3
    assert row["pca_confidence"] == 1 / 2
    assert row["reading"] == "r0(a, b) ⇒ r1(a, b)"
    assert row["body"] == "?a  r0  ?b"


def test_thresholds_order_and_the_most_rules():
    graph = load_dataset("umls")
    mined = mine_rules(graph, min_support=20, min_head_coverage=0.1, min_pca=0.5)
    assert mined["support"].min() >= 20
    assert mined["head_coverage"].min() >= 0.1
    assert mined["pca_confidence"].min() >= 0.5
    assert mined["pca_confidence"].is_monotonic_decreasing
    few = mine_rules(graph, min_support=20, min_head_coverage=0.1, min_pca=0.5, max_rules=7)
    pd.testing.assert_frame_equal(few, mined.head(7))


def test_of_equal_rules_the_first_are_kept():
    pairs = [(a, b) for a in range(3) for b in range(3)]
    graph = small_graph([(a, r, b) for r in range(5) for a, b in pairs[: 9 - r % 2]])
    every = mine_rules(graph)
    for most in (1, 4, 30, 200):
        assert len(every) > most
        pd.testing.assert_frame_equal(mine_rules(graph, max_rules=most), every.head(most))


def test_no_rule_holds():
    graph = small_graph([(0, 0, 1), (2, 1, 3)])
    assert mine_rules(graph).empty
    assert "rule" in mine_rules(graph)


def test_progress_ends_at_all():
    calls = []
    mine_rules(small_graph([(0, 0, 1), (0, 1, 1)]), progress=lambda d, t: calls.append((d, t)))
    assert calls[-1] == (4, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_support": 0}, "support of 1 or more; found 0"),
        ({"min_pca": 10}, "PCA confidence between 0 and 1; found 10"),
        ({"min_head_coverage": -1}, "head coverage between 0 and 1; found -1"),
    ],
)
def test_wrong_thresholds(arguments, message):
    with pytest.raises(KgdashError, match=message):
        mine_rules(small_graph([(0, 0, 1)]), **arguments)


def test_so_many_relations_that_counts_would_fill_the_memory():
    facts = [(r % 7, r, (r + 1) % 7) for r in range(2_049)]
    with pytest.raises(KgdashError, match=r"tiny has 2,049 relations; .* at most 2,048: mine them"):
        mine_rules(make_graph(facts))


#: 1..9 –r0→ 0 –r1→ 10..29 –r2→ 1..9
_FUNNEL = (
    [(h, 0, 0) for h in range(1, 10)]
    + [(0, 1, t) for t in range(10, 30)]
    + [(10 + i % 20, 2, 1 + i % 9) for i in range(40)]
)


def test_a_hub_s_chains_are_counted_in_parts_between_which_it_can_be_ended(monkeypatch):
    graph = small_graph(_FUNNEL)
    settings = {"min_support": 1, "min_head_coverage": 0, "min_pca": 0}
    whole, calls = mine_rules(graph, **settings), []
    monkeypatch.setattr(body_counting, "_AT_ONCE", 50)
    parts = mine_rules(graph, **settings, progress=lambda done, _: calls.append(done))
    pd.testing.assert_frame_equal(whole, parts)
    assert max(calls.count(first) for first in range(6)) > 5

    def end(done, total):
        calls.append(done)
        if calls.count(0) > 2:
            raise TimeoutError

    calls.clear()
    with pytest.raises(TimeoutError):
        mine_rules(graph, **settings, progress=end)
    assert set(calls) == {0}


def test_bodies_on_one_pair_are_counted_in_parts_between_which_it_can_be_ended(monkeypatch):
    graph = small_graph([(h, r, t) for h in range(4) for r in range(6) for t in range(4, 8)])
    settings = {"min_support": 1, "min_head_coverage": 0, "min_pca": 0}
    whole, calls = mine_rules(graph, **settings), []
    monkeypatch.setattr(mining, "_AT_ONCE", 50)
    parts = mine_rules(graph, **settings, progress=lambda done, _: calls.append(done))
    pd.testing.assert_frame_equal(whole, parts)
    assert max(calls.count(first) for first in range(12)) > 10
