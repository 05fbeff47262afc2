from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.graph.datasets import load_dataset
from kgdash.studies.rules import body_matrix as rule_bodies
from kgdash.studies.rules.confidence import count_rules
from kgdash.studies.rules.parsing import parse_rule
from kgdash.studies.rules.rule import rule_text
from tests.support.instance_fakes import (
    AMIE,
    CODEX,
    count_rule,
    graphs,
    needs_codex,
    rules,
    small_graph,
)

ENTITIES, RELATIONS = 4, 2


@settings(max_examples=80, deadline=None)
@given(
    graphs(ENTITIES, RELATIONS),
    st.lists(rules(ENTITIES, RELATIONS), min_size=5, max_size=12),
    st.sampled_from([1, 3, 10**6]),
)
def test_figures_of_any_rule_are_those_of_trying_all_values(graph, drawn, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_bodies, "_BLOCK_PAIRS", block)
        counted = count_rules(graph, drawn)
    for rule, row in zip(drawn, counted.to_dict("records"), strict=True):
        support, size, pca, facts, variable = count_rule(rule, graph)
        assert (row["support"], row["body_size"], row["pca_body_size"]) == (support, size, pca)
        for name, whole in (
            ("head_coverage", facts),
            ("standard_confidence", size),
            ("pca_confidence", pca),
        ):
            assert row[name] == support / whole if whole else isnan(row[name])
        assert row["functional_variable"] == variable
        assert row["head_relation"] == rule.head[0]
        assert row["atoms"] == len(rule.body)


def test_a_dangling_variable_a_constant_and_three_atoms_by_hand():
    # r0: 0→1, 0→2, 3→1; r1: 1→4, 2→4, 0→5
    graph = small_graph([(0, 0, 1), (0, 0, 2), (3, 0, 1), (1, 1, 4), (2, 1, 4), (0, 1, 5)])
    texts = [
        "?a  r0  ?h   => ?a  r1  e5",
        "r1(X,Y) <= r0(X,A), r1(A,Y)",
        "?a  r0  ?h  ?h  r1  ?b  ?a  r1  e5   => ?a  r1  ?b",
    ]
    counted = count_rules(graph, [parse_rule(text, graph) for text in texts])
    assert counted[["support", "body_size", "pca_body_size"]].to_numpy().tolist() == [
        [1, 2, 1],  # 0 and 3 have r0; only 0 has r1
        [0, 2, 1],  # (0, 4) and (3, 4)
        [0, 1, 1],  # (0, 4)
    ]
    assert counted["head_coverage"].tolist() == [1 / 3, 0, 0]
    assert counted["rule"].tolist() == [rule_text(parse_rule(t, graph), graph) for t in texts]


def test_one_variable_at_both_places_of_the_head_is_judged_by_the_richer_place():
    # r0: 0→1, 0→2, 0→0; r1: 0→0, 1→1, 2→2, 3→3. r0 has one head, three tails.
    graph = small_graph([(0, 0, 1), (0, 0, 2), (0, 0, 0), *((e, 1, e) for e in range(4))])
    rule = parse_rule("r0(X,X) <= r1(X,X)", graph)
    (row,) = count_rules(graph, [rule]).to_dict("records")
    assert (row["support"], row["body_size"], row["pca_body_size"]) == (1, 4, 3)
    assert row["functional_variable"] == "?a"


@needs_codex
def test_amie_s_figures_come_out_rule_by_rule():
    lines = [line.split("\t") for line in AMIE.read_text().splitlines() if line.startswith("?")]
    graph = load_dataset(CODEX)
    counted = count_rules(graph, [parse_rule(line[0], graph) for line in lines])
    assert len(counted) == 214
    shares = counted[["head_coverage", "standard_confidence", "pca_confidence"]].to_numpy()
    assert shares == pytest.approx(np.array([line[1:4] for line in lines], float), abs=1e-8)
    counts = counted[["support", "body_size", "pca_body_size"]].to_numpy()
    assert counts.tolist() == [[int(count) for count in line[4:7]] for line in lines]
    assert counted["functional_variable"].tolist() == [line[7] for line in lines]


def test_progress_and_nothing():
    calls = []
    graph = small_graph([(0, 0, 1), (0, 1, 1)])
    rule = parse_rule("r0(X,Y) <= r1(X,Y)", graph)
    count_rules(graph, [rule] * 2, lambda d, t: calls.append((d, t)))
    # Once more in each: a body may have many blocks.
    assert calls == [(0, 2), (1, 2), (1, 2), (2, 2)]
    assert count_rules(graph, []).empty
