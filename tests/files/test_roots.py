"""Where a visitor's paths lead: below the roots, or to one and the same refusal."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files import visitor
from kgdash.files.roots import may_open, opened
from kgdash.files.visitor import NOBODY, Visitor


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Make a root with a run, links to and fro, and a neighbour that nobody may see."""
    top = Path(os.path.realpath(tmp_path_factory.mktemp("tree")))
    for folder in ("root/run/inner", "root/clean", "rootless", "outside/run"):
        (top / folder).mkdir(parents=True)
    for file in ("root/run/run.json", "root/file", "outside/secret", "outside/run/run.json"):
        (top / file).write_text("x")
    (top / "root/out").symlink_to(top / "outside")
    (top / "root/in").symlink_to("run")
    (top / "root/dangling").symlink_to("../outside/none")
    (top / "root/loop").symlink_to("loop")
    (top / "root/run/inner/link").symlink_to("../../../outside/secret")
    (top / "entry").symlink_to("root")
    return top


@pytest.fixture
def kept(tree, as_visitor) -> Path:
    as_visitor(roots=(tree / "root",))
    return tree


def refusal(named) -> str:
    with pytest.raises(KgdashError) as caught:
        opened(named)
    return str(caught.value)


def test_at_this_machine_everything_is_as_it_is_named():
    assert opened("some/../where") == Path("some/../where")


def test_below_the_root_the_real_path_is_opened(kept):
    assert opened(kept / "root" / "clean") == kept / "root" / "clean"
    assert opened(f"{kept}/root/./clean/../file") == kept / "root" / "file"
    assert opened(kept / "root" / "none" / "yet") == kept / "root" / "none" / "yet"
    assert opened(kept / "root" / "run" / "run.json").read_text() == "x"


def test_links_within_the_root_are_followed(kept):
    (kept / "root" / "to-clean").unlink(missing_ok=True)
    (kept / "root" / "to-clean").symlink_to("clean")
    assert opened(kept / "root" / "to-clean") == kept / "root" / "clean"


@pytest.mark.parametrize(
    "named",
    [
        "outside",
        "outside/secret",
        "outside/none",
        "rootless",
        "root/../outside/secret",
        "root/out",
        "root/out/secret",
        "root/out/none",
        "root/out/../outside/secret",
        "root/dangling",
        "ROOT/clean",
        "root\0",
        "",
        "entry/clean",
    ],
)
def test_all_else_is_refused_alike(kept, named):
    path = f"{kept}/{named}" if named else ""
    assert refusal(path) == f"{path} is not below a folder that may be opened here"


@pytest.mark.parametrize("named", ["~", "~root", "/etc/passwd", "/etc/none", "/", ".", "..", "x"])
def test_other_ways_to_say_elsewhere(kept, named):
    assert refusal(named) == f"{named} is not below a folder that may be opened here"


@pytest.mark.parametrize("named", ["root/run", "root/in"])
def test_a_folder_with_a_link_that_leads_out(kept, named):
    assert "may be opened here" in refusal(kept / named)


def test_nothing_is_asked_of_the_disk_about_what_lies_elsewhere(kept, monkeypatch):
    monkeypatch.setattr(os.path, "realpath", lambda path: pytest.fail(f"looked at {path}"))
    monkeypatch.setattr(os, "lstat", lambda path: pytest.fail(f"looked at {path}"))
    refusal(kept / "outside" / "secret")


def test_a_folder_without_end_is_refused(kept, monkeypatch):
    monkeypatch.setattr("kgdash.files.roots._MOST", 2)
    full = kept / "root" / "full"
    full.mkdir(exist_ok=True)
    for name in "abc":
        (full / name).touch()
    assert "may be opened here" in refusal(full)


def test_nobody_opens_anything(kept, monkeypatch):
    monkeypatch.setattr(visitor, "_source", [lambda: NOBODY])
    assert not may_open(kept / "root" / "clean")


_NAMES = "root run inner link out in outside secret dangling loop .. . entry ROOT clean"
_PARTS = st.sampled_from([*_NAMES.split(), ""])


@given(st.lists(_PARTS, max_size=8))
def test_whatever_is_opened_lies_below_the_root(tree, parts):
    root, before = tree / "root", visitor._source[0]
    visitor.ask_who(lambda: Visitor(roots=(root,)))
    try:
        found = opened("/".join([str(tree), *parts]))
    except KgdashError:
        return
    finally:
        visitor.ask_who(before)
    assert found == root or root in found.parents
    real = Path(os.path.realpath(found))
    assert real == found
