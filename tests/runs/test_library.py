"""The folder of runs: names, and runs that are whole or not there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.library import (
    check_new_name,
    keep_run,
    list_runs,
    named_runs,
    named_stamps,
    own_names,
    remove_run,
    rename_run,
    run_folder,
    run_stamp,
    runs_folder,
    suggested_name,
)
from kgdash.runs.loading import load


def copy_demo(out: Path, name: str = "umls-rotate") -> Path:
    return Path(shutil.copytree(DEMO / name, out))


def in_folder() -> list[str]:
    return sorted(path.name for path in runs_folder().iterdir())


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path / "data"))
    assert runs_folder() == tmp_path / "data" / "runs"
    monkeypatch.setenv("KGDASH_RUNS", str(tmp_path / "mine"))
    assert runs_folder() == tmp_path / "mine"
    assert (own_names(), list(named_runs())) == ([], bundled_names())


def test_a_kept_run_goes_by_its_name():
    kept = keep_run(copy_demo, "my first")
    assert kept == runs_folder() / "my first"
    assert in_folder() == ["my first"]
    assert run_folder("my first") == kept
    run = load("my first")
    assert (run.name, run.provenance["source"]) == ("my first", "my first")
    rows = list_runs()
    assert [(row["name"], row["place"]) for row in rows] == [
        ("my first", "own"),
        *((name, "bundled") for name in bundled_names()),
    ]


def test_without_a_name_it_is_graph_and_model_numbered():
    # Bundled names are taken, too.
    assert [keep_run(copy_demo).name for _ in range(2)] == ["umls-rotate-2", "umls-rotate-3"]
    assert suggested_name("umls", "RotatE") == "umls-rotate-4"
    assert suggested_name("../Å_b?", "X" * 500) == "å-b-" + "x" * 36
    assert suggested_name("…", "") == "run"
    assert keep_run(copy_demo, "umls-rotate-2", numbered=True).name == "umls-rotate-2-2"


def test_what_fails_half_way_leaves_nothing():
    def fail(out: Path) -> None:
        copy_demo(out)
        raise KgdashError("enough")

    with pytest.raises(KgdashError, match="enough"):
        keep_run(fail, "mine")
    assert in_folder() == []


def test_a_name_taken_meanwhile_is_refused_or_numbered():
    def slowly(out: Path) -> None:
        keep_run(copy_demo, "mine")
        copy_demo(out, "umls-pairre")

    with pytest.raises(KgdashError, match="there is a run mine already"):
        keep_run(slowly, "mine")
    remove_run("mine")
    assert keep_run(slowly, "mine", numbered=True).name == "mine-2"
    assert [load(name).spec.name for name in own_names()] == ["RotatE", "PairRE"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "/a",
        "a.",
        " a",
        "a ",
        "a\nb",
        "a\0",
        "a:b",
        "a|b",
        "x" * 81,
        "長" * 60,
        "_" * 79 + "!",
        "umls-complex\u3164",  # looks as the bundled run's
        "…",
        "A folder on this machine …",
    ],
)
def test_names_that_can_not_be(name):
    with pytest.raises(KgdashError, match="expected a name of letters"):
        check_new_name(name)


@given(name=st.text(max_size=12) | st.text(alphabet="a./\\_- \0~", max_size=6))
def test_a_name_that_can_be_is_a_folder_in_the_folder_of_runs(name):
    try:
        check_new_name(name)
    except KgdashError:
        return
    target = runs_folder() / name
    assert target.parent == runs_folder()
    assert target.resolve().parent == runs_folder().resolve()
    assert not name.startswith(".")


def test_what_is_no_run_of_the_user_is_not_listed():
    runs_folder().mkdir()
    (runs_folder() / "notes.txt").write_text("mine")
    (runs_folder() / "empty").mkdir()
    for name in (".new-x", "umls-transe", "a|b"):
        copy_demo(runs_folder() / name)
    assert own_names() == []
    assert run_folder("umls-transe") == DEMO / "umls-transe"


def test_rename():
    keep_run(copy_demo, "old")
    keep_run(copy_demo, "other")
    assert rename_run("old", "new") == runs_folder() / "new"
    assert own_names() == ["new", "other"]
    assert rename_run("new", "new") == runs_folder() / "new"
    for old, new, message in [
        ("new", "other", "there is a run other already"),
        ("new", "../x", "expected a name of letters"),
        ("new", "umls-transe", "umls-transe is the name of a bundled run"),
        ("old", "third", "unknown run 'old' in your runs"),
        ("umls-transe", "mine", "umls-transe is a bundled run"),
        ("../other", "mine", r"unknown run '\.\./other'"),
    ]:
        with pytest.raises(KgdashError, match=message):
            rename_run(old, new)
    assert own_names() == ["new", "other"]


def test_remove():
    keep_run(copy_demo, "mine")
    (runs_folder() / "mine" / "groupings.json").write_text("{}")
    remove_run("mine")
    assert in_folder() == []
    for name, message in [("mine", "unknown run 'mine'"), ("umls-transe", "is a bundled run")]:
        with pytest.raises(KgdashError, match=message):
            remove_run(name)
    assert (DEMO / "umls-transe" / "run.json").is_file()


def test_another_run_under_the_name_stays():
    """Delete removed what stood there by then, not the run that was asked about."""
    keep_run(copy_demo, "mine")
    asked = run_stamp("mine")
    rename_run("mine", "moved", asked)
    keep_run(copy_demo, "mine")
    for act in (lambda: remove_run("mine", asked), lambda: rename_run("mine", "new", asked)):
        with pytest.raises(KgdashError, match="mine was changed meanwhile, or is another run by"):
            act()
    assert own_names() == ["mine", "moved"]
    remove_run("mine", run_stamp("mine"))
    assert own_names() == ["moved"]
    with pytest.raises(KgdashError, match="unknown run 'mine'"):
        run_stamp("mine")


def test_removing_a_link_leaves_what_it_leads_to(tmp_path):
    elsewhere = copy_demo(tmp_path / "elsewhere")
    runs_folder().mkdir()
    (runs_folder() / "linked").symlink_to(elsewhere)
    assert own_names() == ["linked"]
    remove_run("linked")
    assert in_folder() == []
    assert (elsewhere / "run.json").is_file()


def test_two_processes_that_remove_the_same_run():
    """Of two removers one removes it, and the other says that it is not there any more."""
    code = (
        "import sys; from kgdash.runs import library; from kgdash.errors import KgdashError\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for i in range(20):\n"
        "    try:\n"
        "        library.remove_run(f'run{i}'); print('removed')\n"
        "    except KgdashError as error: print('unknown run' in str(error) or\n"
        "        'is not there any more' in str(error))\n"
    )
    for i in range(20):
        keep_run(copy_demo, f"run{i}")
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    ends = [each.communicate(timeout=60) for each in both]
    assert [err for _, err in ends] == ["", ""]
    for pair in zip(*(out.split() for out, _ in ends), strict=True):
        assert sorted(pair) == ["True", "removed"]
    assert in_folder() == []


def test_a_folder_that_can_not_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KGDASH_RUNS", str(tmp_path / "file" / "runs"))
    with pytest.raises(KgdashError, match="can not write"):
        keep_run(copy_demo, "mine")


@pytest.mark.parametrize("name", ["UMLS-transe", "ｕmls-TransE"])
def test_no_name_looks_like_a_bundled_run_s(name):
    with pytest.raises(KgdashError, match="umls-transe is the name of a bundled run"):
        check_new_name(name)


def test_stamps_change_when_another_run_has_the_name():
    copy_demo(runs_folder() / "a")
    before = named_stamps()
    assert [name for name, _, _ in before] == list(named_runs())
    remove_run("a")
    copy_demo(runs_folder() / "a", "umls-distmult")
    assert named_stamps() != before
