"""Where the entities of a drawing are: the same each time, and they stay."""

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from kgdash.charts.graph_layout import layout, pairs_of


def pairs(edges) -> pd.DataFrame:
    rows = pd.DataFrame(edges, columns=["head", "tail"]).assign(relation=0, relik=0.5)
    return pairs_of(rows)


def two_cliques() -> tuple[np.ndarray, pd.DataFrame]:
    first, second = (
        [(a, b) for a in part for b in part if a < b] for part in ([0, 2, 4, 6], [1, 3, 5])
    )
    return np.arange(7), pairs([*first, *second, (0, 1)])


def test_communities_come_largest_first_and_those_of_most_neighbours_first():
    placed = layout(*two_cliques())
    assert placed.order == (0, 2, 4, 6, 1, 3, 5)
    assert placed.groups == {0: 0, 2: 0, 4: 0, 6: 0, 1: 1, 3: 1, 5: 1}


def test_a_dense_part_stands_on_a_circle_in_that_order():
    nodes = np.arange(6)
    placed = layout(nodes, pairs([(a, b) for a in range(6) for b in range(a)]))
    assert placed.shape == "circle"
    turns = [np.arctan2(*placed.positions[e]) % (2 * np.pi) for e in placed.order]
    np.testing.assert_allclose(turns, 2 * np.pi * np.arange(6) / 6, atol=1e-12)


def test_a_sparse_part_is_drawn_by_springs_the_same_each_time():
    edges = pairs(list(nx.path_graph(8).edges))
    first, again = layout(np.arange(8), edges), layout(np.arange(8), edges)
    assert first.shape == "springs"
    assert first == again


@pytest.mark.parametrize("chords", [0, 12])
def test_what_was_placed_stays_and_what_is_new_has_a_place_of_its_own(chords):
    ring = list(nx.circulant_graph(8, [1, 2] if chords else [1]).edges)
    before = layout(np.arange(8), pairs(ring))
    after = layout(np.arange(10), pairs([*ring, (8, 0), (9, 0)]), before)
    assert after.shape == before.shape
    assert {e: after.positions[e] for e in range(8)} == before.positions
    assert len(set(after.positions.values())) == 10
    assert set(after.order) == set(range(10))
    assert after.groups.keys() == set(range(10))


def test_a_large_part_is_discs_that_do_not_meet():
    rng, size = np.random.default_rng(0), 30
    inside = [
        (size * g + a, size * g + b) for g in range(5) for a, b in combinations(range(size), 2)
    ]
    kept = rng.choice(len(inside), 900, replace=False)
    edges = [inside[i] for i in kept] + [(size * g, size * (g + 1)) for g in range(4)]
    placed = layout(np.arange(5 * size), pairs(edges))
    assert placed.shape == "discs"
    places = np.array([placed.positions[e] for e in range(5 * size)])
    groups = np.array([placed.groups[e] for e in range(5 * size)])
    assert len(set(groups.tolist())) == 5
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    apart = far[groups[:, None] != groups[None]].min()
    nearest = np.where(far > 0, far, np.inf).min(axis=1)
    assert apart > nearest.max()
    assert nearest.min() > 0.5


def test_pairs_are_those_of_pandas_groups():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.integers(0, 6, (80, 2)), columns=["head", "tail"])
    rows["relik"] = np.where(rng.random(80) < 0.3, np.nan, rng.random(80))
    ends = np.sort(rows[["head", "tail"]], axis=1)
    grouped = rows.assign(a=ends[:, 0], b=ends[:, 1]).groupby(["a", "b"], as_index=False)
    expected = grouped.agg(relik=("relik", "mean"), triples=("relik", "size"))
    assert expected["relik"].isna().any()
    pd.testing.assert_frame_equal(pairs_of(rows), expected, check_exact=False)
    assert pairs_of(rows[:0]).empty
