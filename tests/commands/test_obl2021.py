"""The commands of OBL2021 give the library's numbers."""

import ast
import json

import pytest
from typer.testing import CliRunner

from kgdash.cli import app
from kgdash.errors import KgdashError
from kgdash.studies.obl2021.evaluation import compare, evaluate
from kgdash.studies.obl2021.submission_reading import read_submissions
from kgdash.studies.obl2021.top_ten import predict


def call(*arguments):
    result = CliRunner().invoke(app, ["obl2021", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_predict_then_evaluate(bundled, tmp_path):
    triples, scores, files = bundled("umls-distmult").graph.split("valid"), [], []
    for run in (bundled("umls-distmult"), bundled("umls-transe")):
        files.append(tmp_path / f"{run.name}.npz")
        line = call("predict", run.name, files[-1], "--split", "valid", "--seed", 1)
        heads, tails = predict(run, "valid", seed=1)
        scores.append(evaluate(heads, tails, triples))
        assert ast.literal_eval(line) == {"h10": scores[-1].h10}
        (stored,) = read_submissions([("a.npz", files[-1].read_bytes())], run.graph, len(triples))
        assert (stored.heads == heads).all()
        assert (stored.tails == tails).all()
    found = json.loads(call("evaluate", run.name, *files, "--split", "valid", "--json"))
    assert [s["h10"] for s in found["submissions"]] == [s.h10 for s in scores]
    assert [row["mean"] for row in found["compared"]] == compare(scores)["mean"].tolist()
    table = call("evaluate", run.name, *files, "--split", "valid").splitlines()
    assert table[1].split("\t")[1] == str(scores[0].h10)
    assert table[3] == "# mean and standard deviation"


def test_refusals_leave_nothing(tmp_path):
    out = tmp_path / "x.npz"
    for arguments, message in (
        (("predict", "umls-transe", out, "--ties", "top"), "unknown tie policy 'top'"),
        (("predict", "umls-transe", out, "--ids", "names"), "named by numbers"),
        (("predict", "umls-transe", tmp_path / "x.csv"), "in .npz"),
        (("evaluate", "umls-transe", out), "can not read"),
    ):
        with pytest.raises(KgdashError, match=message):
            call(*arguments)
    assert not list(tmp_path.iterdir())
