"""The health of a small graph's run by any scores."""

from kgdash.health.of_run import score_health
from tests.support.fakes import FakeScorer, fake_run, make_graph

NAN = float("nan")
SIDES = ("head", "tail")

TRAIN = [(e, r, (e + 1 + r) % 30) for e in range(30) for r in range(2)]
TEST = [(e, r, (e + 7 + r) % 30) for e in range(30) for r in range(2)]


def health_of(tails, heads=None, **kwargs):
    run = fake_run(make_graph(TRAIN, (), TEST), FakeScorer(tails, heads))
    return score_health(run, **kwargs)
