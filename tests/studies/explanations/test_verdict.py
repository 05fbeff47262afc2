"""What is said of right and of wrong predictions: the doubt first."""

from dataclasses import replace

import numpy as np
import pytest

from kgdash.studies.explanations.carrying_facts import CarryingFacts
from kgdash.studies.explanations.explanation import explain
from kgdash.studies.explanations.verdict import doubts, rank_change, reasons, sentences
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from tests.support.fakes import FakeScorer, fake_run, make_graph

GRAPH = make_graph(
    [(0, 0, 1), (0, 1, 1), (1, 0, 2), (1, 1, 2), (2, 0, 0)], test=[(3, 1, 2)], entities=30
)


def explained(triple, rank=1):
    tensor = np.zeros((30, 2, 30))
    tensor[:, :, 3 : 2 + rank] = 2
    tensor[triple] = 1
    return explain(fake_run(GRAPH, FakeScorer(tensor)), InspectedTriple(*triple))


def test_a_right_answer_has_no_doubt():
    found = explained((3, 1, 2))
    assert doubts(found) == []
    assert reasons(found)[0].startswith("None of ")


def test_what_nobody_recorded_begins_with_the_doubt():
    found = explained((2, 1, 0))
    said = doubts(found)
    assert said == [
        "Nobody has recorded this: what follows says why the model ranks it as it does, not that "
        "it is true."
    ]
    assert list(sentences(found))[: len(said)] == said
    assert reasons(found)[0].startswith(
        "2 of 2 rules of the relation lead to it; one of 2 that are best: R0(a, b)"
    )


def test_of_unequal_rules_one_is_the_best():
    found = explained((2, 1, 0))
    table = found.rules.table.assign(support=[2, 1])
    told = replace(found, rules=replace(found.rules, table=table))
    assert "lead to it; the best: R0(a, b)" in reasons(told)[0]


def test_known_others_and_no_rule_are_doubts():
    said = doubts(explained((0, 1, 5), rank=20))
    assert said[1:] == [
        "The model does not predict it: rank 19 among the tails.",
        "Known tails are others: E1.",
        "None of 2 mined rules leads to it.",
    ]


def test_rules_that_were_not_kept_are_told():
    found = explained((3, 1, 2))
    few = replace(found, rules=replace(found.rules, notes=("only the 9 best rules are kept",)))
    assert "Only the 9 best rules are kept." in reasons(few)


def test_a_training_fact_says_so():
    assert reasons(explained((0, 0, 1)))[0].startswith("The model was trained on this very fact")


@pytest.mark.parametrize(
    ("facts", "after", "text"),
    [
        ([[0, 0, 1]], 37.0, "without this fact: rank 1 → 37"),
        ([[0, 0, 1], [0, 1, 1]], 1.5, "without these 2 facts: rank 1 → 1.5"),
    ],
)
def test_rank_change(facts, after, text):
    each = CarryingFacts("tail", 0, 1.0, 1.0, after, np.array(facts))
    assert rank_change(each) == text
