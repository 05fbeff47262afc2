"""Where ReliK knows nothing, the study's statistics say so: p-values are uniform.

Each check is Kolmogorov and Smirnov's at 0.1%, at a fixed seed. Partial correlations are in
test_partial_correlation.py.
"""

import numpy as np
import pandas as pd
from scipy import stats

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.confounders import factor_tests
from kgdash.studies.correlation.correlation import correlations

#: triples, and groups that share none of them
TRIPLES, GROUPS = 600, 30


def uniform(p_values):
    return stats.kstest(p_values, "uniform").pvalue > 0.001


def test_means_over_groups_that_share_no_triple():
    """Skewed figures as ReliK's, independent of the ranks: groups predict nothing."""
    rng = np.random.default_rng(21)
    found = {"pearson": [], "spearman": [], "kendall": []}
    for _ in range(120):
        relik = 1.0 / np.ceil(rng.pareto(0.7, TRIPLES) * 10)
        ranks = 1.0 / np.ceil(rng.pareto(0.9, TRIPLES) * 3)
        groups = rng.permutation(np.repeat(np.arange(GROUPS), TRIPLES // GROUPS))
        sizes = np.bincount(groups)
        figures = {
            "relik": np.bincount(groups, relik) / sizes,
            "tail_mrr": np.bincount(groups, ranks) / sizes,
        }
        for row in correlations(
            pd.DataFrame(figures), ["tail_mrr"], Bootstrap(resamples=2)
        ).itertuples():
            found[row.coefficient].append(row.p)
    assert {name: uniform(values) for name, values in found.items()} == dict.fromkeys(found, True)


def test_groups_that_share_triples_are_not_independent():
    """The check above can fail: overlapping windows make small p-values far too often."""
    rng, p_values = np.random.default_rng(22), []
    window = np.ones(200) / 200
    for _ in range(60):
        relik, ranks = rng.normal(size=(2, TRIPLES))
        starts = np.linspace(0, TRIPLES - 200, GROUPS).astype(int)
        x, y = (np.convolve(values, window, "valid")[starts] for values in (relik, ranks))
        found = correlations(
            pd.DataFrame({"relik": x, "tail_mrr": y}), ["tail_mrr"], Bootstrap(resamples=2)
        )
        p_values.append(found["p"].iloc[0])
    assert not uniform(p_values)
    assert np.mean(np.array(p_values) < 0.05) > 0.2


def test_factors_of_a_relik_that_follows_none():
    """Holm's correction keeps the chance of any false finding below 5%."""
    rng, raw, any_found = np.random.default_rng(23), [], 0
    for _ in range(40):
        table = pd.DataFrame(
            {name: rng.integers(0, 400, 80) for name in ("head_degree", "tail_degree", "frequency")}
        )
        table["relation"] = rng.permutation(80)
        for end in ("head", "tail"):
            table[end] = rng.permutation(80)
            table[f"{end}_rank"] = np.ceil(rng.pareto(0.7, 80) * 10)
        table["entity_degree"] = table[["head_degree", "tail_degree"]].mean(axis=1)
        for name in ("cardinality", "pattern"):
            table[name] = pd.Categorical(rng.choice(["a", "b", "c"], 80))
        table["relik"] = (1 / table["head_rank"] + 1 / table["tail_rank"]) / 2
        found = factor_tests(table, Bootstrap(resamples=2))
        raw.append(found["p"].iloc[0])
        any_found += bool((found["p_holm"] < 0.05).any())
    assert uniform(raw)
    assert stats.binomtest(any_found, 40, 0.05, alternative="greater").pvalue > 0.001
