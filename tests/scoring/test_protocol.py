"""Whoever asks a model for scores hears of the parts of them, and may end it there."""

import numpy as np
import pytest

from kgdash.engine.kernels import Masks
from kgdash.health import sweep
from kgdash.health.missing import missing_scores
from kgdash.health.sweep import all_scores
from kgdash.health.ties import always_tied
from kgdash.progress import silent
from kgdash.ranking import ranks, relik_rows
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik_exact import relik_exact
from kgdash.ranking.relik_sampled import relik_sampled
from kgdash.scoring.triple_scores import triple_scores
from kgdash.studies.discovery import relation_scores
from kgdash.studies.discovery.relation_scores import BlockRows
from kgdash.studies.inspection import better_negatives as better
from kgdash.studies.inspection.better_negatives import better_negatives
from kgdash.studies.obl2021 import top_ten
from kgdash.studies.obl2021.top_ten import predict
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer

TRIPLES = [(0, 0, 1), (1, 1, 2), (3, 0, 4), (2, 1, 0)]
GRAPH = make_graph(TRIPLES, (), [(4, 1, 3), (1, 0, 0)])


class Telling(FakeScorer):
    """Tells of four parts of whatever it is asked for."""

    def score_tails(self, pairs, progress=silent):
        return _told(progress, super().score_tails(pairs))

    def score_heads(self, pairs, progress=silent):
        return _told(progress, super().score_heads(pairs))

    def score_triples(self, triples, side="tail", progress=silent):
        return _told(progress, super().score_triples(triples, side))


def _told(progress, scores):
    for part in range(1, 5):
        progress(part, 4)
    return scores


SCORER = Telling(random_scorer(5, 2).tails)
RUN = fake_run(GRAPH, SCORER)
KNOWN = GRAPH.known()
ROWS = np.array(TRIPLES)
NO_MASKS = Masks(np.zeros(6, dtype=np.int64), np.empty(0, dtype=np.int64))

ASKING = {
    "ranks": lambda p: rank_triples(SCORER, ROWS, KNOWN, progress=p),
    "ReliK": lambda p: relik_exact(SCORER, ROWS, KNOWN, progress=p),
    "sampled ReliK": lambda p: relik_sampled(SCORER, ROWS, KNOWN, samples=3, progress=p),
    "single triples": lambda p: triple_scores(SCORER, ROWS, progress=p),
    "NaN": lambda p: missing_scores(SCORER, ROWS, progress=p),
    "ties": lambda p: always_tied(SCORER, ROWS, progress=p),
    "sweeps": lambda p: list(all_scores(SCORER, "head", *ROWS.T[[2, 1]], progress=p)),
    "new facts": lambda p: BlockRows(SCORER, "tail", 0, ROWS[:, 0], NO_MASKS, None).normalisers(
        1.0, p
    ),
    "better negatives": lambda p: better_negatives(RUN, ROWS[0], "head", progress=p),
    "ten best": lambda p: predict(RUN, ROWS, progress=p),
}


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("bytes_at_once", [1, 2**20])
def test_parts_of_what_is_scored_at_once_are_told(name, bytes_at_once, monkeypatch):
    for module in (ranks, relik_rows, sweep, relation_scores, better, top_ten):
        monkeypatch.setattr(module, "block_bytes", lambda: bytes_at_once)

    def stop(done, total):
        raise KeyboardInterrupt

    before = len(SCORER.asked)
    with pytest.raises(KeyboardInterrupt):
        ASKING[name](stop)
    assert len(SCORER.asked) == before + 1

    heard = []
    ASKING[name](lambda done, total: heard.append(done / total))
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1)
    assert heard[0] <= 1 / 4
