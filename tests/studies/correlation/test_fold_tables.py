"""Tables over folds: by hand, by Python's statistics, and by SciPy on averaged figures."""

import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kgdash.files.markdown import markdown_table
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.cross_validation import CrossValidation
from kgdash.studies.correlation.fold_report import markdown_report
from kgdash.studies.correlation.fold_tables import (
    averaged_correlations,
    averaged_scores,
    both_ways,
    fold_correlations,
    model_means,
    spread,
)

SIZES, SUBGRAPHS, FOLDS = (20, 40), 12, 3


@pytest.fixture(scope="module")
def figures():
    """Make figures of two models; subgraph 3 is evaluated in fold 1 only, subgraph 7 in none."""
    rng, rows = np.random.default_rng(0), []
    for model, slope in (("TransE", 0.5), ("ConvE", -0.5)):
        for fold in range(FOLDS):
            for size in SIZES:
                for subgraph in range(SUBGRAPHS):
                    relik = rng.random()
                    empty = subgraph == 7 or (subgraph == 3 and fold != 1)
                    mrr = np.nan if empty else slope * relik + 0.5 + 0.2 * rng.normal()
                    names = {"model": model, "fold": fold, "size": size, "subgraph": subgraph}
                    count = 0 if empty else 2 + fold
                    rows.append({**names, "evaluated": count, "relik": relik, "tail_mrr": mrr})
    return pd.DataFrame(rows)


def test_each_fold_of_its_own(figures):
    found = fold_correlations(figures)
    assert len(found) == 2 * FOLDS * 2 * 3
    assert not {"low", "high"} & set(found)
    part = figures.query("model == 'ConvE' and fold == 2 and size == 40").dropna()
    row = found.query(
        "model == 'ConvE' and fold == 2 and size == 40 and coefficient == 'spearman'"
    ).iloc[0]
    expected = stats.spearmanr(part["relik"], part["tail_mrr"])
    assert (row["value"], row["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert (row["subgraphs"], row["left_out"]) == (10, 2)


def test_spread_over_the_folds(figures):
    found = fold_correlations(figures)
    table = spread(found)
    assert len(table) == 2 * 2 * 3
    for row in table.itertuples():
        same = found.query(
            "model == @row.model and size == @row.size and coefficient == @row.coefficient"
        )
        values = same["value"].tolist()
        assert row.folds == FOLDS
        assert row.mean == pytest.approx(statistics.mean(values))
        assert row.std == pytest.approx(statistics.stdev(values))
        assert (row.min, row.max, row.p_max) == (min(values), max(values), same["p"].max())


def test_folds_without_a_coefficient_do_not_count():
    table = spread(
        pd.DataFrame(
            {
                **{"model": "TransE", "size": 6, "task": "tail_mrr", "coefficient": "pearson"},
                "fold": [0, 1, 2],
                "value": [0.5, np.nan, 0.7],
                "p": [0.2, np.nan, 0.1],
            }
        )
    ).iloc[0]
    assert (table["folds"], table["min"], table["max"], table["p_max"]) == (2, 0.5, 0.7, 0.2)
    assert table["mean"] == pytest.approx(0.6)


def test_averaged_over_the_folds_where_something_is_evaluated(figures):
    table = averaged_scores(figures).set_index(["model", "size", "subgraph"])
    assert len(table) == 2 * 2 * SUBGRAPHS
    of_one = figures.set_index(["model", "size", "subgraph", "fold"])
    for (model, size), rows in table.groupby(level=[0, 1]):
        assert rows["folds"].tolist() == [1 if s == 3 else 0 if s == 7 else 3 for s in range(12)]
        assert rows["evaluated"].tolist() == [
            3 if s == 3 else 0 if s == 7 else 9 for s in range(12)
        ]
        for column in ("relik", "tail_mrr"):
            # The only fold of subgraph 3, for ReliK too.
            alone = of_one.loc[(model, size, 3, 1), column]
            assert rows.loc[(model, size, 3), column] == alone
            three = [of_one.loc[(model, size, 5, fold), column] for fold in range(3)]
            assert rows.loc[(model, size, 5), column] == pytest.approx(sum(three) / 3)
            assert np.isnan(rows.loc[(model, size, 7), column])


def test_the_paper_s_way(figures):
    found = averaged_correlations(figures, bootstrap=Bootstrap(level=0.9, seed=1, resamples=50))
    for row in found.itertuples():
        table = averaged_scores(figures).query("model == @row.model and size == @row.size")
        table = table.dropna()
        function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}.get(row.coefficient)
        expected = (function or stats.kendalltau)(table["relik"], table["tail_mrr"])
        assert (row.value, row.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert (row.subgraphs, row.left_out) == (11, 1)
        assert row.low < row.value < row.high
    narrower = averaged_correlations(figures, bootstrap=Bootstrap(level=0.5, seed=1, resamples=50))
    assert ((narrower["high"] - narrower["low"]) < (found["high"] - found["low"])).all()


def test_both_ways_side_by_side(figures):
    table = both_ways(figures, Bootstrap(0.9, 50, 1))
    keys = ["model", "size", "task", "coefficient"]
    once = averaged_correlations(figures, Bootstrap(0.9, 50, 1)).set_index(keys)
    means = spread(fold_correlations(figures)).set_index(keys)
    table = table.set_index(keys)
    assert table.index.equals(means.index)
    pd.testing.assert_frame_equal(table[means.columns], means)
    assert table["averaged"].equals(once["value"])
    assert table["p_holm"].equals(once["p_holm"])


RUNS = pd.DataFrame(
    {
        "model": ["TransE", "ConvE", "TransE", "ConvE"],
        "fold": [0, 0, 1, 1],
        **{"train": 80, "valid": 10, "test": 10, "kept": [1, 1, 2, 2]},
        "mrr": [0.2, 0.5, 0.4, 0.5],
        "hits_at_10": [0.6, 0.8, 0.6, 0.9],
        "training_seconds": [10.0, 30.0, 12.0, 40.0],
        "study_seconds": [1.0, 2.0, 1.5, 3.0],
    }
)


def test_means_of_the_models():
    table = model_means(RUNS)
    assert table["model"].tolist() == ["TransE", "ConvE"]
    assert table["folds"].tolist() == [2, 2]
    assert table["mrr"].tolist() == pytest.approx([0.3, 0.5])
    assert table["mrr_std"].tolist() == pytest.approx([0.02**0.5, 0])
    assert table["hits_at_10"].tolist() == pytest.approx([0.6, 0.85])
    assert table["training_seconds"].tolist() == [22, 70]
    assert table["study_seconds"].tolist() == [2.5, 5]


def test_the_report_holds_the_tables(figures, bundled):
    graph = bundled("umls-transe").graph
    plan = CrossValidation(models=("TransE", "ConvE"), sizes=SIZES, subgraphs=SUBGRAPHS)
    found = both_ways(figures, Bootstrap(0.9, 50, 1))
    text = markdown_report(graph, plan, "x", found, RUNS)
    assert text.startswith("# umls: does ReliK predict performance?\n")
    assert "135 entities, 46 relations, 6,529 known triples" in text
    assert "2 of 5 folds, on average 80 train, 10 valid, 10 test triples; 3 triples stayed" in text
    assert "| TransE | 2 | 0.300 ± 0.141 | 0.600 ± 0.000 | 22 | 2 |" in text
    for size in SIZES:
        assert f"- 1 of the subgraphs of {size} entities have no evaluated triple in any" in text
    table = found.set_index(["model", "size", "task", "coefficient"])
    for model in plan.models:
        row = table.loc[(model, 20, "tail_mrr", "pearson")]
        value = f"{row['averaged']:.2f}".replace("-", "−") + " °" * bool(row["p"] > 0.05)
        folds = f"{row['mean']:.2f} ± {row['std']:.2f}".replace("-", "−")
        assert f"\n| {model} | 20 | {value} ({folds}) |\n" in text
    assert table["averaged"].min() < 0


def test_one_fold_has_no_spread(figures, bundled):
    graph, one = bundled("umls-transe").graph, figures.query("fold == 1")
    plan = CrossValidation(folds=0, models=("TransE", "ConvE"), sizes=SIZES, subgraphs=SUBGRAPHS)
    runs = RUNS.query("fold == 0")
    text = markdown_report(graph, plan, "x", both_ways(one, Bootstrap(0.9, 50, 1)), runs)
    assert "±" not in text.replace("mean ± standard deviation", "")
    assert "Splits: the dataset's split, on average 80 train" in text


def test_cells_that_hold_bars():
    table = pd.DataFrame({"a|b": ["x|y", "z"], "n": [1, 2]})
    assert markdown_table(table).splitlines() == [
        "| a\\|b | n |",
        "| :-- | --: |",
        "| x\\|y | 1 |",
        "| z | 2 |",
    ]
