"""The command ``metrics``: the library's numbers, of all and of a part of the graph."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import kgdash
from kgdash.breakdowns.verdicts import sides_verdict
from kgdash.cli import app
from kgdash.errors import KgdashError
from kgdash.graph.restriction import Restriction, restrict
from kgdash.ranking.metrics import tie_summary
from tests.support.cli import strict_json, without_nan


def call(*arguments):
    result = CliRunner().invoke(app, ["metrics", "umls-distmult", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_relations_entities_and_degrees(bundled, tmp_path):
    graph = bundled("umls-distmult").graph
    chosen = [e for e in range(graph.num_entities) if e % 3]
    path = tmp_path / "entities.txt"
    path.write_text("\n".join(graph.entity_labels[e] for e in chosen), encoding="utf-8")
    options = ["--relation", "causes", "--relation", "affects", "--entities", path]
    found = json.loads(call(*options, "--min-degree", 60, "--json").stdout)
    ids = [e for e in chosen if graph.degrees[e] >= 60]
    relations = [graph.relation_id(name) for name in ("causes", "affects")]
    ranks = bundled("umls-distmult").ranks(restriction=Restriction(ids, relations))
    assert found["metrics"] == kgdash.metrics(ranks).nested()
    assert found["verdict"] == sides_verdict(ranks).replace("**", "")
    only = restrict(graph, ["causes", "affects"], ids)
    assert found["evaluated"] == only.count(graph, graph.split("test"))
    assert found["evaluated"]["triples"] * 2 == len(ranks)


def test_an_unknown_name_is_refused_with_its_line(tmp_path):
    path = tmp_path / "entities.txt"
    path.write_text("virus\nvirusses\n")
    with pytest.raises(KgdashError, match=r"unknown entity 'virusses'.*entities\.txt, line 2"):
        call("--entities", path)


def test_lines_of_types_that_name_nothing_are_told(bundled, tmp_path):
    """Among the half of award's entities that was known, Hits@10 was 58% in place of 46."""
    path, graph = tmp_path / "types.tsv", bundled("umls-distmult").graph
    lines = [f"{name}\tlife\n" for name in graph.entities]
    for more, is_told in (([], False), (["m.01\tlife\n"], True)):
        path.write_text("".join(lines + more))
        told = call("--types", path, "--type", "life").stderr
        assert (f"note: 1 lines of {path} name no entity" in told) == is_told


def test_a_leak_is_noted():
    assert "note: test leaks" in call("--split", "valid", "--filter", "train+valid+test").stderr
    assert not call("--split", "valid").stderr


@pytest.mark.parametrize(
    ("options", "ranks", "ks"),
    [
        ([], {}, (1, 3, 5, 10)),
        (["--split", "valid"], {"split": "valid", "filter": "train+valid"}, (1, 3, 5, 10)),
        (["--filter", "none", "--k", "2", "--k", "50"], {"filter": "none"}, (2, 50)),
    ],
)
def test_metrics_json(call, run, options, ranks, ks):
    found = strict_json(call("metrics", "umls-transe", "--json", *options))
    table = run.ranks(**ranks)
    assert found["metrics"] == without_nan(kgdash.metrics(table, ks).nested())
    assert found["ties"] == tie_summary(table)
    assert (found["run"], found["notes"]) == ("umls-transe", [])
    assert set(found["metrics"]) == {"head", "tail", "both"}
    for types in found["metrics"].values():
        assert set(types) == {"optimistic", "realistic", "pessimistic"}


def test_metrics_table_on_screen_and_in_a_file(call, run, tmp_path):
    values = kgdash.metrics(run.ranks())
    rows = [line.split("\t") for line in call("metrics", "umls-transe").splitlines()]
    columns = [f"{side}.{rank_type}" for side, rank_type in values.frame.columns]
    assert rows[0] == ["metric", *columns]
    printed = {row[0]: [float(cell) for cell in row[1:]] for row in rows[1:]}
    assert printed == {key: row.tolist() for key, row in values.frame.iterrows()}
    call("metrics", "umls-transe", "--out", tmp_path / "deep" / "metrics.parquet")
    table = pd.read_parquet(tmp_path / "deep" / "metrics.parquet")
    assert table.index.tolist() == list(printed)
    assert table.columns.tolist() == columns
    assert table.to_numpy().tolist() == list(printed.values())


def test_commands_take_a_pykeen_directory_with_its_dataset(call, pykeen_directory):
    found = strict_json(call("metrics", pykeen_directory, "--dataset", "nations", "--json"))
    assert found["metrics"] == without_nan(
        kgdash.metrics(kgdash.load(pykeen_directory, "nations").ranks()).nested()
    )
