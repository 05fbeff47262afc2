"""Results as Markdown: every figure is the table's, and what does not separate is named."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.instances.separation_report import SeparationReport, separation_rows

CHARTS = {"means": "means.svg", "auc": "auc.svg"}


@pytest.fixture(scope="module")
def found():
    """Three groups: ReliK separates one, says nothing of the next, is wrong in the last."""
    rng, parts = np.random.default_rng(0), []
    for group, shift in (("1p", 2.0), ("2p", 0.0), ("3p", -2.0)):
        label = np.tile([True, False], 40)
        columns = {
            "group": group,
            "question": [f"{group} {i // 2}" for i in range(80)],
            "answer": [f"{group} {i}" for i in range(80)],
            "label": label,
            "distinct": 1,
        }
        for measure, way in (("relik", shift), ("reciprocal_rank", -shift), ("score", 0.0)):
            columns[f"{measure}_max"] = np.exp(rng.normal(size=80) + way * label)
        parts.append(pd.DataFrame(columns))
    return compare_measures(pd.concat(parts, ignore_index=True), bootstrap=Bootstrap(resamples=200))


@pytest.fixture(scope="module")
def text(found, bundled):
    report = SeparationReport(bundled("umls-transe"), found, "max", ["hard is hard"])
    return report.text("Queries on UMLS", "run this", CHARTS)


def test_figures_are_those_of_the_tables(text, found):
    relik = found.by_measure["relik"].set_index("group")
    for group in ("1p", "2p", "3p"):
        row = relik.loc[group]
        auc = f"{row['roc_auc']:.3f} ({row['auc_low']:.3f} to {row['auc_high']:.3f})"
        assert f"| {group} | 40 | 40 | {auc} |" in text
        difference = found.difference("reciprocal_rank", group)["difference"]
        assert f" {difference:.3f} (".replace("-", "−") in text
    assert "| **all** | 120 | 120 |" in text
    assert "number of groundings alone |" not in text
    assert "![auc of the groups, drawn](auc.svg)" in text
    assert "135 entities, 46 relations, 6,529 known triples" in text
    assert "- Hard is hard.\n" in text
    assert "```sh\nrun this\n```" in text


def test_what_comes_from_outside_makes_no_markdown(found, bundled):
    """A run's record had headings, links and a table of its own above kgdash's."""
    said = "x\n\n# [y](z) <b>"
    run = bundled("umls-transe")
    training = {"model_kwargs": {"embedding_dim": said}, "epochs": said, "training_loop": said}
    hostile = replace(run, graph=replace(run.graph, name=said), training=training)
    names = dict.fromkeys(("1p", "2p", "3p"), said)
    text = SeparationReport(hostile, found, "max", [said], names).text(said, "run this", CHARTS)
    assert r"x # \[y\](z) &lt;b>" in text
    assert "[y]" not in text
    assert "<b>" not in text
    heads = [line for line in text.split("\n") if line.startswith("#")]
    assert [line for line in heads if "y" in line] == [r"# x # \[y\](z) &lt;b>"]


def test_what_does_not_separate_is_named(text):
    assert "Of 3 groups, ReliK separates 1 " in text
    after = text.split("Worse than guessing:")[1]
    wrong, unsure = after.split("Not told from guessing:")
    assert "- 3p: AUC 0." in wrong
    assert "2p" not in wrong
    assert "- 2p: AUC 0." in unsure
    assert "higher in 1 groups and lower in 1; in 1 the interval" in text


def test_what_more_groundings_alone_give_does_not_separate(bundled):
    """The greatest of 8 random values is above that of 2 in four of five, and told from 0.5."""
    label = np.tile([True, False], 100)
    count = np.where(label, 8, 2)
    rng = np.random.default_rng(0)
    columns = {f"{m}_max": [rng.random(n).max() for n in count] for m in ("relik", "score")}
    rows = pd.DataFrame(columns).assign(group="1p", question=np.arange(200), answer=np.arange(200))
    rows = rows.assign(label=label, distinct=count)
    found = compare_measures(rows, ("relik", "score"), bootstrap=Bootstrap(resamples=200))
    overall = found.overall("relik")
    assert overall["auc_chance"] == pytest.approx(0.8)
    assert overall["auc_low"] > 0.6
    text = SeparationReport(bundled("umls-transe"), found, "max").text("One", "x", CHARTS)
    assert "Of 1 groups, ReliK separates 0 " in text
    assert "Not told from guessing:\n\n- 1p: AUC 0." in text
    assert "0.5 is guessing; the greatest of more groundings is greater, and their number" in text
    assert "| 0.800 |" in text


def test_one_against_one_tells_nothing(bundled):
    """However well one true instance is told from one false, and however narrow the interval."""
    columns = {f"{m}_max": [0.1, 0.9] for m in ("relik", "reciprocal_rank", "score")}
    named = {"group": "1p", "question": ["a", "b"], "answer": ["c", "d"], "label": [True, False]}
    rows = pd.DataFrame(named | columns | {"distinct": 1})
    found = compare_measures(rows, bootstrap=Bootstrap(resamples=50))
    assert found.by_measure["relik"]["roc_auc"].tolist() == [0, 0]
    text = SeparationReport(bundled("umls-transe"), found, "max").text("One", "x", CHARTS)
    assert "Of 1 groups, ReliK separates 0 " in text
    assert "Not told from guessing:\n\n- 1p: AUC 0.000 (1 true, 1 false)" in text
    assert "Worse" not in text


def test_all_measures_in_one_table(found):
    rows = separation_rows(found)
    assert rows["measure"].value_counts().to_dict() == dict.fromkeys(found.by_measure, 4)
    assert rows.columns[:2].tolist() == ["measure", "group"]
    kept = rows[rows["measure"] == "score"].drop(columns="measure").reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, found.by_measure["score"])
