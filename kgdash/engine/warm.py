"""Compiling the kernels before they are needed."""

import numpy as np

from kgdash.engine.answer_kernels import Asking, Limits, place_answers
from kgdash.engine.bounds import Thresholds
from kgdash.engine.discovery_kernels import Found, Scored, collect_above, normalise_rows
from kgdash.engine.form import Panels, padded
from kgdash.engine.kernels import Masks, count_both, count_given, count_rows
from kgdash.engine.microkernels import DOT, L1
from kgdash.engine.ordering_kernels import pair_slots, stable_order
from kgdash.engine.protocol_kernels import Answers, Draws, Rivals, at_most, expect, gather_rivals
from kgdash.engine.refit_kernels import Panel, distance_softmax
from kgdash.engine.region_kernels import Incidence, grow_groups, scan_groups, shuffle_within
from kgdash.engine.resampling_kernels import resample_groups, resample_separation
from kgdash.engine.rule_kernels import (
    Groups,
    Hits,
    Lists,
    Pairs,
    Sums,
    count_chains,
    count_chains_backwards,
)
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, points, score_block
from kgdash.engine.softmax_kernels import (
    SoftmaxSums,
    gather_log_probabilities,
    gather_logistic,
    gather_softmax,
)
from kgdash.engine.sweep_kernels import (
    Extremes,
    Placed,
    fill_masked,
    gather_bins,
    gather_extremes,
    gather_first_digits,
    gather_places,
)
from kgdash.engine.top_kernels import best_of_rows, scrambled
from kgdash.engine.turned_kernels import PRODUCT, Turned, count_turned


def warm() -> None:
    """Compile all kernels, or read what Numba kept of them: some seconds at first, then 0.3 s.

    Each is called once on a single score.
    """
    vectors = np.ones((1, 1), dtype=np.float32)
    panels, queries, group = Panels.of(vectors), padded(vectors), np.zeros(1, dtype=np.int64)
    masks = Masks(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64))
    out = np.empty((1, 1), dtype=np.float32)
    points(DOT, vectors, vectors, out[0])
    score_block(DOT, queries, 1, panels.blocks, 1, out)
    thresholds = Thresholds.of(out[0], group, 1)
    bounds, counts = thresholds.bounds, thresholds.counts()
    count_rows(DOT, queries, 1, panels.blocks, 1, group, masks, bounds, counts)
    candidates = Turned(PRODUCT, panels.blocks, 1, 0, vectors)
    count_turned(DOT, queries, group, candidates, group, masks, bounds, counts)
    count_both(
        DOT, queries, 1, 0, panels.blocks, 1, masks, bounds, counts, bounds, thresholds.counts()
    )
    high, total, bounds_each = out[0].copy(), np.empty(1), out[0].copy()
    scored = Scored(DOT, queries, 1, panels.blocks, 1, masks)
    normalise_rows(scored, np.float32(1), high, total)
    found = Found.of_nothing(1)
    collect_above(scored, bounds_each, found)
    count_given(out, group, bounds, counts)
    thresholds.result([counts])
    weights, words = np.ones(1, dtype=np.int64), out.view(np.uint32)
    tile = np.empty((ROWS, COLUMNS), dtype=np.float32)
    fill_masked(DOT, queries, 1, panels.blocks, 0, 1, 1, masks, tile)
    gather_extremes(out, 0, Extremes.of_nothing(1))
    gather_bins(out, 0, weights, np.array([0.0, 2.0]), np.zeros((4, 2), dtype=np.int64))
    placed = Placed(np.array([0, 1]), np.ones(1), np.ones(1), np.zeros((1, 4), dtype=np.int64))
    gather_places(out, 0, placed)
    factor, shift = np.uint32(1), np.uint32(21)
    gather_first_digits(out, words, 0, weights, factor, shift, np.zeros(2049, dtype=np.int64))
    gather_softmax(out, 0, np.ones(1), SoftmaxSums.of_nothing(1))
    gather_logistic(out, 0, 1.0, 0.0, np.zeros((1, 2)))
    ends = np.array([0, 1]), np.ones(1)
    gather_log_probabilities(out, 0, np.ones(1), ends, 1.0, np.zeros((4, 2), dtype=np.int64))
    asking = Asking(ends[0], group, np.ones(1), np.ones(1))
    limits = Limits(group, np.ones((1, 1)))
    place_answers(out, 0, asking, limits, np.ones((1, 3)), np.zeros((1, 1), dtype=np.int32))
    one, seeds = np.ones(1), np.ones(1, dtype=np.uint64)
    resample_groups(one, one, np.array([0, 1]), seeds, group, np.empty((1, 1)))
    label, figures = np.zeros((1, 1), dtype=np.int32), np.empty((1, 1, 4))
    resample_separation(np.ones((1, 1)), label, label, seeds[0], label[0], figures)
    stable_order(group, 1)
    pair_slots(group, group, 1, 1)
    keys = scrambled(seeds, seeds)[:, None]
    best_of_rows(out, masks, seeds, group[:, None], out.copy(), keys)
    rivals = Rivals(group, group, group, one, one)
    at_most(group, group, weights, weights, one)
    expect(rivals, Draws(1, 1), one, True, np.empty((1, 2, 3, 2)))
    answers = Answers(ends[0], group, one, weights, ends[0], group)
    gather_rivals(out, 0, group, answers, np.zeros((1, 3, 3), dtype=np.int64))
    starts, order, values = np.array([0, 1]), np.zeros((1, 1), dtype=np.int64), vectors
    grow_groups(starts, group, one, one, group, order)
    shuffle_within(values[0], group, starts, seeds[0], out[0])
    order.flags.writeable = False  # as what comes from the disk
    scores, sizes = np.empty((1, 2, 1)), np.empty((1, 2, 1), dtype=np.int64)
    scan_groups(order, Incidence(starts, group, group), 1, values, scores, sizes)
    pairs, sums = np.zeros((2, 2), dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    none = Lists(np.zeros(2, dtype=np.int64), group)
    steps = Groups(none.starts, pairs, group)
    counted, hits = Sums(group, sums, sums), Hits(np.zeros((1, 1), dtype=bool), group)
    count_chains(none, steps, Pairs(none.starts, pairs), none, counted, hits)
    count_chains_backwards(none, steps, group, none, sums)
    two, across = np.ones((2, 1), dtype=np.float32), np.ones((1, 2), dtype=np.float32)
    distance_softmax(L1, two[0], Panel(two, across), 0, across[0], one)  # one of two is left out


if __name__ == "__main__":
    warm()
