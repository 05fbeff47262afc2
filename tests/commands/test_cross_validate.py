"""The command cross-validate prints and writes what the library computes, and goes on."""

import re
import shlex

import pandas as pd
import pytest

from kgdash.graph.datasets import load_dataset
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.cross_validation import CrossValidation, cross_validate
from kgdash.studies.correlation.fold_tables import both_ways
from tests.support.cli import run_cli, strict_json, without_nan

PLAN = CrossValidation(
    folds=2,
    models=("TransE", "DistMult"),
    dimension=6,
    epochs=1,
    batch_size=512,
    seed=1,
    subgraphs=4,
    sizes=(5,),
    walk={"restart": 0.3, "hops": 1, "direction": "either"},
)
ARGUMENTS = shlex.split(
    "cross-validate nations --subgraphs 4 --restart 0.3 --seed 1 --size 5 --folds 2 "
    "--models TransE,DistMult --dimension 6 --epochs 1 --batch-size 512"
)


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def expected(workdir):
    return cross_validate(load_dataset("nations"), PLAN, workdir)


def test_all_it_found(expected, workdir, tmp_path, monkeypatch, capsys):
    options = ["--workdir", workdir, "--results", tmp_path / "new", "--json"]
    code, out, err = run_cli(monkeypatch, capsys, [*ARGUMENTS, *options])
    assert code == 0
    told = [line for line in err.splitlines() if line.startswith("fold ")]
    assert [line.partition(",")[0] for line in told] == ["fold 0", "fold 0", "fold 1", "fold 1"]
    assert all("was trained before, test MRR 0." in line for line in told)
    found, (figures, runs) = strict_json(out), expected
    table = both_ways(figures, Bootstrap(seed=1))
    assert found["rows"] == without_nan(table.to_dict("records"))
    digests = [row["digest"] for row in found["runs"]]
    assert digests == runs["digest"].tolist()
    assert found["plan"]["walk"]["restart"] == 0.3
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["nations-runs.csv", "nations.csv", "nations.md"]
    back = pd.read_csv(tmp_path / "new" / "nations.csv")
    pd.testing.assert_frame_equal(back, table, check_dtype=False, rtol=1e-4)
    text = (tmp_path / "new" / "nations.md").read_text(encoding="utf-8")
    assert f"```sh\nkgdash {shlex.join(ARGUMENTS)}\n```" in text


def test_each_subgraph(expected, workdir, tmp_path, monkeypatch, capsys):
    out = tmp_path / "each.parquet"
    options = ["--workdir", workdir, "--each", "--out", out]
    assert run_cli(monkeypatch, capsys, [*ARGUMENTS, *options])[0] == 0
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected[0], check_dtype=False)


@pytest.mark.parametrize(
    ("typed", "change"),
    [
        ("", {}),
        ("--folds 3 --folds-only 0,2", {"folds_only": (0, 2), "folds": 3}),
        (
            "--method neighbourhood --restart 0.2 --hops 2 --direction outgoing",
            {
                "method": "neighbourhood",
                "walk": {"restart": 0.2, "hops": 2, "direction": "outgoing"},
            },
        ),
        ("--k 5 --corrupt anywhere", {"ks": (5,), "corrupt": "anywhere"}),
        (
            "--evaluated all --relik-method sampled --filter train+test",
            {"evaluated": "all", "relik_method": "sampled", "filter": "train+test"},
        ),
    ],
)
def test_options_make_the_plan(typed, change, monkeypatch, capsys):
    got = []

    def capture(graph, plan, workdir, progress, on_fold):
        got.append((graph.name, plan))
        raise KeyboardInterrupt

    monkeypatch.setattr("kgdash.studies.correlation.cross_validation.cross_validate", capture)
    code, out, err = run_cli(monkeypatch, capsys, [*ARGUMENTS, *typed.split()])
    assert got == [("nations", CrossValidation(**{**vars(PLAN), **change}))]
    assert (code, out) == (130, "")
    assert re.search(r"cross-validation keeps what was trained: the same command goes on", err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nations", "--folds", 1], "cross-validation: expected 2 to 1,992 folds"),
        (
            ["nations", "--folds", 5, "--folds-only", "0;1"],
            "--folds-only: expected numbers such as",
        ),
        (["nations", "--folds", 5, "--folds-only", "5"], "expected folds from 0 to 4; found 5"),
        (
            ["nations", "--folds", 5, "--models", "transe"],
            "unknown model 'transe' in cross-validation",
        ),
        (["nations", "--folds", 5, "--level", 95], "expected a level between 0 and 1"),
        (["no/such", "--folds", 5], "no dataset folder no/such"),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused("cross-validate", *arguments).startswith(message)


@pytest.mark.parametrize(
    ("arguments", "new"),
    [
        (["nations", "--cv", 5], "--cv is now cross-validate --folds"),
        (["nations", "--cv=5"], "--cv is now cross-validate --folds"),
        (["umls-transe", "--models", "TransE"], "--models is now cross-validate --models"),
        (["umls-transe", "--results", "x"], "--results is now cross-validate --results"),
    ],
)
def test_the_study_says_what_is_a_command_of_its_own(refused, arguments, new):
    assert refused("study", *arguments) == f"study: the option {new}"
