"""Confounders of ReliK: against plain counting, SciPy, and planted causes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.class_differences import kruskal_wallis
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.partial_correlation import Controls, partial_correlations
from kgdash.studies.correlation import confounders as module
from kgdash.studies.correlation.confounder_verdict import describe_partials
from kgdash.studies.correlation.confounders import (
    CLASSES,
    COUNTS,
    cached_tests,
    class_table,
    factor_tests,
    triple_factors,
    triple_partials,
)
from kgdash.studies.correlation.subgraph_confounders import (
    mean_log_degrees,
    subgraph_factors,
    subgraph_partials,
)
from kgdash.studies.reliability.dealt_relik import AMONG, DealtRelik, dealt_means
from kgdash.studies.reliability.subgraph_table import draw_subgraphs, score_subgraphs

#: counts that are taken out of partial correlations
COUNTED = ("head_degree", "tail_degree", "frequency")


@pytest.fixture(scope="module")
def factors(umls):
    return triple_factors(umls)


def planted(rows=400, noise=0.1, seed=0):
    """A table in which ReliK = head degree^-½ · (3 if 1-1), but for noise, and nothing else."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {name: rng.integers(0, 500, size=rows) for name in ("head_degree", "tail_degree")}
    )
    table["entity_degree"] = table.mean(axis=1)
    table["frequency"] = rng.integers(1, 60, size=rows)
    kinds = ("cardinality", ("1-1", "n-n", "not in train")), ("pattern", ("symmetric", "none"))
    for name, names in kinds:
        table[name] = pd.Categorical(rng.choice(names[:2], rows), names, ordered=True)
    table["relation"] = rng.integers(0, 5, size=rows)
    for end in ("head", "tail"):
        table[end] = rng.integers(0, 90, size=rows)
        table[f"{end}_rank"] = rng.integers(1, 40, size=rows)
    boost = np.where(table["cardinality"] == "1-1", 3.0, 1.0)
    table["relik"] = boost * (1.0 + table["head_degree"]) ** -0.5
    table["relik"] *= 10 ** rng.normal(0, noise, rows) if noise else 1.0
    return table


def test_factors_by_counting(umls, factors):
    train = [tuple(row) for row in umls.graph.splits["train"].tolist()]
    ranks, relik = umls.ranks(), umls.relik()
    assert len(factors) == len(umls.graph.splits["test"])
    for number in (0, 7, 300):
        row = factors.iloc[number]
        degrees = [sum(row[end] in (h, t) for h, _, t in train) for end in ("head", "tail")]
        assert [row["head_degree"], row["tail_degree"]] == degrees
        assert row["entity_degree"] == np.mean(degrees)
        assert row["frequency"] == sum(r == row["relation"] for _, r, _ in train)
        same = ranks[(ranks[["head", "relation", "tail"]] == row[:3].to_list()).all(axis=1)]
        assert row["reciprocal_rank"] == pytest.approx((1 / same["realistic"]).mean())
        assert row["relik"] == relik["relik"].iloc[number]
    other = triple_factors(umls, "valid", "tail", "pessimistic")
    tails = umls.ranks("valid").query("side == 'tail'")["pessimistic"]
    np.testing.assert_allclose(other["reciprocal_rank"], 1 / tails)


def test_factor_tests_are_scipy_s(factors):
    found = factor_tests(factors, bootstrap=Bootstrap(resamples=20)).set_index("factor")
    for name in COUNTS:
        expected = stats.spearmanr(factors["relik"], factors[name])
        assert found.loc[name, ["value", "p"]].tolist() == pytest.approx(list(expected))
        assert found.loc[name, "low"] < found.loc[name, "value"] < found.loc[name, "high"]
    for name in ("cardinality", "pattern"):
        groups = [part["relik"] for _, part in factors.groupby(name, observed=True)]
        h, p = stats.kruskal(*groups)
        assert found.loc[name, "value"] == pytest.approx(h / (len(factors) - 1))
        assert found.loc[name, "p"] == pytest.approx(p)
    np.testing.assert_array_equal(found["p_holm"], holm(found["p_permutation"].to_numpy()))


def test_how_far_a_count_is_behind_the_greatest():
    table = planted()
    bootstrap = Bootstrap(0.9, resamples=40, seed=3)
    found = factor_tests(table, bootstrap).set_index("factor")
    assert found.loc[list(COUNTS), "value"].abs().idxmax() == "head_degree"
    assert found.loc[["head_degree", *CLASSES], ["behind_low", "p_behind"]].isna().all(axis=None)
    signs = np.sign(found.loc[list(COUNTS), "value"].to_numpy(dtype=float))

    def behind(relik, counts):
        sizes = signs * [stats.spearmanr(relik, counts[name]).statistic for name in COUNTS]
        return sizes[0] - sizes[1:]

    rng = np.random.default_rng(3)
    draws = map(table.iloc.__getitem__, rng.integers(0, len(table), size=(40, len(table))))
    drawn = [behind(rows["relik"], rows) for rows in draws]
    ends = found.loc[list(COUNTS[1:]), ["behind_low", "behind_high"]].to_numpy(dtype=float)
    np.testing.assert_allclose(ends, np.quantile(drawn, [0.05, 0.95], axis=0).T)
    none = factor_tests(table.assign(relik=0.5), bootstrap)
    assert none[["value", "behind_low", "p_behind"]].isna().all(axis=None)


def test_factors_beside_relik_that_is_dealt_anew(factors, monkeypatch):
    for most in ("DEALS", "FEWEST_DEALS"):
        monkeypatch.setattr(f"kgdash.studies.reliability.dealt_relik.{most}", 99)
    found = factor_tests(factors, bootstrap=Bootstrap(resamples=2, seed=6))
    sizes = found["value"].abs().to_numpy()
    signs, greatest = np.sign(found["value"][: len(COUNTS)]), np.argmax(sizes[: len(COUNTS)])
    reached, further = [], []
    for among in AMONG:
        values, behind = [], []
        for relik in np.concatenate(list(DealtRelik(factors, among, seed=6))):
            of_counts = [stats.spearmanr(relik, factors[name]).statistic for name in COUNTS]
            of_classes = [kruskal_wallis(relik, factors[name])[0] for name in CLASSES]
            values.append([*of_counts, *of_classes])
            behind.append((signs * of_counts)[greatest] - signs * of_counts)
        reached.append((np.abs(values) >= sizes - 1e-12).sum(axis=0))
        gaps = (sizes[greatest] - sizes)[: len(COUNTS)]
        further.append((np.abs(behind) >= gaps - 1e-12).sum(axis=0))
    expected = np.where(gaps == 0, np.nan, (1 + np.max(further, axis=0)) / 100)
    np.testing.assert_allclose(found["p_behind"], [*expected, np.nan, np.nan])
    assert len(values) == 99
    np.testing.assert_allclose(found["p_permutation"], (1 + np.max(reached, axis=0)) / 100)
    assert (found["p_permutation"] > found["p"]).all(), "triples of one entity are alike"


def test_a_factor_that_is_the_same_everywhere_has_no_test():
    found = factor_tests(planted().assign(frequency=3), bootstrap=Bootstrap(resamples=5)).set_index(
        "factor"
    )
    assert found.loc["frequency", ["value", "p", "p_holm", "low"]].isna().all()
    assert found.loc["head_degree", "value"] < -0.4
    one_class = planted()
    one_class["pattern"] = pd.Categorical(["none"] * len(one_class))
    assert np.isnan(factor_tests(one_class, bootstrap=Bootstrap(resamples=5))["value"].iloc[-1])


def test_classes(factors):
    found = class_table(factors, "pattern")
    assert found["triples"].sum() == len(factors)
    for row in found.to_dict("records"):
        part = factors[factors["pattern"] == row["class"]]
        assert row["relations"] == part["relation"].nunique()
        assert row["mean"] == pytest.approx(part["relik"].mean())
        assert row["median"] == pytest.approx(part["relik"].median())
        assert (row["least"], row["greatest"]) == (part["relik"].min(), part["relik"].max())
    with pytest.raises(KgdashError, match="unknown class 'degree'"):
        class_table(factors, "degree")


def test_partials_over_triples(factors):
    found = triple_partials(factors, bootstrap=Bootstrap(resamples=10))
    logs = {n: np.log10(1 + factors[n].to_numpy()) for n in COUNTED}
    for row in found.to_dict("records"):
        names = {
            "none": (),
            "degree": COUNTED[:2],
            "frequency": COUNTED[2:],
            "degree and frequency": COUNTED,
        }[row["controls"]]
        expected = partial_correlations(
            factors["relik"].to_numpy(),
            factors["reciprocal_rank"].to_numpy(),
            Controls({n: logs[n] for n in names}, {"these": names}),
            row["coefficient"],
            Bootstrap(resamples=1),
        )[0]
        assert (row["value"], row["p"]) == pytest.approx((expected.value, expected.p))
        assert row["freedom"] == len(factors) - 2 - len(names)
    np.testing.assert_array_equal(found["p_holm"], holm(found["p_permutation"].to_numpy()))


def test_a_correlation_by_degree_alone_goes_when_degree_is_taken_out():
    rng = np.random.default_rng(4)
    degrees = rng.normal(2, 0.5, size=200)
    figures = pd.DataFrame({"relik": -degrees + rng.normal(0, 0.2, 200)})
    figures["tail_mrr"] = -degrees + rng.normal(0, 0.2, 200)
    figures.loc[3, "tail_mrr"] = np.nan
    figures["mean_log_degree"] = degrees
    dealt = [rng.normal(size=(99, 200))]
    found = subgraph_partials(figures, dealt, ["tail_mrr"], bootstrap=Bootstrap(resamples=200))
    rows = found.set_index(["coefficient", "controls"])
    for coefficient in ("spearman", "pearson"):
        assert rows.loc[(coefficient, "none"), "value"] > 0.7
        assert rows.loc[(coefficient, "none"), "rows"] == 199
        assert rows.loc[(coefficient, "none"), "p_permutation"] == 0.01
        last = rows.loc[(coefficient, "degree")]
        assert last["low"] < 0 < last["high"]
    degree = found[found["controls"] == "degree"]
    np.testing.assert_array_equal(degree["p_holm"], holm(degree["p_permutation"].to_numpy()))
    assert "beyond degree is not told from chance" in describe_partials(found)
    with pytest.raises(KgdashError, match="unknown task 'mrr'"):
        subgraph_partials(figures, dealt, ["mrr"])
    with pytest.raises(KgdashError, match="at least one task"):
        subgraph_partials(figures, dealt, [])


def test_mean_degrees_of_subgraphs(umls):
    parts = [umls.subgraph(entity, size=5) for entity in (0, 3)]
    train = umls.graph.splits["train"].tolist()
    for part, found in zip(parts, mean_log_degrees(parts), strict=True):
        degrees = [sum(e in (h, t) for h, _, t in train) for e in part.entities.tolist()]
        assert found == pytest.approx(np.mean([np.log10(1 + d) for d in degrees]))
    assert mean_log_degrees([]).shape == (0,)
    table, dealt = subgraph_factors(umls, SubgraphSampling(4, 6, seed=2))
    parts = draw_subgraphs(umls, SubgraphSampling(4, 6, seed=2))
    np.testing.assert_array_equal(table["mean_log_degree"], mean_log_degrees(parts))
    pd.testing.assert_frame_equal(
        table.drop(columns="mean_log_degree"), score_subgraphs(umls, parts)
    )
    np.testing.assert_array_equal(dealt, dealt_means(umls, parts, seed=2))


def test_tables_are_kept(umls, factors, keep_all, monkeypatch):
    first = cached_tests(umls, "factors", factors)
    monkeypatch.setattr(module, "factor_tests", lambda *_, **__: pytest.fail("computed again"))
    pd.testing.assert_frame_equal(cached_tests(umls, "factors", factors), first)
    for changed in (
        {"bootstrap": Bootstrap(0.9)},
        {"bootstrap": Bootstrap(seed=1)},
        {"table": factors.assign(relik=0.5)},
    ):
        with pytest.raises(pytest.fail.Exception, match="computed again"):
            cached_tests(**{"run": umls, "name": "factors", "table": factors, **changed})
