"""What a run says of itself, read without its model."""

import json

import pytest

from kgdash.formats.run_directory import read_run, write_run
from kgdash.runs import description
from kgdash.runs.bundled import DEMO
from kgdash.runs.description import describe_run
from kgdash.runs.loading import convert, load

NOTHING = ("model", "graph", "dimension", "seed", "mrr", "hits_at_10", "evaluated_by", "created")


def test_a_bundled_run():
    manifest = json.loads((DEMO / "umls-complex" / "run.json").read_text())
    assert describe_run("x", DEMO / "umls-complex") == {
        "name": "x",
        "model": "ComplEx",
        "graph": "umls",
        "dimension": 50,
        "seed": 0,
        "mrr": manifest["training"]["evaluation"]["inverse_harmonic_mean_rank"],
        "hits_at_10": manifest["training"]["evaluation"]["hits_at_10"],
        "evaluated_by": "kgdash",
        "created": None,
    }


def test_a_run_that_was_never_trained_here_says_its_graph_and_when(tmp_path):
    graph, spec, state, _ = read_run(DEMO / "umls-rotate")
    write_run(tmp_path / "mine", graph, spec, state, {}, {})
    found = describe_run("mine", tmp_path / "mine")
    assert (found["model"], found["graph"], found["mrr"]) == ("RotatE", "umls", None)
    assert found["created"].endswith("+00:00")


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"[1]",
        b"[" * 100_000,
        b"\xff",
        b'{"model": 3, "training": [], "graph": {}, "created": 7}',
        b'{"model": {"name": 4, "kwargs": {"embedding_dim": "wide"}}, "created": "soon"}',
        b'{"training": {"evaluation": {"inverse_harmonic_mean_rank": true, "hits_at_10": "x"}}}',
        b'{"training": {"evaluation": {}, "pykeen_evaluation": [0.5]}}',
        b'{"created": "0001-01-01T00:00:00+23:00"}',
    ],
)
def test_a_manifest_that_says_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    found = describe_run("x", tmp_path)
    assert [found[key] for key in NOTHING] == [None] * len(NOTHING)


def test_an_import_has_the_mrr_that_pykeen_recorded(tmp_path, pykeen_directory):
    convert(pykeen_directory, tmp_path / "mine", "nations")
    results = json.loads((pykeen_directory / "results.json").read_text())
    recorded = results["metrics"]["both"]["realistic"]
    for folder in (tmp_path / "mine", pykeen_directory):
        found = describe_run("x", folder)
        assert found["mrr"] == recorded["inverse_harmonic_mean_rank"]
        assert found["hits_at_10"] == recorded["hits_at_10"]
        assert found["evaluated_by"] == "PyKEEN"
    # PyKEEN's pipeline evaluates as we do: it is the run's own value.
    ranks = load(tmp_path / "mine").ranks()
    assert (1 / ranks["realistic"]).mean() == pytest.approx(found["mrr"], rel=1e-5)


def test_a_file_is_read_again_only_when_it_changes(tmp_path, monkeypatch):
    read, real = [], description._content
    monkeypatch.setattr(description, "_content", lambda path: read.append(path.name) or real(path))
    manifest = tmp_path / "run.json"
    for mrr in (0.25, 0.5):
        text = f'{{"training": {{"evaluation": {{"inverse_harmonic_mean_rank": {mrr}}}}}}}'
        manifest.write_text(text)
        assert [describe_run(name, tmp_path)["mrr"] for name in ("x", "y")] == [mrr, mrr]
    manifest.unlink()
    assert describe_run("x", tmp_path)["mrr"] is None
    assert read == ["run.json", "run.json", "run.json", "results.json"]


@pytest.mark.parametrize("odd", ["1e400", "9" * 400, "NaN", "[1]", "true"])
def test_numbers_that_are_none_are_left_out(tmp_path, odd):
    evaluation = f'{{"inverse_harmonic_mean_rank": {odd}, "hits_at_10": {odd}}}'
    (tmp_path / "run.json").write_text(
        f'{{"training": {{"evaluation": {evaluation}, "random_seed": {odd}}}}}'
    )
    row = describe_run("run", tmp_path)
    assert [row[key] for key in ("mrr", "hits_at_10", "seed", "evaluated_by")] == [None] * 4


def test_a_text_that_no_page_can_show_is_left_out(tmp_path):
    (tmp_path / "run.json").write_text('{"graph": "\\ud800"}')
    assert describe_run("run", tmp_path)["graph"] is None


def test_more_runs_than_a_thousand_are_read_once_each(tmp_path, monkeypatch):
    """A page lists all, in the same order: a cache of fewer would have none of them."""
    read, real = [], description._content
    monkeypatch.setattr(description, "_content", lambda path: read.append(path) or real(path))
    folders = [tmp_path / str(number) for number in range(1100)]
    for folder in folders:
        folder.mkdir()
        (folder / "run.json").write_text('{"graph": "umls"}')
    for _ in range(2):
        assert {describe_run("x", folder)["graph"] for folder in folders} == {"umls"}
    assert len([path for path in read if path.name == "run.json"]) == len(folders)


def test_a_long_name_is_cut(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"graph": "g" * 10_000}))
    assert describe_run("run", tmp_path)["graph"] == "g" * 256
