"""Threads and chunks change no number of a sweep; what queries share is held once."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import torch

from kgdash.engine import tasks
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.distribution import score_distribution
from kgdash.health.spread import score_spread
from kgdash.health.sweep import asked_by
from kgdash.studies.probability.answer_queries import AnswerQueries
from tests.support.fakes import random_scorer


def test_threads_and_chunks_change_nothing(bundled, monkeypatch):
    run = bundled("umls-pairre")
    triples, known = run.graph.split("valid"), run.graph.known()

    def everything():
        spread = score_spread(run.scorer, triples, known)
        return spread, score_distribution(run.scorer, triples, known, spread)

    whole = everything()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        monkeypatch.setattr(tasks, "_TASK", 200_000)
        monkeypatch.setattr(tasks, "_QUERIES", 2**16)
        for one, other in zip(everything(), whole, strict=True):
            pd.testing.assert_frame_equal(one, other)
    finally:
        torch.set_num_threads(threads)


def test_triples_of_one_query_share_what_it_leaves_out():
    ends = np.arange(1, 2001)
    facts = np.stack([0 * ends, 0 * ends, ends], axis=1)
    known = KnownTriples(facts, 4001, 1)
    tracemalloc.start()
    try:
        asked = asked_by(facts + np.array([0, 0, 2000]), known, "tail")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5e6
    assert asked.left_out().tolist() == [2001] * 2000
    starts, columns = asked.masks_of(3, 5)
    assert [columns[a:b].tolist() for a, b in pairwise(starts)] == [
        [*ends, 2004],
        [*ends, 2005],
    ]


def test_some_of_the_queries_see_what_all_see():
    scorer = random_scorer(6, 1)
    known = KnownTriples(np.array([[0, 0, 1], [0, 0, 2], [3, 0, 4]]), 6, 1)
    triples = np.array([[0, 0, 1], [0, 0, 5], [0, 0, 3], [3, 0, 4], [3, 0, 5]])
    queries = AnswerQueries(scorer, triples, asked_by(triples, known, "tail"))
    left_out = {(0, 1): [1, 2], (0, 5): [1, 2, 5], (0, 3): [1, 2, 3], (3, 4): [4], (3, 5): [4, 5]}
    chosen = np.array([True, True, False, False, True])
    for asked in (queries, queries.some(chosen)):
        rows = {}
        asked.each_row(lambda row, seen, rows=rows: rows.update({row: np.isnan(seen)}))
        for (head, _, tail), row in zip(asked.triples.tolist(), asked.asked.row, strict=True):
            assert np.flatnonzero(rows[row]).tolist() == left_out[head, tail]
