"""Threads and chunks of a sweep over all scores change no number."""

import pandas as pd
import torch

from kgdash.engine import tasks
from kgdash.health.distribution import score_distribution
from kgdash.health.spread import score_spread


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
