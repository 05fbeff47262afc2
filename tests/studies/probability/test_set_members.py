"""Sets by name: the best candidates, and the true answer marked."""

import numpy as np
import torch

from kgdash.studies.probability.answer_sets import AnswerSetSetting, answer_sets
from kgdash.studies.probability.set_members import TRUE, set_members
from tests.support.fakes import FakeScorer, fake_run, make_graph

VALID = [(a, 0, b) for a in range(6) for b in (4, 5)]


def test_members_by_definition():
    # The last entities score highest as tails; all heads tie.
    scores = torch.arange(8.0).expand(8, 1, 8)
    graph = make_graph([(0, 0, 0)], VALID, [(6, 0, 7), (7, 0, 0)], entities=8)
    sets = answer_sets(fake_run(graph, FakeScorer(scores)), AnswerSetSetting(0.2, "rank"))
    tails = np.flatnonzero(sets.queries["side"] == "tail")
    named = set_members(sets, tails[::-1], most=2)
    assert named[["head", "tail"]].to_numpy().tolist() == [[7, 0], [6, 7]]
    for row in named.itertuples():
        # Known answers of 6 and 7 are their own alone: all eight are candidates.
        best = [f"E{e}" for e in range(7, -1, -1)][: min(row.size, 2)]
        answer = f"E{row.tail}"
        text = ", ".join(TRUE * (label == answer) + label for label in best)
        assert row.members.startswith(text)
        assert (TRUE + answer in row.members) == row.covered
        assert row.members.endswith("…") == (row.size > row.members.count("E"))


def test_an_empty_set_names_nobody():
    graph = make_graph([(0, 0, 0)], VALID, [(6, 0, 7)], entities=8)
    run = fake_run(graph, FakeScorer(torch.zeros(8, 1, 8)))
    sets = answer_sets(run, AnswerSetSetting(0.2, "rank"))
    empty = np.flatnonzero(sets.queries["size"] == 0)
    assert set_members(sets, empty)["members"].tolist() == [""] * len(empty)
