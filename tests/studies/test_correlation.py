"""The correlation study: against the figures of single subgraphs, SciPy, and chance."""

import numpy as np
import pandas as pd
import pytest
from fakes import fake_run, make_graph, random_scorer
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.studies.correlation import (
    TASKS,
    _resampled_tau,
    correlations,
    default_size,
    draw_subgraphs,
    study,
    subgraph_figures,
)
from kgdash.studies.local import compare


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-distmult")


@pytest.mark.parametrize("evaluated", ["test", "all"])
def test_figures_are_those_of_each_subgraph(umls, evaluated):
    subgraphs = draw_subgraphs(umls, 6, 12, seed=3)
    table = subgraph_figures(umls, subgraphs, evaluated)
    assert len(table) == 6
    for part, row in zip(subgraphs, table.to_dict("records"), strict=True):
        single = compare(umls, part, evaluated)
        assert (row["seed_entity"], row["entities"]) == (part.seed_entity, len(part.entities))
        assert row["triples"] == single.figures["relik"][1]
        assert row["evaluated"] == single.figures["tail_mrr"][1]
        for name, value in (
            ("relik", single.figures["relik"][0]),
            *((m, single.figures[m][0]) for m in ("head_mrr", "tail_mrr", "both_mrr")),
            ("relation_mrr", single.figures["relation_mrr"][0]),
        ):
            assert row[name] == pytest.approx(value, nan_ok=True)
        ranks = single.triples[["head_rank", "tail_rank"]].dropna()
        if len(ranks):
            assert row["tail_hits_at_10"] == pytest.approx((ranks["tail_rank"] <= 10).mean())
            assert row["both_hits_at_10"] == pytest.approx((ranks <= 10).to_numpy().mean())


def test_parts_without_triples_are_nan_and_left_out():
    graph = make_graph([(0, 0, 1), (2, 0, 3)], test=[(1, 0, 0)], entities=6)
    run = fake_run(graph, random_scorer(6, 1))
    subgraphs = [run.subgraph(e, "neighbourhood", 2) for e in (0, 2, 4)]
    table = subgraph_figures(run, subgraphs)
    assert table["triples"].tolist() == [2, 1, 0]
    assert table["evaluated"].tolist() == [1, 0, 0]
    assert table["relik"].isna().tolist() == [False, False, True]
    assert table["tail_mrr"].isna().tolist() == [False, True, True]
    found = correlations(table)
    assert (found["subgraphs"] == 1).all()
    assert (found["left_out"] == 2).all()
    assert found[["value", "p", "low", "high"]].isna().all(axis=None)
    alone = subgraph_figures(run, subgraphs[2:])
    assert alone[["relik", *TASKS]].isna().all(axis=None)


def test_drawing(umls):
    one, same, other = (draw_subgraphs(umls, 20, 9, seed=s) for s in (1, 1, 2))
    assert [p.entities.tolist() for p in one] == [p.entities.tolist() for p in same]
    assert [p.seed_entity for p in one] != [p.seed_entity for p in other]
    assert len({p.seed_entity for p in one}) == 20
    assert {len(p.entities) for p in one} == {9}
    assert len(draw_subgraphs(umls, 1, method="neighbourhood", hops=2)[0].entities) == 60
    assert default_size(umls) == 60
    graph = make_graph([(0, 0, 1)], entities=5)
    few = draw_subgraphs(fake_run(graph, random_scorer(5, 1)), 7)
    assert {p.seed_entity for p in few} == {0, 1}


def figures(relik, **tasks):
    return pd.DataFrame({"relik": relik, **tasks})


def test_coefficients_are_scipy_s():
    rng = np.random.default_rng(0)
    x = rng.random(40)
    y = x + rng.normal(size=40) * 0.3
    y[3] = np.nan
    found = correlations(figures(x, tail_mrr=y), ["tail_mrr"]).set_index("coefficient")
    kept = np.isfinite(y)
    for name, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        row, expected = found.loc[name], function(x[kept], y[kept])
        assert row["value"] == pytest.approx(expected.statistic)
        assert row["p"] == pytest.approx(expected.pvalue)
        assert row["low"] < row["value"] < row["high"]
        assert (row["subgraphs"], row["left_out"]) == (39, 1)
        theirs = stats.bootstrap(
            (x[kept], y[kept]),
            lambda a, b, f=function: f(a, b).statistic,
            paired=True,
            vectorized=False,
            n_resamples=600,
            method="percentile",
            rng=np.random.default_rng(1),
        ).confidence_interval
        width = theirs.high - theirs.low
        assert [row["low"], row["high"]] == pytest.approx(list(theirs), abs=0.15 * width)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=9))
def test_resampled_tau_is_scipy_s(points):
    x, y = np.array(points, dtype=float).T
    drawn = np.random.default_rng(len(points)).integers(0, len(x), size=(5, len(x)))
    for at, found in zip(drawn, _resampled_tau(x, y, drawn), strict=True):
        expected = stats.kendalltau(x[at], y[at]).statistic
        assert found == pytest.approx(expected, nan_ok=True)


def test_perfect_and_constant():
    x = np.arange(1.0, 9)
    table = figures(x, tail_mrr=2 * x, head_mrr=np.ones(8))
    found = correlations(table, ["tail_mrr", "head_mrr"], resamples=50)
    assert found["value"].tolist()[:3] == pytest.approx([1, 1, 1])
    assert found[["value", "p", "low", "high"]][3:].isna().all(axis=None)


def test_shuffled_relik_foretells_nothing(umls):
    """The p-values of shuffled figures are uniform (Kolmogorov and Smirnov at 0.1 %)."""
    table = subgraph_figures(umls, draw_subgraphs(umls, 60, 20))
    rng = np.random.default_rng(5)
    p_values = {name: [] for name in ("pearson", "spearman", "kendall")}
    for _ in range(150):
        shuffled = table.assign(relik=rng.permutation(table["relik"]))
        found = correlations(shuffled, ["tail_mrr"], resamples=2)
        for row in found.itertuples():
            p_values[row.coefficient].append(row.p)
    for values in p_values.values():
        assert stats.kstest(values, "uniform").pvalue > 0.001


def test_sizes(umls):
    tables, found = study(umls, [8, 20], count=12, seed=4, resamples=40)
    assert found["size"].tolist() == [8] * 21 + [20] * 21
    table = subgraph_figures(umls, draw_subgraphs(umls, 12, 20, seed=4))
    expected = correlations(table, seed=4, resamples=40)
    for whole, part in ((tables, table), (found, expected)):
        rows = whole[whole["size"] == 20].drop(columns="size").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, part)
    assert tables["seed_entity"][:12].tolist() == tables["seed_entity"][12:].tolist()


def test_refusals(umls):
    with pytest.raises(KgdashError, match="at least 1 subgraph"):
        draw_subgraphs(umls, 0)
    with pytest.raises(KgdashError, match="seed ≥ 0; found 3 and -1"):
        draw_subgraphs(umls, 3, seed=-1)
    with pytest.raises(KgdashError, match="unknown method 'walk'"):
        draw_subgraphs(umls, 3, method="walk")
    with pytest.raises(KgdashError, match="unknown choice of evaluated triples 'valid'"):
        subgraph_figures(umls, draw_subgraphs(umls, 2, 5), "valid")
    with pytest.raises(KgdashError, match="unknown task 'mrr'"):
        correlations(figures([1.0, 2.0]), ["mrr"])
    with pytest.raises(KgdashError, match="level between 0 and 1; found 95"):
        correlations(figures([1.0, 2.0]), [], level=95)
