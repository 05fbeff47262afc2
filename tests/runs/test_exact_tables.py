"""Known triples and others, asked for together: each by its own way, all in their order."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.files.table_cache import list_cache
from kgdash.graph import FILTERS
from kgdash.graph.known_triples import SIDES
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_exact import relik_exact
from tests.support.fakes import array, fake_run, make_graph, random_scorer, worlds


def world_run(world):
    scorer, parts, evaluated = world
    graph = make_graph(
        parts[0] + [(0, 0, 0)], *parts[1:], scorer.num_entities, scorer.num_relations
    )
    return fake_run(graph, scorer), array(evaluated)


@given(worlds(), st.sampled_from(list(FILTERS)), st.booleans())
@settings(max_examples=60)
def test_equal_to_counting_the_set_at_once(world, filter, mixed):
    run, triples = world_run(world)
    pd.testing.assert_frame_equal(
        run.relik(triples=triples),
        relik_values(relik_exact(run.scorer, triples, run.graph.known())),
    )
    sides = list(SIDES)
    known = run.graph.known_with(triples[:0] if mixed else triples, FILTERS[filter])
    expected = rank_triples(run.scorer, triples, known if filter != "none" else None, sides)
    rank = run.ranks_of_mixed if mixed else run.ranks
    pd.testing.assert_frame_equal(rank(triples=triples, filter=filter, sides=sides), expected)


def test_one_table_of_relik_whoever_asks(keep_all):
    rng = np.random.default_rng(2)
    graph = make_graph(rng.integers(0, (9, 3, 9), (40, 3)), [(1, 1, 2)], [(3, 2, 3)], 9, 3)
    run = fake_run(graph, random_scorer(9, 3))
    run.relik()
    run.relik("train")
    run.relik(triples=graph.all_triples[::3])
    (row,) = list_cache().to_dict("records")
    assert (row["kind"], row["method"]) == ("relik", "exact")
    assert row["triples"] == len(graph.all_triples)
    other = fake_run(graph, run.scorer)
    run.scorer.asked.clear()
    pd.testing.assert_frame_equal(other.relik("valid"), run.relik("valid"))
    assert run.scorer.asked == []
