"""The same triple in other runs: those of the very same graph, found by checksums."""

from dataclasses import replace

import pytest

import kgdash
from kgdash.errors import KgdashError
from kgdash.runs.bundled import bundled_names
from kgdash.studies.inspection import other_runs
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.studies.inspection.other_runs import (
    runs_on_same_graph,
    same_triple,
    with_others,
)
from tests.support.fakes import fake_run, make_graph, random_scorer
from tests.support.tiny_runs import altered_run

UMLS = [name for name in bundled_names() if name.startswith("umls-")]


def test_bundled_runs_of_one_graph(bundled):
    others = runs_on_same_graph(bundled("umls-rotate"))
    assert sorted([*others, "umls-rotate"]) == UMLS


def test_folders_beside_a_run(bundled, tmp_path):
    graph = bundled("umls-transe").graph
    first = altered_run(tmp_path / "first", weights=lambda w: w * 2)
    second = altered_run(tmp_path / "second", weights=lambda w: w * 3)
    altered_run(tmp_path / "other", splits={"test": graph.splits["test"][:9]})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{}")
    found = runs_on_same_graph(kgdash.load(first))
    assert found == [*UMLS, str(second)]
    assert runs_on_same_graph(kgdash.load(tmp_path / "other")) == []
    for name in found[-2:]:
        assert kgdash.load(name).graph.digest == graph.digest


def test_a_manifest_is_read_once_as_long_as_it_stays(bundled, tmp_path, monkeypatch):
    """Others' may be long, and every page that offers runs asks for all of them."""
    first, second = (altered_run(tmp_path / name, weights=lambda w: w * 2) for name in "ab")
    run = kgdash.load(first)
    assert runs_on_same_graph(run) == [*UMLS, str(second)]
    with monkeypatch.context() as patched:
        patched.setattr(other_runs, "read_manifest", lambda path: pytest.fail("read again"))
        assert runs_on_same_graph(run) == [*UMLS, str(second)]
    (second / "run.json").write_text("{}")
    assert runs_on_same_graph(run) == UMLS


def test_a_run_that_was_removed_since_has_no_others(as_visitor, bundled, tmp_path):
    """To a visitor its name is a path then, which leads out of the roots."""
    as_visitor(roots=(tmp_path,))
    run = bundled("umls-transe")
    gone = replace(run, provenance={**run.provenance, "source": "gone"})
    assert runs_on_same_graph(gone) == []


def test_a_run_without_a_folder_has_no_others():
    assert runs_on_same_graph(fake_run(make_graph([(0, 0, 1)]), random_scorer(2, 1))) == []


def test_each_run_has_its_own_figures(bundled):
    runs = {name: bundled(name) for name in ("umls-transe", "umls-complex")}
    triple = InspectedTriple(*runs["umls-transe"].graph.splits["test"][0].tolist())
    table = same_triple(runs, triple).set_index("run")
    for name, run in runs.items():
        found, row = inspect_triple(run, triple), table.loc[name]
        assert row["score"] == found.score
        for side in ("tail", "head", "relation"):
            answer = found.sides[side].answer
            assert row[f"{side}_rank"] == found.sides[side].rank(answer).realistic
        assert [row["relik"], row["relik_head_rank"], row["relik_tail_rank"]] == [
            found.relik.value,
            found.relik.head_rank,
            found.relik.tail_rank,
        ]


def test_another_run_of_one_s_own_name(bundled):
    """It took the place of the run that was asked about, whose numbers stood nowhere."""
    own, other = bundled("umls-rotate"), bundled("umls-distmult")
    found = with_others(own, {"umls-rotate": other, "b": own})
    assert [*found] == [f"umls-rotate ({own.weights_digest[:6]})", "umls-rotate", "b"]
    assert [*found.values()] == [own, other, own]
    assert [*with_others(own, {"b": other})] == ["umls-rotate", "b"]


def test_runs_of_other_graphs_are_refused(bundled):
    run = bundled("umls-transe")
    graph = replace(run.graph, splits={**run.graph.splits, "test": run.graph.splits["valid"]})
    with pytest.raises(KgdashError, match="one graph"):
        same_triple({"a": run, "b": replace(run, graph=graph)}, InspectedTriple(0, 0, 1))


def test_looking_for_runs_stops_when_there_are_enough_or_it_is_ended(bundled):
    run = bundled("umls-rotate")
    assert runs_on_same_graph(run, 2) == runs_on_same_graph(run)[:2]

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs_on_same_graph(run, progress=stop)
