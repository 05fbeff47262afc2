"""The page Triple classification shows what the library computes."""

import numpy as np
import pandas as pd

from kgdash.charts.classification import CALIBRATION_NAMES
from kgdash.statistics.estimate import number
from kgdash.studies.classification.accuracy_by_relik import exact_accuracy_by_relik
from kgdash.studies.classification.classification import ClassificationSetting, classify
from kgdash.studies.reliability.subgraph_classification import classify_subgraph
from kgdash.ui.runtime.result_cache import memory
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table
from tests.support.tiny_runs import altered_run

LABELS = {
    "Accuracy": "accuracy",
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "ROC-AUC": "roc_auc",
    "PR-AUC": "pr_auc",
}


def shown_cards(app):
    """Return the cards of all triples, and those of the subgraph."""
    every = [(card.label.rstrip(" ↑"), card.value) for card in app.main.metric]
    return dict(every[:6]), dict(every[6:])


def expected_cards(figures, labels=tuple(LABELS)):
    values = figures.set_index("figure")["value"]
    return {label: number(values[LABELS[label]]) for label in labels}


def test_figures_and_tables(run):
    app = choose(open_page("classification"), size=12, evaluated="all triples")
    found = classify(run)
    tables = found.tables()
    everywhere, local = shown_cards(app)
    assert everywhere == expected_cards(found.metrics)
    part = run.subgraph(run.graph.entities[int(run.graph.degrees.argmax())], size=12)
    inside = classify_subgraph(found, part, "all")
    labels = ("Accuracy", "Precision", "Recall", "F1", "ROC-AUC")
    relik = number(inside.metrics.set_index("figure").loc["relik", "value"])
    assert local == {"Mean ReliK": relik, **expected_cards(inside.metrics, labels)}
    shown = table(app, "majority")
    assert shown["accuracy"].tolist() == tables["relations"]["accuracy"].tolist()
    assert "threshold" not in shown
    pd.testing.assert_frame_equal(
        table(app, "brier_score").drop(columns="calibration"),
        tables["calibration_errors"].drop(columns="calibration"),
        check_dtype=False,
    )
    assert any(each.value.startswith("Noise adds to the cal") for each in app.main.caption)
    assert table(app, "brier_score")["calibration"].tolist() == list(CALIBRATION_NAMES.values())
    pd.testing.assert_frame_equal(
        table(app, "relik_least"), exact_accuracy_by_relik(found), check_dtype=False
    )
    assert len(table(app, "predicted")) == len(inside.triples)
    assert not app.main.error


def test_choices(run):
    app = choose(open_page("classification"), negatives="relation", thresholds="relation")
    choose(app, negatives_seed=3, size=1)
    found = classify(run, ClassificationSetting("relation", "relation", 3))
    assert shown_cards(app)[0] == expected_cards(found.metrics)
    assert table(app, "majority")["threshold"].tolist() == found.relations["threshold"].tolist()
    assert "None of these triples is inside" in messages(app)[-1]
    captions = " ".join(caption.value for caption in app.main.caption)
    assert f"{number(found.about()['threshold'])} for" in captions


def files_of(found):
    graph = found.run.graph
    false = found.test[~found.test["label"]].sort_values("relation")
    false = false[["head", "relation", "tail"]].to_numpy()[:200]
    rows = [f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}" for h, r, t in false]
    return {
        "valid_negatives": ("valid.tsv", "\n".join(rows[:60]).encode(), "text/plain"),
        "test_negatives": ("test.tsv", "\n".join([*rows[60:], "a\tb\tc"]).encode(), "text/plain"),
    }


def test_uploaded_negatives(run):
    app = choose(open_page("classification"), negatives="given")
    assert "Give two files of false triples" in messages(app)[-1]
    assert not cards(app)
    files = files_of(classify(run))
    for uploader in app.get("file_uploader"):
        uploader.set_value(files[uploader.key])
    app.run()
    assert not app.exception
    assert len(cards(app)) >= 6
    notes = " ".join(messages(app)).replace("\\", "")
    assert "test.tsv: 1 left out, as the graph has no such entity or relation" in notes
    assert "calling each relation's triples what most of them are" in notes
    assert "accuracy" not in table(app, "relik_least")
    parts = [part for key in memory()._kept for part in key if isinstance(part, bytes)]
    assert not {content for _, content, _ in files.values()} & set(parts), "it stays for all"


def test_a_run_without_validation_is_refused(tmp_path):
    out = altered_run(tmp_path / "bare", {"valid": np.empty((0, 3), dtype=np.int64)})
    app = choose_folder(open_page("classification"), out)
    (error,) = app.error
    assert "split 'valid' of graph umls holds no triples" in error.value
