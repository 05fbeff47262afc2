"""The command ``subgraph``: the library's numbers of a part of the graph."""

import json
import logging
import re
from dataclasses import replace

import pandas as pd
import pytest

from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.local_verdict import local_estimates, local_verdict, whole_estimates
from tests.support.cli import run_cli, strict_json, without_nan


@pytest.mark.parametrize(
    ("options", "subgraph", "comparison"),
    [
        (
            {"entity": "virus", "method": "neighbourhood", "hops": 2, "evaluated": "all"},
            {"entity": "virus", "method": "neighbourhood", "hops": 2},
            {"evaluated": "all"},
        ),
        (
            {"entity": "Bacterium", "size": 2, "relik-method": "sampled", "seed": 4},
            {"entity": "bacterium", "size": 2, "seed": 4},
            {"method": "sampled"},
        ),
    ],
)
def test_subgraph_json(call, run, options, subgraph, comparison):
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    found = strict_json(call("subgraph", "umls-transe", *flags, "--json"))
    part = run.subgraph(**subgraph)
    expected = compare(run, part, **comparison)
    figures = without_nan({name: list(pair) for name, pair in expected.means.items()})
    assert found["entities"] == [run.graph.entities[e] for e in part.entities]
    assert found["relik"] == figures["relik"][0]
    assert found["mrr"] == {
        side: figures[f"{side}_mrr"][0] for side in ("head", "tail", "both", "relation")
    }
    assert found["counts"] == {name: count for name, (_, count) in figures.items()}
    labelled = run.graph.with_names(expected.triples)
    assert found["triples"] == without_nan(labelled.to_dict("records"))
    estimates = local_estimates(expected)
    assert found["verdict"] == local_verdict(estimates, whole_estimates(run))
    assert found["intervals"] == without_nan({n: [e.low, e.high] for n, e in estimates.items()})


def test_what_is_not_defined_is_null(call, run):
    heads, _, tails = run.graph.all_triples.T
    lonely = min(set(range(run.graph.num_entities)) - set(heads[heads == tails].tolist()))
    entity = run.graph.entities[lonely]
    found = strict_json(call("subgraph", "umls-transe", "--entity", entity, "--size", 1, "--json"))
    assert found["relik"] is None
    assert set(found["mrr"].values()) == {None}
    assert found["triples"] == []


def test_subgraph_on_screen_and_in_a_file(call, run, tmp_path):
    figures = compare(run, run.subgraph("virus", size=20)).means
    out = call("subgraph", "umls-transe", "--entity", "virus", "--size", 20)
    assert f"relik          {figures['relik'][0]:.6g}  (n = {figures['relik'][1]})" in out
    call("subgraph", "umls-transe", "--entity", "virus", "--size", 20, "--out", tmp_path / "s.csv")
    assert pd.read_csv(tmp_path / "s.csv")["relik"].mean() == pytest.approx(figures["relik"][0])


@pytest.mark.own_cache
def test_subgraph_on_a_terminal_shows_what_is_counted_so_far(monkeypatch, capsys, run):
    monkeypatch.setattr("kgdash.ranking.relik_table._LEAST", 135 * 46 * 80)
    monkeypatch.setattr("kgdash.files.row_table._LEAST", 1e-9)
    monkeypatch.setattr("kgdash.files.row_table._TIMES", 0)
    monkeypatch.setattr("kgdash.runs.loading.load", lambda *_: replace(run))
    arguments = ["subgraph", "umls-transe", "--entity", "virus", "--size", "60", "--json"]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, out, err = run_cli(monkeypatch, capsys, arguments)
    assert code == 0
    exact = compare(run, run.subgraph("virus", size=60))
    assert json.loads(out)["relik"] == exact.means["relik"].value
    assert re.search(r"mean ReliK between 0\.\d+ and 0\.\d+ \(95%\)", err)
    logging.disable(logging.NOTSET)


def test_subgraph_larger_than_the_component_says_how_many_were_reached(call, run):
    found = call("subgraph", "umls-transe", "--entity", "virus", "--size", 5000)
    reached = len(run.subgraph("virus", size=5000).entities)
    assert reached < 5000
    assert f"reached {reached} of 5000" in found
