"""Few runs stay loaded, unless they are small, and none under another's name."""

import shutil
from dataclasses import replace

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import IDS
from kgdash.runs.bundled import DEMO
from kgdash.runs.library import keep_run, rename_run
from kgdash.ui.runtime import loaded_runs, short_memory
from kgdash.ui.runtime.held import held_bytes
from kgdash.ui.runtime.loaded_runs import (
    _stamp,
    check_together,
    forget_runs,
    is_small,
    load_beside,
    load_source,
    quick_runs,
    sound_runs,
)


def test_bundled_runs_of_a_small_graph_are():
    names = ("umls-transe", "umls-transe-seed4", "umls-conve", "umls-rotate")
    assert all(is_small(_stamp(DEMO / name)) for name in names)
    assert not is_small(_stamp(DEMO / "fb15k-237-complex"))


def test_what_can_not_be_known_to_be_is_not(tmp_path):
    """Of many files only some are looked at, and those of other forms lie in folders below."""
    assert not is_small(_stamp(tmp_path / "none"))
    (tmp_path / "trained_model.pkl").write_bytes(b"x")
    assert not is_small(_stamp(tmp_path))
    (tmp_path / "run.json").write_bytes(b"{}")
    assert is_small(_stamp(tmp_path))
    for number in range(64):
        (tmp_path / f"{number}").touch()
    (tmp_path / "weights.safetensors").write_bytes(bytes(2**20))
    assert not is_small(_stamp(tmp_path))


def test_nor_is_what_is_large(tmp_path):
    (tmp_path / "run.json").write_bytes(bytes(2**18 + 1))
    assert not is_small(_stamp(tmp_path))


def test_another_dataset_in_its_folder_is_read_anew(tmp_path, pykeen_directory):
    folder, names = tmp_path / "data", {}
    folder.mkdir()
    graph = load_source(str(pykeen_directory), "nations").graph
    for split, triples in graph.splits.items():
        rows = graph.with_names(pd.DataFrame(triples, columns=IDS))[["head", "relation", "tail"]]
        names[split] = rows.to_csv(sep="\t", header=False, index=False)
        (folder / f"{split}.txt").write_text(names[split])
    before = load_source(str(pykeen_directory), str(folder)).graph
    assert len(before.splits["test"]) == len(graph.splits["test"])
    (folder / "test.txt").write_text("".join(names["test"].splitlines(keepends=True)[:9]))
    assert len(load_source(str(pykeen_directory), str(folder)).graph.splits["test"]) == 9


def test_what_took_a_runs_place_while_it_was_read_is_not_kept_as_that_run(monkeypatch):
    """Files that are moved keep their times: with the run back, the other one would be shown."""
    loaded_runs._load_small.clear()  # other tests may have loaded a copy of the same files
    for name, source in {"mine": "umls-rotate", "other": "umls-pairre"}.items():
        keep_run(lambda out, source=source: shutil.copytree(DEMO / source, out), name)

    def swap(first, second):
        rename_run(first, "aside")
        rename_run(second, first)
        rename_run("aside", second)

    load = loaded_runs.load

    def load_meanwhile(*arguments):
        swap("mine", "other")
        return load(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(loaded_runs, "load", load_meanwhile)
        with pytest.raises(KgdashError, match="changed meanwhile"):
            load_source("mine")
    swap("mine", "other")
    assert load_source("mine").spec.name == "RotatE"
    assert load_source("other").spec.name == "PairRE"


@pytest.mark.parametrize("small", [0, 2**18])
def test_in_which_order_runs_may_go(monkeypatch, small, as_visitor):
    """Nine of 490,000 entities, of zip files of 5.6 MB, took the server 2.6 GB more."""
    loads, load = [], loaded_runs.load
    monkeypatch.setattr(loaded_runs, "load", lambda *of: loads.append(of[0]) or load(*of))
    monkeypatch.setattr(loaded_runs, "_SMALL", small)
    forget_runs([id(run.graph) for run, _ in loaded_runs.loaded_runs()])
    monkeypatch.setattr(loaded_runs, "_left", [])  # other tests may use some
    asked = ["bob transe", "ada transe", "ada rotate", "ada complex", "bob pairre", "bob complex"]
    for owner, name in map(str.split, asked):
        as_visitor(name=owner, folder=owner)
        load_source(f"umls-{name}")
    runs = list(loaded_runs.loaded_runs())
    found = [(run.name.removeprefix("umls-"), owner) for run, owner in runs]
    assert found == [("rotate", "ada"), ("pairre", "bob"), ("transe", "ada"), ("complex", "bob")]
    with monkeypatch.context() as later:
        later.setattr(loaded_runs, "_LATELY", 0.0)
        assert next(run.name for run, _ in loaded_runs.loaded_runs()) == "umls-transe"
    loads.clear()
    forget_runs([id(run.graph) for run, _ in runs[:2]])
    for name in ("transe", "complex", "rotate", "pairre"):
        load_source(f"umls-{name}")
    assert loads == ["umls-rotate", "umls-pairre"]
    assert len(loaded_runs._opened) == 4


def test_a_server_asks_bundled_and_small_runs_unasked(tmp_path, monkeypatch, as_visitor, bundled):
    """Six that one account added to a bundled graph had everybody's Compare take minutes.

    Small ones that said to be seeds of a bundled run had everybody's Agreement say another share;
    five ConvKB of 50 KB had Compare of another account's run take minutes.
    """
    monkeypatch.setenv("KGDASH_RUNS", str(tmp_path))
    for owner, names in {"ada": ("small", "large", "mine"), "bob": ("bobs",)}.items():
        as_visitor(name=owner, folder=owner)
        for name in names:
            keep_run(lambda out: shutil.copytree(DEMO / "umls-rotate", out), name)
    shutil.copytree(DEMO / "umls-rotate", tmp_path / "server")
    (tmp_path / "large" / "run.json").write_bytes(bytes(2**18 + 1))
    names = ["large", "umls-conve", "small", "fb15k-237-complex", "bobs", "server", "none"]
    run = bundled("umls-transe")
    mine, bobs, server = (replace(run, name=name) for name in ("mine", "bobs", "server"))
    ours = ["umls-conve", "fb15k-237-complex"]
    assert quick_runs(run, names) == ours
    assert quick_runs(mine, names) == [*ours, "small"]
    assert quick_runs(bobs, names) == [*ours, "bobs"]
    assert quick_runs(server, names) == [*ours, "server"]
    as_visitor()
    assert quick_runs(run, names) == quick_runs(mine, names) == names


def test_the_runs_of_a_page_hold_so_much_together(bundled, monkeypatch, as_visitor):
    """Eight TuckER of 0.5 MB zipped took 3.2 GB, in one tab."""
    runs = [bundled(name) for name in ("umls-transe", "umls-rotate")]
    monkeypatch.setattr(loaded_runs, "_TOGETHER", held_bytes(runs) // 2)
    check_together(runs)
    as_visitor(name="ada", folder="a")
    check_together(runs[:1])
    with pytest.raises(KgdashError, match="2 of these runs take more than 1 GiB together; take"):
        check_together(runs)


def test_no_more_are_loaded_than_the_page_holds(monkeypatch, as_visitor):
    """A trust card loaded seven of 288 MB each, and then refused them."""
    names = [f"umls-{name}" for name in ("transe", "rotate", "pairre", "complex")]
    run, *others = map(load_source, names)
    together = sum(map(loaded_runs._weight, [run, *others[:2]]))
    monkeypatch.setattr(loaded_runs, "_TOGETHER", together)
    asked, load = [], loaded_runs.load_beside
    monkeypatch.setattr(loaded_runs, "load_beside", lambda name: asked.append(name) or load(name))
    found = [*names[1:3], "none", *names[3:], names[1]]
    assert list(sound_runs(found, beside=[run])) == names[1:]
    as_visitor(name="ada", folder="a")
    asked.clear()
    assert list(sound_runs(found, beside=[run])) == names[1:3]
    assert asked == found[:4]


def test_where_memory_is_short_no_run_is_loaded_beside_others(monkeypatch, as_visitor):
    """Two tabs that compared eight of 0.5 MB zipped took 3 GB, each within its own bound."""
    load_source("umls-rotate")
    forget_runs([id(run.graph) for run, _ in loaded_runs.loaded_runs() if "pairre" in run.name])
    monkeypatch.setattr(short_memory, "own_memory", lambda: 2**40)
    assert load_beside("umls-rotate").name == "umls-rotate"
    as_visitor(name="ada", folder="a")
    assert load_beside("umls-rotate").name == "umls-rotate"
    with pytest.raises(KgdashError, match="memory is short, and umls-pairre is not loaded: take"):
        load_beside("umls-pairre")
    assert list(sound_runs(["umls-pairre", "umls-rotate"])) == ["umls-rotate"]
    assert load_source("umls-pairre").name == "umls-pairre"
    assert load_beside("umls-pairre").name == "umls-pairre"


def test_a_dataset_outside_the_roots_is_not_looked_at(tmp_path, as_visitor):
    """How long the refusal took told whether it was there, and how much it held."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "train.txt").touch()
    inside = _stamp(tmp_path, str(tmp_path / "outside"))
    as_visitor(name="ada", folder="a", roots=(tmp_path / "root",))
    assert inside
    assert _stamp(tmp_path, str(tmp_path / "outside")) == _stamp(tmp_path)
