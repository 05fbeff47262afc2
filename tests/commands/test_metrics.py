"""`metrics` of a part of the graph gives the library's numbers."""

import json

import pytest
from typer.testing import CliRunner

import kgdash
from kgdash.breakdowns.verdicts import sides_verdict
from kgdash.cli import app
from kgdash.errors import KgdashError
from kgdash.graph.restriction import Restriction, restrict


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


def test_a_leak_is_noted():
    assert "note: test leaks" in call("--split", "valid", "--filter", "train+valid+test").stderr
    assert not call("--split", "valid").stderr
