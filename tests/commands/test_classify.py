"""The command classify prints what the library computes, and refuses in one message."""

import gzip

import pandas as pd
import pytest
from typer.testing import CliRunner

from kgdash.cli import app
from kgdash.studies.classification.accuracy_by_relik import exact_accuracy_by_relik
from kgdash.studies.classification.classification import ClassificationSetting, classify
from kgdash.studies.classification.given_negatives import read_negatives
from kgdash.studies.reliability.subgraph_classification import classify_subgraph, predict_subgraph
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.support.cli import strict_json, without_nan


@pytest.fixture(scope="module")
def found(bundled):
    return classify(bundled("umls-transe"), ClassificationSetting("relation", "relation", 1, 0.9))


OPTIONS = ["--negatives", "relation", "--thresholds", "relation", "--seed", "1", "--level", "0.9"]


def test_json(call, found):
    local = ["--entity", "virus", "--size", "20", "--evaluated", "all", "--corrupt", "anywhere"]
    shown = strict_json(call("classify", "umls-transe", *OPTIONS, *local, "--json"))
    tables = found.tables()
    for name in ("figures", "relations", "histogram", "calibration", "calibration_errors"):
        assert shown[name] == without_nan(tables[name].to_dict("records"))
    assert len(shown["roc"]) == len(tables["roc"])
    part = found.run.subgraph("virus", size=20)
    expected = classify_subgraph(found, part, "all", "anywhere")
    assert shown["local"]["figures"] == without_nan(expected.metrics.to_dict("records"))
    judged = predict_subgraph(
        found.run,
        part,
        found.fitted,
        SubgraphEvaluation("all", corrupt="anywhere", seed=1),
    )
    pd.testing.assert_frame_equal(expected.triples, judged)
    relik = found.run.relik(triples=part.triples())["relik"].mean()
    behind = expected.metrics.set_index("figure")[["value", "count"]].agg(tuple, axis=1)
    assert behind["relik"] == (pytest.approx(relik), len(part.triples()))
    accuracy = (expected.triples["label"] == expected.triples["predicted"]).mean()
    assert behind["accuracy"] == (accuracy, len(expected.triples))
    assert shown["threshold"] == found.fitted.overall


def test_tables_and_files(call, found, tmp_path):
    options = ["classify", "umls-transe", *OPTIONS]
    call(*options, "--table", "scores", "--out", tmp_path / "scores.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "scores.parquet"), found.tables()["scores"], check_dtype=False
    )
    printed = call(*options, "--table", "relik").splitlines()
    expected = exact_accuracy_by_relik(found)
    assert printed[0].split("\t") == list(expected.columns)
    assert float(printed[1].split("\t")[1]) == pytest.approx(expected["relik"][0])


def test_beside_the_calibration_error_stands_that_noise_adds_to_it():
    """Of right probabilities and 100 triples it is 0.05 to 0.15; the other ECE said so alone."""
    arguments = ["classify", "umls-transe", "--table"]
    said = CliRunner().invoke(app, [*arguments, "calibration_errors"])
    assert said.stderr.startswith("note: noise adds to the calibration error")
    assert said.stdout.startswith("calibration\texpected_calibration_error")
    assert CliRunner().invoke(app, [*arguments, "calibration"]).stderr == ""


def test_files_of_negatives(call, found, tmp_path):
    graph = found.run.graph
    false = found.test[~found.test["label"]][["head", "relation", "tail"]].to_numpy()
    files = {"valid": tmp_path / "a.tsv.gz", "test": tmp_path / "b.tsv.gz"}
    for rows, path in zip((false[:90], false[90:200]), files.values(), strict=True):
        with gzip.open(path, "wt") as stream:
            for h, r, t in rows:
                names = (graph.entities[h], graph.relations[r], graph.entities[t])
                stream.write("\t".join(names) + "\n")
    given = ["--valid-negatives", files["valid"], "--test-negatives", files["test"]]
    shown = strict_json(call("classify", "umls-transe", "--negatives", "given", *given, "--json"))
    expected = classify(found.run, ClassificationSetting("given"), read_negatives(files, graph))
    assert shown["figures"] == without_nan(expected.metrics.to_dict("records"))
    assert shown["test"]["false"] <= 110
    said = CliRunner().invoke(
        app, ["classify", "umls-transe", "--negatives", "given", *map(str, given)]
    )
    assert [f"note: {note}" for note in expected.notes] == said.stderr.splitlines()
    assert any("are those of validation, too" in note for note in expected.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--negatives", "given"], "no given negatives for run umls-transe"),
        (["--valid-negatives", "x.tsv"], "files of negatives need --negatives given and both"),
        (["--thresholds", "each"], "unknown kind of thresholds 'each'"),
        (["--table", "local"], "--table local needs the subgraph's --entity"),
        (["--entity", "virus"], "--entity is of the subgraph: add --table local"),
        (["--seed", "-1"], "expected a seed of at least 0"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("classify", "umls-transe", *options).startswith(message)
