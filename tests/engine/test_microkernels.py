"""The kernels' counts are those of a plain loop over the scores, whatever the ties and tables."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import Panels, padded
from kgdash.engine.kernels import (
    BOTH_COLUMNS,
    BOTH_ROWS,
    count_both,
    count_given,
    count_rows,
)
from kgdash.engine.microkernels import DOT
from kgdash.engine.scoring_kernels import COLUMNS, ROWS
from tests.support.plain_counts import KINDS, TRICKY, block, counted, integers, masks_of, plain

#: what a test leaves out of a block: which (row, column) pairs
MASKS = {
    "nothing": lambda rows, columns, draw: np.zeros((rows, columns), dtype=bool),
    "some": lambda rows, columns, draw: draw.random((rows, columns)) < 0.2,
    "everything": lambda rows, columns, draw: np.ones((rows, columns), dtype=bool),
    "all but one": lambda rows, columns, draw: (
        np.arange(columns) != np.full((rows, 1), columns // 2)
    ),
    "the first and last": lambda rows, columns, draw: (
        np.isin(np.arange(columns), [0, columns - 1]) & np.ones((rows, 1), dtype=bool)
    ),
    "the borders": lambda rows, columns, draw: (
        np.isin(np.arange(columns), [15, 16, 255, 256, 511, 512, 1023, 1024])
        & np.ones((rows, 1), dtype=bool)
    ),
    "every other row": lambda rows, columns, draw: (
        np.arange(rows)[:, None] % 2 == np.zeros(columns)
    ),
}

#: triples per group: without any, fewer and more than are compared one by one (two bounds each)
SIZES = (0, 1, 2, 3, 4, 5, 7, 0, 40, 41, 90)


def in_turn(shapes):
    """Run a test for each shape and mask, and the kinds of scores in turn."""
    cases = itertools.product(shapes, MASKS)
    return pytest.mark.parametrize(
        ("kind", "rows", "columns", "mask"),
        [
            (kind, *shape, mask)
            for kind, (shape, mask) in zip(itertools.cycle(KINDS.values()), cases, strict=False)
        ],
    )


def triples_of(scores, groups, sizes, draw):
    """Draw triples' own scores and groups, so that most of them occur among the group's scores."""
    own, group = [], []
    for number, size in enumerate(sizes):
        around = scores[groups == number].ravel()
        pool = np.unique(np.concatenate([around, np.float32([-7, 0.5, 7])]))
        own.append(draw.choice(pool, size))
        group.append(np.full(size, number))
    order = draw.permutation(sum(sizes))
    return np.concatenate(own)[order].astype(np.float32), np.concatenate(group)[order]


def given_counts(scores, groups, own, group, number_of_groups):
    thresholds = Thresholds.of(own, group, number_of_groups)
    counts = thresholds.counts()
    count_given(scores, groups, thresholds.bounds, counts)
    return counted(thresholds, counts)


class TestGivenScores:
    """`count_given`: no score is computed, so that any float can be one."""

    def check(self, scores, groups, own, group):
        number = int(max([*groups, *group], default=-1)) + 1
        scores = np.ascontiguousarray(scores, dtype=np.float32)
        groups = np.asarray(groups, dtype=np.int64)
        own, group = np.asarray(own, dtype=np.float32), np.asarray(group, dtype=np.int64)
        found = given_counts(scores, groups, own, group, number)
        assert found == plain(scores, groups, own, group)
        return found

    @given(
        st.integers(0, 2**32 - 1),
        st.integers(1, 6),
        st.integers(1, 40),
        st.lists(st.sampled_from([0, 1, 2, 3, 6, 40, 70]), min_size=1, max_size=4),
    )
    @settings(max_examples=60, derandomize=True)
    def test_any(self, seed, rows, columns, sizes):
        draw = np.random.default_rng(seed)
        pool = np.concatenate([TRICKY, np.float32([np.inf, -np.inf, np.nan])])
        scores = draw.choice(pool[: draw.integers(2, len(pool) + 1)], (rows, columns))
        groups = draw.integers(0, len(sizes), rows)
        group = np.repeat(np.arange(len(sizes)), sizes)
        own = draw.choice(np.append(TRICKY, np.float32(np.inf)), len(group))
        self.check(scores, groups, own, group)

    @pytest.mark.parametrize("triples", [1, 2, 3, 13, 63, 64, 511, 512, 513, 514, 1500])
    @pytest.mark.parametrize("columns", [1, 127, 128, 129, 511, 512, 513, 1100])
    def test_so_many_bounds_and_scores(self, triples, columns):
        draw = np.random.default_rng(triples * columns)
        scores = draw.integers(-600, 600, (3, columns)).astype(np.float32)
        own = draw.permutation(np.arange(-750, 750))[:triples]
        self.check(
            scores, [0, 1, 0], own, draw.integers(0, 2, triples) if triples > 90 else own * 0
        )

    @given(
        st.integers(0, 2**32 - 1),
        st.sampled_from([1, 3, 40, 600]),
        st.sampled_from([30, 256, 700]),
        st.sampled_from([0.0, 1e-7, 1e-4, 1.0]),
        st.sampled_from([1e-42, 1e-20, 1.0, 1e30, 3e38]),
        st.sampled_from([0.0, 0.02, 0.5]),
    )
    @settings(max_examples=60, derandomize=True)
    def test_scores_too_near_for_their_level(self, seed, triples, columns, apart, size, odd):
        """Sixteen bits tell none, some or all of these apart; few of them tie, or most."""
        draw = np.random.default_rng(seed)
        with np.errstate(over="ignore"):
            near = (size * (1 + apart * draw.standard_normal(4 * columns))).astype(np.float32)
        scores = draw.choice(near, (4, columns))
        strange = draw.random(scores.shape) < odd
        scores[strange] = draw.choice(
            np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 3.4e38, -3.4e38]), int(strange.sum())
        )
        own = np.concatenate([draw.choice(near, triples), np.float32([np.inf, -np.inf, 0])])
        self.check(scores, [0, 0, 1, 1], own, draw.integers(0, 2, len(own)))

    @pytest.mark.parametrize("own", [0.0, -0.0])
    @pytest.mark.parametrize("triples", [1, 50])
    def test_both_zeros_are_one(self, own, triples):
        scores = [[0.0, -0.0, 1e-45, -1e-45, 1, -1]]
        found = self.check(scores, [0], [own] * triples, [0] * triples)
        assert found == [[2, 2]] * triples

    @pytest.mark.parametrize("triples", [1, 50])
    @pytest.mark.parametrize("value", [1.0, -1.0, 3e38, 1e-45, -1e-38, 1e-38])
    def test_neighbouring_floats_differ(self, value, triples):
        value = np.float32(value)
        near = [np.nextafter(value, np.float32(x)) for x in (np.inf, -np.inf)]
        scores = [[value, *near, near[0], value]]
        own = np.resize(np.float32([value, *near]), triples + 2)
        assert self.check(scores, [0], own, own * 0)[:3] == [[2, 2], [0, 2], [4, 1]]

    @pytest.mark.parametrize("triples", [1, 60])
    def test_the_largest_floats_and_infinities(self, triples):
        large = np.finfo(np.float32).max
        scores = [[large, -large, np.inf, -np.inf, 0, np.nan, large]]
        own = np.resize(np.float32([large, -large, 0.0]), triples + 2)
        assert self.check(scores, [0], own, own * 0)[:3] == [[1, 2], [4, 1], [3, 1]]

    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    def test_rows_of_one_infinity(self, value):
        assert self.check([[value] * 3], [0], [value, 0.0], [0, 0])[0] == [0, 3]

    def test_triples_crowded_apart_or_all_alike(self):
        draw = np.random.default_rng(1)
        near = draw.random(700).astype(np.float32)
        for far in (3e38, -3e38, 1e6):  # all others are left one bin
            own = np.append(near, np.float32(far))
            self.check(draw.choice(own, (2, 900)), [0, 0], own, own * 0)
        centres = np.float32([-5, 0, 1e-3, 4])
        own = (draw.choice(centres, 900) + draw.random(900) * 1e-5).astype(np.float32)
        scores = np.concatenate([own, draw.choice(centres, 300), np.float32([9, -9])])
        self.check(scores[None], [0], own, own * 0)
        for value in np.float32([0.0, -2.5, 3e38]):
            scores = np.float32([[value, value, -1, 1, np.nextafter(value, np.float32(9))]])
            self.check(scores, [0], np.full(100, value), np.zeros(100))

    def test_a_reach_beyond_all_floats_or_next_to_nothing(self):
        own = np.resize(np.float32([-3e38, 3e38, 0, 1, -1]), 150)
        found = self.check([own[:70], own[5:75]], [0, 0], own, own * 0)
        assert found[0][0] > 0
        own = np.resize(np.float32([0, 1e-45, 3e-45]), 150)
        self.check([[0, 1e-45, 3e-45, 1e-44, -1e-45]], [0], own, own * 0)

    def test_scores_in_a_far_part_of_many_bounds(self):
        """Only bounds within reach of the scores are compared: at either end, or none of them."""
        own = np.arange(0, 400, 0.5, dtype=np.float32)
        for low, high in (
            (-9, -1),
            (-5, 3),
            (100, 103),
            (0, 0),
            (399, 399),
            (390, 500),
            (450, 460),
        ):
            scores = np.arange(low, high + 1, 0.5)[None]
            self.check(scores, [0], own, own * 0)

    def test_no_scores_no_triples(self):
        self.check(np.full((2, 9), np.nan), [0, 0], [1.0, 2.0], [0, 0])
        self.check([[1.0, 2.0]], [1], [], [])
        self.check([[1.0, 2.0]], [1], [1.0], [0])

    def test_more_is_added_to_what_was_counted(self):
        thresholds = Thresholds.of(np.float32([1, 2]), np.array([0, 0]), 1)
        counts = thresholds.counts()
        for _ in range(3):
            count_given(np.float32([[1, 2, 2, 3]]), np.array([0]), thresholds.bounds, counts)
        other = thresholds.counts()
        count_given(np.float32([[2]]), np.array([0]), thresholds.bounds, other)
        assert counted(thresholds, counts, other) == [[10, 3], [3, 7]]


def test_equal_scores_are_one_bound_and_few_have_no_table():
    group = np.repeat([0, 1, 2, 3], [512, 513, 0, 600])
    own = np.arange(1625, dtype=np.float32)
    own[1025:] = np.resize(np.float32([5, 3, -0.0, 0.0]), 600)
    thresholds = Thresholds.of(own, group, 4)
    assert thresholds.bounds.bins.tolist() == [0, 4096, 0, 0]
    assert len(thresholds.bounds.table) == 4097
    assert (thresholds.bounds.values[thresholds.place] == own).all()
    assert thresholds.bounds.values[-3:].tolist() == [0, 3, 5]


def test_a_group_of_millions_of_triples():
    """Its bins are whole numbers in float32, which has 2²⁴ of them."""
    own = np.arange(2**21 + 5, dtype=np.float32)
    thresholds = Thresholds.of(own, np.zeros(len(own), dtype=np.int64), 1)
    assert thresholds.bounds.bins.tolist() == [2**24]
    counts = thresholds.counts()
    scores = np.concatenate([own[-300:], own[:100], np.float32([1e9, np.inf])])
    count_given(scores[None], np.array([0]), thresholds.bounds, counts)
    greater, equal = thresholds.result([counts])
    some = np.array([0, 1, 99, 100, 2**20, len(own) - 301, len(own) - 300, len(own) - 1])
    assert greater[some].tolist() == [(scores > score).sum() for score in own[some]]
    assert equal[some].tolist() == [(scores == score).sum() for score in own[some]]


@in_turn([(1, 1), (11, 15), (12, 17), (ROWS, COLUMNS), (ROWS + 1, COLUMNS + 1), (ROWS - 1, 1030)])
def test_rows_count_as_a_plain_loop(kind, rows, columns, mask):
    draw = np.random.default_rng(rows * columns)
    queries, entities = integers((rows, 3), 1), integers((columns, 3), 2)
    scores, hidden = block(kind, queries, entities), MASKS[mask](rows, columns, draw)
    scores[hidden] = np.nan
    groups = draw.integers(0, len(SIZES), rows)
    own, group = triples_of(scores[:, :40], groups, SIZES, draw)
    own = np.nan_to_num(own, nan=-1)
    thresholds = Thresholds.of(own, group, len(SIZES))
    counts, panels = thresholds.counts(), Panels.of(entities)
    count_rows(
        *(kind, padded(queries), rows, panels.blocks, panels.count),
        *(groups, masks_of(hidden), thresholds.bounds, counts),
    )
    assert counted(thresholds, counts) == plain(scores, groups, own, group)


@pytest.mark.parametrize("rows", [1, 5, ROWS, ROWS + 5])
@pytest.mark.parametrize("count", [1, 3, 60])
def test_nothing_beyond_the_last_entity_is_counted(rows, count):
    """The panels are filled with zeros, which would beat every score here."""
    for columns in (1, 15, 17, COLUMNS - 1, COLUMNS + 1):
        queries, entities = np.ones((rows, 1), np.float32), np.full((columns, 1), -1, np.float32)
        own = np.resize(np.float32([-1, -2, 0]), count)
        thresholds = Thresholds.of(own, np.zeros(count, dtype=np.int64), 1)
        counts, panels = thresholds.counts(), Panels.of(entities)
        nothing = masks_of(np.zeros((rows, columns), dtype=bool))
        count_rows(
            *(DOT, padded(queries), rows, panels.blocks, panels.count),
            *(np.zeros(rows, dtype=np.int64), nothing, thresholds.bounds, counts),
        )
        each = {-1: [0, rows * columns], -2: [rows * columns, 0], 0: [0, 0]}
        assert counted(thresholds, counts) == [each[value] for value in own.astype(int)]


@in_turn(
    [
        (1, 1),
        (7, 17),
        (9, 31),
        (BOTH_ROWS, BOTH_COLUMNS),
        (BOTH_ROWS + 1, BOTH_COLUMNS + 1),
        (BOTH_ROWS + 8, 2 * BOTH_COLUMNS + 18),
    ]
)
def test_both_ways_count_as_a_plain_loop(kind, rows, columns, mask):
    draw = np.random.default_rng(rows + columns)
    first_group = 3
    queries, entities = integers((rows, 3), 3), integers((columns, 3), 4)
    scores, hidden = block(kind, queries, entities), MASKS[mask](rows, columns, draw)
    scores[hidden] = np.nan
    row_groups, column_groups = np.arange(rows) + first_group, np.arange(columns)
    sizes = [draw.choice(SIZES, rows + first_group + 2), draw.choice(SIZES, columns)]
    sizes[1][-1] = 5
    triples = [
        triples_of(table, groups, size, draw)
        for table, groups, size in zip(
            (scores, scores.T), (row_groups, column_groups), sizes, strict=True
        )
    ]
    triples = [(np.nan_to_num(own, nan=-1), group) for own, group in triples]
    thresholds = [
        Thresholds.of(*both, len(size)) for both, size in zip(triples, sizes, strict=True)
    ]
    counts, panels = [t.counts() for t in thresholds], Panels.of(entities)
    count_both(
        *(kind, padded(queries), rows, first_group, panels.blocks, panels.count),
        masks_of(hidden),
        *(thresholds[0].bounds, counts[0], thresholds[1].bounds, counts[1]),
    )
    assert counted(thresholds[0], counts[0]) == plain(scores, row_groups, *triples[0])
    assert counted(thresholds[1], counts[1]) == plain(scores.T, column_groups, *triples[1])


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(KINDS.values())),
    st.integers(1, 14),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.1, 0.6, 1.0]),
)
@settings(max_examples=40, derandomize=True)
def test_any_small_block_both_ways(seed, kind, rows, columns, share):
    draw = np.random.default_rng(seed)
    queries, entities = integers((rows, 2), seed + 1), integers((columns, 2), seed + 2)
    hidden = draw.random((rows, columns)) < share
    scores = block(kind, queries, entities)
    scores[hidden] = np.nan
    everything = np.arange(rows), np.arange(columns)
    groups = [draw.integers(0, n, draw.choice([1, 6, 200])) for n in (rows, columns)]
    own = [draw.integers(-6, 7, len(g)).astype(np.float32) for g in groups]
    thresholds = [
        Thresholds.of(o, g, n) for o, g, n in zip(own, groups, (rows, columns), strict=True)
    ]
    counts, panels = [t.counts() for t in thresholds], Panels.of(entities)
    count_both(
        *(kind, padded(queries), rows, 0, panels.blocks, panels.count, masks_of(hidden)),
        *(thresholds[0].bounds, counts[0], thresholds[1].bounds, counts[1]),
    )
    for table, which, t, c, o, g in zip(
        (scores, scores.T), everything, thresholds, counts, own, groups, strict=True
    ):
        assert counted(t, c) == plain(table, which, o, g)
    by_rows = thresholds[0].counts()
    count_rows(
        *(kind, padded(queries), rows, panels.blocks, panels.count, everything[0]),
        *(masks_of(hidden), thresholds[0].bounds, by_rows),
    )
    assert counted(thresholds[0], by_rows) == counted(thresholds[0], counts[0])
