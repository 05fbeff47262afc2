"""How long comparing runs takes, against SciPy's own tests pair by pair.

    python benchmarks/comparison.py [RUN RUN ...]

Without runs: random ranks of six runs, of FB15k-237's shape, as `breakdowns.py` makes them; what
they mean does not change what they cost. SciPy's bootstrap and permutation test run with 500 draws
of one pair and are extrapolated to all pairs and 9,999 draws.
"""

import sys
from itertools import combinations

import breakdowns
import measure
import numpy as np
import pandas as pd
from scipy import stats

import kgdash
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import find_communities
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import RESAMPLES, paired_tests
from kgdash.studies.comparison.community_differences import (
    community_differences,
    entity_differences,
)
from kgdash.studies.comparison.comparison import (
    by_group,
    compared_ranks,
    overall,
    pair_of,
    reciprocal_ranks,
)
from kgdash.studies.comparison.run_pairs import (
    rank_grid,
    rank_pairs,
    relation_sign_tests,
    triple_differences,
)

SAMPLED = 500


def random_runs(count: int = 6) -> tuple[dict[str, pd.DataFrame], KnowledgeGraph]:
    """Make ranks of several runs on the same random triples."""
    rng = np.random.default_rng(0)
    graph = breakdowns.random_graph(rng)
    first = breakdowns.random_ranks(rng, 40_876)
    columns = ["optimistic", "realistic", "pessimistic"]
    others = {f"run {i}": breakdowns.random_ranks(rng, 40_876)[columns] for i in range(count)}
    return {name: first.assign(**dict(ranks.items())) for name, ranks in others.items()}, graph


def scipy_seconds(values: np.ndarray) -> tuple[float, float]:
    """Return what SciPy's bootstrap and permutation test of one pair take, at 9,999 draws."""
    a, b = values[:, 0], values[:, 1]
    bootstrap = measure.seconds(
        lambda: stats.bootstrap(
            (a, b),
            lambda x, y, axis: (x - y).mean(axis=axis),
            paired=True,
            vectorized=True,
            method="percentile",
            n_resamples=SAMPLED,
            batch=50,
        )
    )
    permutation = measure.seconds(
        lambda: stats.permutation_test(
            (a - b,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=SAMPLED,
            batch=50,
        )
    )
    return bootstrap * RESAMPLES / SAMPLED, permutation * RESAMPLES / SAMPLED


def print_times(ranks: dict[str, pd.DataFrame], graph: KnowledgeGraph) -> None:
    """Print what each table of the page Compare runs takes."""
    names = list(ranks)
    values = reciprocal_ranks(ranks)
    annotated, communities = add_rank_facts(ranks[names[0]], graph), find_communities(graph)
    pair = pair_of(ranks, *names[:2])
    pairs = rank_pairs(pair)
    for what, work in {
        "every metric": lambda: overall(ranks),
        "MRR by relation": lambda: by_group(annotated, ranks, "relation"),
        "median by relation": lambda: by_group(annotated, ranks, "relation", "median_rank"),
        "sign tests": lambda: relation_sign_tests(pair),
        "pairs of ranks": lambda: rank_pairs(pair),
        "grid": lambda: rank_grid(pairs, graph.num_entities),
        "triples": lambda: triple_differences(pair),
        "entities": lambda: entity_differences(pair),
        "communities, given": lambda: community_differences(pair, graph, communities),
    }.items():
        print(f"    {what:20} {measure.median_seconds(work, 3):8.3f} s", flush=True)
    number = len(list(combinations(names, 2)))
    seed = iter(range(1, 100))
    own = measure.seconds(
        lambda: paired_tests(values, names, Bootstrap(resamples=RESAMPLES, seed=next(seed)))
    )
    print(f"    tests, {number:2} pairs      {own:8.3f} s, {RESAMPLES:,} draws each")
    bootstrap, permutation = scipy_seconds(values)
    whole = number * (bootstrap + permutation)
    print(f"    SciPy, one pair      {bootstrap:8.1f} s bootstrap, {permutation:.1f} s permutation")
    print(f"    SciPy, all pairs     {whole:8.0f} s: {whole / own:,.0f}×", flush=True)
    found = measure.seconds(lambda: find_communities(graph, seed=1))
    print(f"    finding communities  {found:8.3f} s")


if __name__ == "__main__":
    print(measure.machine())
    if sys.argv[1:]:
        runs = [kgdash.load(name) for name in sys.argv[1:]]
        given, of_graph = compared_ranks(runs), runs[0].graph
    else:
        given, of_graph = random_runs()
    triples = len(next(iter(given.values()))) // 2
    print(f"{len(given)} runs, {triples:,} triples:")
    print_times(given, of_graph)
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
