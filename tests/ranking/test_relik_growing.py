"""The mean ReliK in the making: exact where counted, right on average, and honest of its error."""

import numpy as np
import pandas as pd
import pytest

from kgdash.files.row_table import MISSING
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_growing import FEWEST, growing_relik
from kgdash.ranking.relik_table import Anchors


def world(entities=120, triples=900, seed=0):
    """Make triples with counts that hang together around an entity, and all anchors in order."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(entities, 0.5), 2)
    heads, tails = (rng.choice(entities, triples, p=share) for share in shares)
    table = pd.DataFrame({"head": heads, "relation": 0, "tail": tails})
    for side, anchor in (("head", heads), ("tail", tails)):
        level = np.minimum(rng.exponential(rng.exponential(3, entities)[anchor]), 13)
        table[f"{side}_greater"] = (
            np.floor(np.exp(np.minimum(rng.exponential(level), 13))).astype(int) - 1
        )
        table[f"{side}_equal"] = 0
        table[f"{side}_negatives"] = 10**6
    return table, anchors_of(table, rng)


def anchors_of(table, rng):
    sides, entities = [], []
    for number, side in enumerate(("head", "tail")):
        found = rng.permutation(table[side].unique())
        sides.append(np.full(len(found), number))
        entities.append(found)
    order = np.argsort(np.concatenate([np.arange(len(e)) / len(e) for e in entities]))
    return Anchors(np.concatenate(sides)[order], np.concatenate(entities)[order])


def as_counted(table, order, done):
    table = table.copy()
    for number, side in enumerate(("head", "tail")):
        left = order.entity[done:][order.side[done:] == number]
        table.loc[table[side].isin(left), [f"{side}_greater", f"{side}_equal"]] = MISSING
    return table


def test_by_hand():
    # Two triples of a head each that is not random, forty more of forty heads, all tails counted.
    n = 42
    table = pd.DataFrame({"head": np.arange(n), "relation": 0, "tail": 7})
    for side in ("head", "tail"):
        table[f"{side}_greater"], table[f"{side}_equal"], table[f"{side}_negatives"] = 0, 0, 99
    table.loc[[0, 1], "head_greater"] = 1  # 1/2 each
    table.loc[2:21, "head_greater"] = 3  # 1/4 each, of 20 heads; 1 each, of 10
    order = Anchors(np.zeros(40, dtype=int), np.arange(2, n))
    found = growing_relik(as_counted(table, order, 30), order, 30)
    head = (2 * 0.5 + 20 * 0.25 + 10 * 1 + 10 * (20 * 0.25 + 10) / 30) / 42
    assert found.mean == pytest.approx(0.5 * (head + 1))
    assert found.share == 0.75
    assert not found.exact
    assert found.triples["head_rank"].isna().sum() == 10
    assert found.triples["relik"].isna().sum() == 10
    assert found.triples["relik"][:3].tolist() == [0.75, 0.75, 0.625]
    # As if drawn without replacement, with variance (1 − k/M) s² / k of the mean of the drawn.
    values = np.array([0.25] * 20 + [1] * 10)
    error = np.sqrt((1 - 30 / 40) * values.var(ddof=1) / 30) * 40 / 42 * 0.5
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_all_counted_is_exact():
    table, order = world()
    found = growing_relik(table, order, len(order.entity))
    values = relik_values(table)
    pd.testing.assert_frame_equal(found.triples, values)
    assert found.exact
    assert found.low == found.mean == found.high == values["relik"].mean()


def test_nothing_left_to_count_is_exact():
    table, _ = world()
    nothing = Anchors(np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    assert growing_relik(table, nothing, 0).exact


def test_too_few_tell_nothing():
    table, order = world()
    few = 2 * FEWEST - 4
    found = growing_relik(as_counted(table, order, few), order, few)
    assert np.isnan([found.mean, found.low, found.high]).all()
    assert found.triples["relik"].notna().any()


@pytest.mark.parametrize("share", [0.35, 0.7])
def test_right_on_average_and_covered(share):
    """Over random orders of counting one graph: the mean, and its interval."""
    table, _ = world(entities=240, triples=2500)
    true = relik_values(table)["relik"].mean()
    found = []
    for seed in range(150):
        order = anchors_of(table, np.random.default_rng(seed))
        done = int(share * len(order.entity))
        found.append(growing_relik(as_counted(table, order, done), order, done))
    means = np.array([each.mean for each in found])
    error = means.std() / np.sqrt(len(means))
    assert abs(means.mean() - true) < 4 * error
    covered = np.mean([each.low <= true <= each.high for each in found])
    assert 0.86 <= covered <= 1
    assert all(0 < each.low <= each.mean <= each.high < 1 for each in found)


def test_intervals_shrink_to_the_exact_mean():
    table, order = world(entities=300, triples=3000, seed=4)
    true = relik_values(table)["relik"].mean()
    total = len(order.entity)
    widths = []
    for done in (int(total * share) for share in (0.3, 0.6, 0.9, 0.99)):
        found = growing_relik(as_counted(table, order, done), order, done)
        widths.append(found.high - found.low)
        assert abs(found.mean - true) <= widths[-1]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.1 * widths[0]
