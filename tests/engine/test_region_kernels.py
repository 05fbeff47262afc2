"""Growing and scanning groups of entities, against plain Python by the definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.engine.region_kernels import Incidence, grow_groups, scan_groups, shuffle_within

ENTITIES = 7

pairs = st.lists(
    st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, ENTITIES - 1)), min_size=1, max_size=14
)


def neighbours_of(ends):
    """Count the triples between each two entities."""
    times = np.zeros((ENTITIES, ENTITIES))
    for a, b in ends:
        if a != b:
            times[a, b] += 1
            times[b, a] += 1
    return times


def grown(ends, most=5):
    times = neighbours_of(ends)
    rows, columns = np.nonzero(times)
    starts = np.searchsorted(rows, np.arange(ENTITIES + 1)).astype(np.int64)
    out = np.empty((ENTITIES, most), dtype=np.int64)
    seeds = np.arange(ENTITIES)
    grow_groups(starts, columns, times[rows, columns], times.sum(axis=1), seeds, out)
    return out


@settings(max_examples=40)
@given(pairs)
def test_growing(ends):
    """Each step takes the neighbour with the greatest part of its triples inside."""
    times = neighbours_of(ends)
    for seed, row in enumerate(grown(ends)):
        group = [seed]
        while len(group) < 5:
            joined = times[group].sum(axis=0)
            left = [e for e in range(ENTITIES) if e not in group and joined[e]]
            if not left:
                break
            group.append(min(left, key=lambda e: (-joined[e] / times[e].sum(), -joined[e], e)))
        assert row.tolist() == group + [-1] * (5 - len(group))


@settings(max_examples=30)
@given(pairs, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_scanning(ends, fewest, seed):
    values = np.random.default_rng(seed).normal(size=(len(ends), 2)).astype(np.float32)
    ends = np.array(ends)
    order = grown(ends)
    incident = [
        [(b if a == e else a, n) for n, (a, b) in enumerate(ends.tolist()) if e in (a, b)]
        for e in range(ENTITIES)
    ]
    starts = np.cumsum([0, *map(len, incident)])
    others, units = np.array([pair for of in incident for pair in of]).T
    scores = np.empty((ENTITIES, 2, 2))
    sizes = np.empty(scores.shape, dtype=np.int64)
    scan_groups(order, Incidence(starts, others, units), fewest, values, scores, sizes)
    for row in range(ENTITIES):
        for column in range(2):
            found = {}
            for size in range(fewest, int((order[row] >= 0).sum()) + 1):
                inside = np.isin(ends, order[row, :size]).all(axis=1)
                n = inside.sum()
                if 0 < n < len(ends):
                    total = values[inside, column].astype(float).sum()
                    found[size] = total / math.sqrt(n * (1 - n / len(ends)))
            for side, best in enumerate((max, min)):
                score, size = scores[row, side, column], sizes[row, side, column]
                if found:
                    assert score == pytest.approx(best(found.values()), rel=1e-5, abs=1e-6)
                    assert found[size] == pytest.approx(score, rel=1e-5, abs=1e-6)
                else:
                    assert np.isnan(score)
                    assert size == 0


def test_shuffling_stays_within_and_is_fair():
    """Each order of three values comes as often as any other (χ² at 0.1%), two stay apart."""
    from scipy.stats import chisquare

    values = np.array([1, 2, 3, 10, 20], dtype=np.float32)
    members, starts = np.array([4, 0, 2, 1, 3]), np.array([0, 3, 5])
    out, counts = np.empty(5, dtype=np.float32), {}
    for state in np.random.SeedSequence(4).generate_state(3000, np.uint64):
        shuffle_within(values, members, starts, state, out)
        assert sorted(out[[4, 0, 2]]) == sorted(values[[4, 0, 2]])
        assert sorted(out[[1, 3]]) == sorted(values[[1, 3]])
        counts[tuple(out)] = counts.get(tuple(out), 0) + 1
    assert len(counts) == 12
    assert chisquare(list(counts.values())).pvalue > 0.001
