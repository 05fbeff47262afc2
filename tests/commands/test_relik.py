"""The commands ``relik`` and ``prepare``: the library's numbers, and all is ready."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from kgdash.files import table_cache as store
from kgdash.files.table_cache import list_cache
from kgdash.formats.run_directory import read_run
from kgdash.runs.bundled import DEMO
from tests.support.cli import run_cli
from tests.support.paths import ROOT
from tests.support.tiny_runs import altered_run


@pytest.mark.own_cache
def test_tables_of_the_run(call, monkeypatch, bundled):
    monkeypatch.setattr("kgdash.engine.workers.lowest_priority", lambda: None)
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    assert call("prepare", "umls-rotate") == "umls-rotate: 6,529 triples are prepared\n"
    listed = list_cache()
    relik = listed[(listed["kind"] == "relik") & (listed["method"] == "exact")]
    # The facts; and the false ones among answers, rules' predictions and those to label.
    assert len(relik) == 4
    assert relik["triples"].max() == 6529
    test = bundled("umls-rotate").graph.splits["test"]
    ranks = listed[(listed["kind"] == "ranks") & (listed["triples"] == len(test))]
    assert sorted(ranks["filter"]) == ["none", "train+valid+test"]
    assert call("prepare", "umls-rotate") == "umls-rotate: 6,529 triples are prepared\n"


def test_an_unknown_run_is_refused(refused, monkeypatch):
    monkeypatch.setattr("kgdash.engine.workers.lowest_priority", lambda: None)
    assert "no-such-run" in refused("prepare", "no-such-run")


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_it_runs_after_all_else():
    code = (
        "import os, threading\n"
        "from kgdash.engine.workers import lowest_priority\n"
        "def nice(): return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())\n"
        "before, found = nice(), []\n"
        "def work():\n"
        "    lowest_priority()\n"
        "    found.append(nice())\n"
        "    inner = threading.Thread(target=lambda: found.append(nice()))\n"
        "    inner.start(); inner.join()\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
        "print(found, nice() == before)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert shown.stdout == "[19, 19] True\n"


def test_names_like_formulas_in_safe_csv(tmp_path, monkeypatch, capsys):
    names = read_run(DEMO / "umls-transe")[0].entities
    run = altered_run(tmp_path / "run", entities=tuple(f"={name}" for name in names))
    out = tmp_path / "relik.csv"
    heads = {}
    for options in ((), ("--safe-csv",)):
        arguments = ["relik", run, "--method", "sampled", "--samples", "2", "--out", out]
        assert run_cli(monkeypatch, capsys, [*arguments, *options])[0] == 0
        heads[options] = set(pd.read_csv(out)["head"].str[:1])
    assert heads == {(): {"="}, ("--safe-csv",): {"'"}}


def test_a_mean_to_a_width(call, refused, tmp_path, bundled):
    out = tmp_path / "mean.csv"
    call("relik", "umls-transe", "--split", "train", "--width", "0.05", "--seed", "3", "--out", out)
    (row,) = pd.read_csv(out).to_dict("records")
    run = bundled("umls-transe")
    mean = run.sampled("relik", "train", width=0.05, seed=3).mean
    assert row["relik"] == pytest.approx(mean.value)
    assert (row["n"], row["of"]) == (mean.n, len(run.graph.splits["train"]))
    assert row["low"] <= run.relik("train")["relik"].mean() <= row["high"]
    assert "leave --method out" in refused(
        "relik", "umls-transe", "--width", "0.1", "--method", "sampled"
    )


def assert_same_relik(found: pd.DataFrame, run, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        found, run.graph.with_names(expected), check_dtype=False, check_exact=True
    )


def test_relik_of_a_split(call, run, tmp_path):
    call("relik", "umls-transe", "--split", "test", "--out", tmp_path / "x.csv")
    found = pd.read_csv(tmp_path / "x.csv")
    assert list(found) == ["head", "relation", "tail", "head_rank", "tail_rank", "relik"]
    assert_same_relik(found, run, run.relik(split="test"))
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_relik_of_a_file(call, run, tmp_path):
    triples = [
        ("virus", "causes", "disease_or_syndrome"),
        ("age_group", "causes", "virus"),
        ("virus", "causes", "disease_or_syndrome"),
    ]
    graph = run.graph
    ids = np.array(
        [(graph.entity_id(h), graph.relation_id(r), graph.entity_id(t)) for h, r, t in triples]
    )
    (tmp_path / "mine.csv").write_text("head,relation,tail\n" + "\n".join(map(",".join, triples)))
    out = call(
        "relik", "umls-transe", "--triples", tmp_path / "mine.csv", "--rank-type", "realistic"
    )
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["head", "relation", "tail", "head_rank", "tail_rank", "relik"]
    assert [tuple(line[:3]) for line in lines[1:]] == triples
    expected = run.relik(triples=ids, rank_type="realistic")
    assert [float(line[5]) for line in lines[1:]] == expected["relik"].tolist()


def test_relik_by_another_method(call, run, tmp_path):
    options = ("--method", "sampled-paper", "--samples", 50, "--seed", 3)
    call("relik", "umls-transe", "--split", "valid", *options, "--out", tmp_path / "x.tsv")
    found = pd.read_csv(tmp_path / "x.tsv", sep="\t")
    assert_same_relik(found, run, run.relik("valid", method="sampled-paper", samples=50, seed=3))
    assert {"relik_low", "relik_high"} <= set(found)
