"""The command audit lists facts, goes on where it was, and tells who finds planted errors."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from kgdash.graph.datasets import load_dataset
from kgdash.hpo.space import SearchSpace, fixed_configuration
from kgdash.studies.audit.cross_fitting import AuditPlan, cross_fit, named_audit
from kgdash.studies.audit.detection import detection
from tests.support.cli import run_cli, strict_json

OPTIONS = shlex.split(
    "audit nations --model DistMult --dim 6 --epochs 1 --batch-size 512 --learning-rate 0.02 "
    "--folds 2 --seed 1"
)
VALUES = {
    "model.embedding_dim": 6,
    "training.num_epochs": 1,
    "training.batch_size": 512,
    "optimizer.lr": 0.02,
}
PLAN = AuditPlan(fixed_configuration(SearchSpace(("DistMult",), values=VALUES)), folds=2, seed=1)


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


def test_table_and_json(workdir, tmp_path, monkeypatch, capsys):
    graph = load_dataset("nations")
    expected = named_audit(graph, cross_fit(graph, PLAN, workdir))
    code, out, err = run_cli(monkeypatch, capsys, [*OPTIONS, "--workdir", workdir, "--json"])
    assert code == 0
    assert len(re.findall(r"fold \d: was trained before, judges 79\d triples", err)) == 2
    found = strict_json(out)
    assert found["training"]["model"] == "DistMult"
    plain = expected.astype(object).where(expected.notna(), None)
    assert found["triples"] == plain.to_dict("records")
    path = tmp_path / "audit.tsv"
    assert run_cli(monkeypatch, capsys, [*OPTIONS, "--workdir", workdir, "--out", path])[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv(path, sep="\t"), expected, check_dtype=False)


def test_planted_errors(workdir, monkeypatch, capsys):
    suspicion, planted = {"m": np.arange(40.0)}, np.arange(40) > 35
    table, got = detection(suspicion, planted), []

    def planting(graph, plan, share, *others):
        got.append((graph.name, plan, share))
        return table, None

    monkeypatch.setattr("kgdash.studies.audit.benchmark.detect_planted", planting)
    arguments = [*OPTIONS, "--workdir", workdir, "--noise", 0.1, "--json"]
    code, out, _ = run_cli(monkeypatch, capsys, arguments)
    assert (code, got) == (0, [("nations", PLAN, 0.1)])
    assert strict_json(out)["methods"] == table.to_dict("records")


def test_a_run_is_audited_as_it_was_trained(monkeypatch, capsys):
    got = []

    def capture(graph, plan, workdir, progress, on_fold):
        got.append((graph.name, plan))
        raise KeyboardInterrupt

    monkeypatch.setattr("kgdash.studies.audit.cross_fitting.cross_fit", capture)
    code, out, err = run_cli(monkeypatch, capsys, ["audit", "umls-transe", "--epochs", 7])
    assert (code, out) == (130, "")
    assert "keeps what was trained: the same command goes on" in err
    ((name, plan),) = got
    assert name == "umls"
    assert (plan.config.model, plan.config.epochs, plan.config.loss) == ("TransE", 7, "nssa")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-run"], "to audit a dataset, add --model"),
        (["nations", "--model", "TransE", "--folds", 1], "expected 2 to 1,592 folds"),
        (["nations", "--model", "TransE", "--noise", 0], "expected a share in (0, 1]"),
        (["nations", "--model", "Transe"], "unknown model 'Transe'"),
        (["no/such", "--model", "TransE"], "no dataset folder no/such"),
    ],
)
def test_refusals(refused, arguments, message):
    assert message in refused("audit", *arguments)
