"""The verdict says what was counted, in words."""

from dataclasses import replace

import pytest

from kgdash.studies.inspection import inspection
from kgdash.studies.inspection.candidates import Rank
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.studies.inspection.verdict import count_text, ordinal, rank_text, verdict
from tests.support.fakes import FakeScorer, fake_run, make_graph

#: three entities, one relation; row: head, column: tail
SCORER = FakeScorer([[[1, 5, 3]], [[2, 2, 9]], [[0, 4, 5]]])
RUN = fake_run(make_graph([(0, 0, 1), (1, 0, 2)], test=[(0, 0, 2)]), SCORER)


def of(*parts, filter=None):
    return verdict(inspect_triple(RUN, InspectedTriple(*parts), filter))


def test_a_known_fact():
    # Known answers 1 and 2 are left out of (0, r, ?); of (?, r, 2) known 0 and 1, 2 scores 5 > 3.
    # N⁻(0) = {(0, r, 0)} with 1; N⁻(tail 2) = {(2, r, 2)} with 5.
    assert of(0, 0, 2) == (
        "The model ranks this tail 1st of 2, this head 2nd of 2 and this relation 1st of 1, known "
        "facts left out. ReliK 0.750: none of 1 negative with this head score higher, 1 of 1 with "
        "this tail. It is a known fact, in test."
    )


def test_a_triple_of_no_split_and_equal_scores():
    # (1, r, 0) and (1, r, 1) score 2 both; 2 is known and left out. (?, r, 0): 1, 2, 0.
    assert of(1, 0, 0) == (
        "The model ranks this tail between 1st and 2nd of 2, this head 1st of 3 and this relation "
        "1st of 1, known facts left out. ReliK 1.00: none of 1 negative with this head score "
        "higher, none of 2 with this tail. It is in no split: a negative itself, true or not."
    )


def test_drawn_negatives_are_said_to_be_drawn(monkeypatch):
    monkeypatch.setattr(inspection, "_MOMENT", 0.0)
    monkeypatch.setattr(inspection, "is_counted_unasked", lambda run: False)
    assert (
        "ReliK 0.750 to 0.750, by 100,000 negatives of other relations a side: none of 1 "
        "negative with this head score higher, about 1 of 1 with this tail."
    ) in of(0, 0, 2)


def test_raw_ranks_leave_nothing_out():
    assert of(0, 0, 2, filter="none").startswith(
        "The model ranks this tail 2nd of 3, this head 3rd of 3 and this relation 1st of 1. ReliK"
    )


def test_an_open_side():
    assert of(0, 0, None) == (
        "Of 3 candidates for the tail, 2 are known facts. The model puts E1 first (a known fact, "
        "in train)."
    )
    assert of(2, 0, None) == (
        "Of 3 candidates for the tail, 0 are known facts. The model puts E2 first (in no split)."
    )
    assert of(1, None, 2) == (
        "Of 1 candidate for the relation, 1 is a known fact. The model puts R0 first (a known "
        "fact, in train)."
    )


def test_what_shares_its_label_is_told_with_its_name():
    graph = replace(RUN.graph, entity_labels=("E", "E", "E2"), relation_labels=("E2",))
    run = fake_run(graph, SCORER)
    assert "puts E (e1) first" in verdict(inspect_triple(run, InspectedTriple(0, 0, None)))
    assert InspectedTriple(0, 0, 2).labels(graph) == ["E (e0)", "E2", "E2"]


def test_an_open_side_where_several_share_the_best_score():
    """Of candidates that are alike the first by name was told as the model's first."""
    scorer = FakeScorer([[[7, 1, 7]], [[2, 2, 2]], [[0, 4, 5]]])
    run = fake_run(make_graph([(0, 0, 1), (1, 0, 2)], test=[(0, 0, 2)]), scorer)
    assert verdict(inspect_triple(run, InspectedTriple(0, 0, None))) == (
        "Of 3 candidates for the tail, 2 are known facts. The model puts E0 and 1 other first, "
        "alike: of these 2, 1 is a known fact."
    )
    assert verdict(inspect_triple(run, InspectedTriple(1, 0, None))).endswith(
        "The model puts E0 and 2 others first, alike: of these 3, 1 is a known fact."
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (111, "111th"),
        (1203, "1,203rd"),
        (14505, "14,505th"),
    ],
)
def test_ordinals(number, text):
    assert ordinal(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1, "1"),
        (999_999, "999,999"),
        (3_437_685, "3.44 million"),
        (1_234_567_890, "1,235 million"),
    ],
)
def test_counts(number, text):
    assert count_text(number) == text


def test_rank_text():
    assert rank_text(Rank(3, 3.0, 3, 9)) == "3rd"
    assert rank_text(Rank(3, 4.0, 5, 9)) == "between 3rd and 5th"
