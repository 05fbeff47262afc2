"""A figure of a sample against the mean over everything, counted by the definition."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from tests.support.fakes import fake_run, make_graph, random_scorer

ROWS = np.unique(np.random.default_rng(5).integers(0, (60, 3, 60), (600, 3)), axis=0)
GRAPH = make_graph(ROWS[:300], ROWS[300:340], ROWS[340:], 60, 3)


@pytest.fixture(scope="module")
def run():
    return fake_run(GRAPH, random_scorer(60, 3))


def test_intervals_hold_the_exact_mean_and_are_as_narrow_as_asked(run):
    every = GRAPH.all_triples
    exact = {
        "relik": run.relik(triples=every)["relik"].mean(),
        "mrr": (1 / run.ranks(triples=every)["realistic"]).mean(),
    }
    for measure, mean in exact.items():
        hits, sizes = 0, []
        for seed in range(40):
            found = run.sampled(measure, triples=every, width=0.06, seed=seed).mean
            assert found.high - found.low <= 0.06
            assert found.population == len(every)
            hits += found.low - 1e-9 <= mean <= found.high + 1e-9
            sizes.append(found.n)
        assert hits >= 36
        assert max(sizes) < len(every)


def test_a_drawn_triple_stands_for_its_head_and_its_tail(run):
    """½ (mean of 1/rank_H over its head's triples + mean of 1/rank_T over its tail's)."""
    from kgdash.runs.sampled_means import _reliks

    every = GRAPH.all_triples
    relik = run.relik(triples=every)
    # Of part of the graph, and some of it several times.
    at = np.flatnonzero(np.arange(len(every)) % 3 > 0).repeat(
        np.arange(len(every) * 2 // 3) % 5 + 1
    )
    rows = np.array([0, 5, 17, 80])
    found = _reliks(run, at, rows, lambda done, of: None)
    part = relik.iloc[at]
    for value, row in zip(found, rows, strict=True):
        head, tail = part.iloc[row][["head", "tail"]]
        halves = (
            (1 / part["head_rank"][part["head"] == head]).mean(),
            (1 / part["tail_rank"][part["tail"] == tail]).mean(),
        )
        assert value == pytest.approx(np.mean(halves))
    # so that the mean over all of them is ReliK's
    every_row = np.arange(len(at))
    whole = _reliks(run, at, every_row, lambda done, of: None)
    assert whole.mean() == pytest.approx(part["relik"].mean())


def test_of_all_drawn_the_mean_is_exact(run):
    found = run.sampled("relik", triples=GRAPH.all_triples, width=1e-4).mean
    assert found.exact
    assert found.low == found.high == found.value
    assert found.value == pytest.approx(run.relik(triples=GRAPH.all_triples)["relik"].mean())
    few = run.sampled("mrr", "valid").mean
    assert few.exact
    assert few.value == pytest.approx(
        (1 / run.ranks("valid", filter="train+valid+test")["realistic"]).mean()
    )


def test_same_seed_same_triples(run):
    one, same, other = (
        run.sampled("mrr", triples=GRAPH.all_triples, width=0.1, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.triples, same.triples)
    assert one.mean == same.mean
    assert one.mean != other.mean


def test_what_can_not_be_drawn_is_refused(run):
    with pytest.raises(KgdashError, match="from 1e-09 to 1; found 0"):
        run.sampled(width=0.0)
    with pytest.raises(KgdashError, match="found nan"):
        run.sampled(width=float("nan"))
    with pytest.raises(KgdashError, match="measure"):
        run.sampled("mr")
    unknown = np.setdiff1d(np.arange(60), ROWS[ROWS[:, 0] == 0, 2])[:1]
    unknown = np.array([[0, 0, unknown[0]]])
    with pytest.raises(KgdashError, match="found 1 of 1 that are not"):
        run.sampled(triples=unknown)
