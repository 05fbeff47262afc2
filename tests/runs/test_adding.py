"""Runs from elsewhere become one's own, whole or not at all."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.files import bounds, visitor
from kgdash.files.visitor import Visitor, working_for
from kgdash.runs import adding, library
from kgdash.runs.adding import add_folder, add_zip
from kgdash.runs.bundled import DEMO
from kgdash.runs.library import list_runs, own_names, remove_run, runs_folder
from kgdash.runs.loading import load


def zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.rglob("*"):
            archive.write(path, Path(folder.name) / path.relative_to(folder))
    return buffer.getvalue()


def spoil(folder: Path) -> Path:
    whole = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(whole[:-4] + b"\0\0\0\0")
    return folder


def nothing_left() -> bool:
    return not runs_folder().exists() or not list(runs_folder().iterdir())


@pytest.fixture
def mine(tmp_path):
    folder = Path(shutil.copytree(DEMO / "umls-rotate", tmp_path / "My run"))
    (folder / "groupings.json").write_text("{}")
    (folder / "notes.txt").write_text("not part of the run")
    return folder


@pytest.mark.parametrize("ended", ["before its bounds are looked at", "then"])
def test_who_logs_out_while_a_run_is_added_adds_none(mine, monkeypatch, ended):
    """Nobody was bounded by nothing, and asked for the right once: any run was kept."""
    content, looked_at = zipped(mine), adding._check_bounds
    ada = Visitor(name="ada", folder="ada", roots=(), most_rows=10**6, longest_label=100)
    here = [ada]
    monkeypatch.setattr(visitor, "_source", [lambda: here[0]])

    def check_bounds(run, shown):
        if ended != "then":
            here[0] = visitor.NOBODY
        looked_at(run, shown)
        here[0] = visitor.NOBODY

    monkeypatch.setattr(adding, "_check_bounds", check_bounds)
    with pytest.raises(KgdashError, match="log in again" if ended != "then" else "may not"):
        add_zip(content, "mine.zip")
    here[0] = ada
    assert nothing_left()


@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_run_in_our_form(mine, bundled, how):
    def add(name: str = "") -> Path:
        return (
            add_folder(mine, name=name)
            if how == "folder"
            else add_zip(zipped(mine), "My run.zip", name=name)
        )

    kept = add()
    assert kept == runs_folder() / "my-run"
    assert not (kept / "notes.txt").exists()
    assert (kept / "groupings.json").read_text() == "{}"
    assert load("my-run").digest == bundled("umls-rotate").digest
    assert add().name == "my-run-2"
    assert add(" By name ").name == "By name"
    with pytest.raises(KgdashError, match="there is a run By name already"):
        add("By name")
    assert own_names() == ["By name", "my-run", "my-run-2"]


def test_visitors_of_a_server_add_runs(mine, bundled):
    """The copy lies where they could name nothing; what is copied is within their roots."""
    digest = bundled("umls-rotate").digest
    with working_for(Visitor("ada", "ada", roots=())):
        add_zip(zipped(mine), "My run.zip")
        assert load("my-run").digest == digest
        with pytest.raises(KgdashError, match="not below a folder that may be opened"):
            add_folder(mine)
    with working_for(Visitor("ada", "ada", roots=(mine.parent,))):
        assert load(add_folder(mine).name).digest == digest
    (mine / "run.json").write_text("{}")
    with working_for(Visitor("ada", "ada", roots=())), pytest.raises(KgdashError):
        add_zip(zipped(mine), "My run.zip", name="damaged")
    assert own_names() == ["my-run", "my-run-2"]


@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_pykeen_directory(pykeen_directory, how):
    def add(dataset: str | None) -> Path:
        if how == "folder":
            return add_folder(pykeen_directory, dataset)
        return add_zip(zipped(pykeen_directory), "tiny.zip", dataset)

    with pytest.raises(KgdashError, match="is a PyKEEN directory, which does not say"):
        add(None)
    with pytest.raises(KgdashError, match="was trained on 14 entities"):
        add("umls")
    assert nothing_left()
    assert add("nations").name == "tiny"
    assert [(row["model"], row["graph"]) for row in list_runs()[:1]] == [("TransE", "nations")]
    assert {path.suffix for path in (runs_folder() / "tiny").iterdir()} == {".json", ".safetensors"}
    pairs = torch.tensor([[0, 1], [5, 2]])
    found, expected = load("tiny"), load(pykeen_directory, "nations")
    assert torch.equal(found.scorer.score_tails(pairs), expected.scorer.score_tails(pairs))


def test_what_is_damaged_is_named_as_it_was_given(mine):
    spoil(mine)
    with pytest.raises(KgdashError) as caught:
        add_folder(mine)
    assert str(caught.value).startswith(f"{mine / 'weights.safetensors'} is damaged")
    with pytest.raises(KgdashError) as caught:
        add_zip(zipped(mine), "mine.zip")
    assert str(caught.value).startswith("mine.zip/weights.safetensors is damaged")
    assert nothing_left()


def test_refusals(mine, tmp_path):
    for arguments, message in [
        ((tmp_path / "nope",), "There is no folder .*nope"),
        (("x" * 5000,), "There is no folder x"),
        (("\0",), "There is no folder"),
        ((mine / "run.json",), "There is no folder .*run.json"),
        ((mine, "umls"), "holds its own graph; leave the dataset out"),
        ((mine, None, "../x"), "expected a name of letters"),
        ((tmp_path,), "is not a run"),
        ((DEMO / "umls-rotate",), "is among the runs already"),
    ]:
        with pytest.raises(KgdashError, match=message):
            add_folder(*arguments)
    with pytest.raises(KgdashError, match=r"x\.zip is not a zip file"):
        add_zip(b"something else", "x.zip")
    assert nothing_left()


def test_nothing_is_not_the_folder_one_stands_in(tmp_path, monkeypatch):
    shutil.copytree(DEMO / "umls-transe", tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    with pytest.raises(KgdashError, match="There is no folder"):
        add_folder("")


def test_names_of_relations_that_each_page_would_list(mine, monkeypatch):
    monkeypatch.setattr(bounds, "_LETTERS", 50)
    with working_for(Visitor("ada", "ada", roots=())):
        with pytest.raises(KgdashError, match="names of relations in r"):
            add_zip(zipped(mine), "r.zip")
        assert nothing_left()
    assert add_zip(zipped(mine), "r.zip").name == "r"  # at this machine


def test_long_labels_of_many_triples(mine, monkeypatch):
    monkeypatch.setattr(bounds, "_WRITTEN_OUT", 100_000)
    with working_for(Visitor("ada", "ada", roots=())):
        with pytest.raises(KgdashError, match=r"triples in r\.zip, written out, have"):
            add_zip(zipped(mine), "r.zip")
        assert nothing_left()
    assert add_zip(zipped(mine), "r.zip").name == "r"  # at this machine


@pytest.mark.parametrize("label", ["a", ""])
def test_long_names_of_labels_that_are_short(mine, monkeypatch, label):
    """They are written beside labels that others have, kept with judgements: 2.7 GB of 37 KB."""
    graph = json.loads((mine / "graph.json").read_text())
    count = len(graph["entities"])
    graph["entity_labels"] = [label or f"e{number}" for number in range(count)]
    graph["entities"] = [f"{number:0500}" for number in range(count)]
    (mine / "graph.json").write_text(json.dumps(graph))
    manifest = json.loads((mine / "run.json").read_text())
    digest = hashlib.sha256((mine / "graph.json").read_bytes()).hexdigest()
    manifest["sha256"]["graph.json"] = digest
    (mine / "run.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(bounds, "_WRITTEN_OUT", 2_000_000)
    refused = pytest.raises(KgdashError, match=r"triples in r\.zip, written out, have 6,\d")
    with working_for(Visitor("ada", "ada", roots=())), refused:
        add_zip(zipped(mine), "r.zip")


def test_a_long_record_that_each_list_of_runs_would_read(mine):
    manifest = json.loads((mine / "run.json").read_text())
    manifest["training"]["losses"] = [0.0] * 100_000
    (mine / "run.json").write_text(json.dumps(manifest))
    with working_for(Visitor("ada", "ada", roots=(mine.parent,))):
        for add in (lambda: add_zip(zipped(mine), "r.zip"), lambda: add_folder(mine)):
            with pytest.raises(KgdashError, match=r"run.json of .* has .* bytes; expected at most"):
                add()
        assert nothing_left()
        manifest["training"]["losses"] = [0.123456789012345678] * 8_000
        (mine / "run.json").write_text(json.dumps(manifest))
        assert add_zip(zipped(mine), "r.zip").name == "r"
    manifest["training"]["losses"] = [0.0] * 100_000
    (mine / "run.json").write_text(json.dumps(manifest))
    assert add_zip(zipped(mine), "long.zip").name == "long"  # at this machine


def test_visitors_have_so_many_runs_together(mine, monkeypatch):
    monkeypatch.setattr(library, "_MOST_RUNS", 2)
    ada, bob = (Visitor(name, name, roots=(mine.parent,)) for name in ("ada", "bob"))
    for who in (ada, bob):
        with working_for(who):
            add_zip(zipped(mine), "r.zip")
    for add in (lambda: add_zip(zipped(mine), "r.zip"), lambda: add_folder(mine)):
        with working_for(ada), pytest.raises(KgdashError, match=r"there are 2 runs here.*remove"):
            add()
    remove_run("r")
    with working_for(ada):
        add_zip(zipped(mine), "r.zip")
    assert add_zip(zipped(mine), "r.zip").name == "r-3"  # at this machine


def test_triples_are_counted_before_they_are_read(mine, monkeypatch):
    """Millions of one triple pack to nothing, and once read they take gigabytes."""
    monkeypatch.setattr(adding, "load", lambda folder: pytest.fail("it is read"))
    few = Visitor("ada", "ada", roots=(), most_rows=6_528)
    with working_for(few), pytest.raises(KgdashError, match="holds more than 6,528 triples"):
        add_zip(zipped(mine), "My run.zip")
    assert nothing_left()
