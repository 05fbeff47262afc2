"""Files and folders appear whole or not at all; what dead writers left goes, and nothing else."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from kgdash.errors import KgdashError
from kgdash.files import atomic
from kgdash.files.atomic import (
    atomic_file,
    draft_folder,
    make_folder,
    move,
    publish,
    share,
    sweep_drafts,
    write_atomically,
)
from kgdash.files.drafts import draft, held_folder
from tests.support.paths import ROOT

WRITER = """
import sys, time
from pathlib import Path
from kgdash.files.atomic import atomic_file, draft_folder
with {manager}(Path(sys.argv[1])) as draft:
    (draft / "part" if draft.is_dir() else draft).write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["atomic_file", "draft_folder"])
def writer(request, tmp_path):
    """Start a process that has written half of ``out``."""
    code = WRITER.format(manager=request.param)
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "out"], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout.readline() == b"writing\n"
    yield process
    process.kill()
    process.wait()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, text: str = "whole") -> None:
    with atomic_file(path) as part:
        part.write_text(text)


def test_a_living_writer_s_draft_stays_and_a_dead_one_s_goes(tmp_path, writer):
    (draft,) = names(tmp_path)
    assert draft.startswith(".out-")
    write(tmp_path / "out")
    write(tmp_path / "other")
    assert names(tmp_path) == [draft, "other", "out"]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert draft in names(tmp_path)
    write(tmp_path / "third")
    assert names(tmp_path) == ["other", "out", "third"]


def test_only_drafts_are_swept(tmp_path):
    kept = [".out-x.part", "a.kgdash-part", ".hidden", ".out-1.kgdash", ".notes.kgdash-part"]
    kept += [
        ".a-00000001.kgdash-part.keep",
        ".a-00000001.kgdash-partner",
        ".db-00000002.kgdash-part-journal",
    ]
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".link-00000001.kgdash-part").symlink_to(tmp_path / ".hidden")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".old-00000001.kgdash-part").mkdir()
    (tmp_path / ".old-00000001.kgdash-part" / "weights").write_text("half")
    (tmp_path / ".db-00000002.kgdash-part").write_text("half")
    sweep_drafts(tmp_path)
    sweep_drafts(tmp_path)
    assert names(tmp_path) == sorted([*kept, ".link-00000001.kgdash-part", "pipe"])


@pytest.mark.parametrize(
    ("mode", "swept"), [(0o755, True), (0o777, False), (0o1777, False), (0o775, False)]
)
def test_nothing_is_swept_where_others_may_give_names(tmp_path, mode, swept):
    """Another account named somebody's folder as a draft; the next file written removed it.

    In a folder that both may write, then in a sticky one, into which it was moved.
    """
    (tmp_path / ".thesis-00000001.kgdash-part").mkdir()
    (tmp_path / ".thesis-00000001.kgdash-part" / "data").write_text("ours")
    tmp_path.chmod(mode)
    write_atomically(tmp_path / "out", lambda part: part.write_text("a"))
    assert names(tmp_path) == (["out"] if swept else [".thesis-00000001.kgdash-part", "out"])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives folders away")
def test_nothing_is_swept_that_is_another_s(tmp_path):
    """In a sticky folder another's own, with what is ours in it, went by a draft's name."""
    (tmp_path / ".shared-00000001.kgdash-part").mkdir()
    (tmp_path / ".shared-00000001.kgdash-part" / "thesis").write_text("ours")
    os.chown(tmp_path / ".shared-00000001.kgdash-part", 12345, 12345)
    write_atomically(tmp_path / "out", lambda part: part.write_text("a"))
    assert names(tmp_path) == [".shared-00000001.kgdash-part", "out"]


def test_a_draft_of_many_folders_in_one_another_ends_nothing(tmp_path):
    deep = tmp_path / ".deep-00000001.kgdash-part"
    deep.mkdir()
    held = os.open(deep, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=held)
        inner = os.open("d", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = inner
    os.close(held)
    write_atomically(tmp_path / "out", lambda part: part.write_text("a"))
    assert (tmp_path / "out").read_text() == "a"
    subprocess.run(["rm", "-rf", str(deep)], check=True)


@pytest.mark.parametrize(
    ("umask", "folder", "file"), [(0o022, 0o755, 0o644), (0o077, 0o700, 0o600)]
)
def test_what_others_may_read_is_what_the_umask_lets_them(tmp_path, umask, folder, file):
    code = (
        f"import os; os.umask({umask})\nfrom pathlib import Path\n"
        "from kgdash.files.atomic import share, write_atomically\n"
        "write_atomically(Path('file'), lambda part: part.write_text('a'))\n"
        "Path('folder').mkdir(mode=0o700); share(Path('folder'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("folder", "file")]
    assert modes == [folder, file]


@pytest.mark.parametrize("mode", [0o600, 0o660])
def test_what_was_private_stays_so(tmp_path, mode):
    """What took its place was open to all."""
    (tmp_path / "out").write_text("private")
    (tmp_path / "out").chmod(mode)
    write_atomically(tmp_path / "out", lambda part: part.write_text("a"))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode


def test_one_that_fails_leaves_what_was_there(tmp_path):
    write(tmp_path / "out", "before")

    def fail(part):
        part.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(tmp_path / "out", fail)
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "before"


def test_a_pipe_or_a_device_stays_what_it_is(tmp_path):
    """``--out /dev/null`` as root would make a file of it for the whole machine."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for out in (tmp_path / "pipe", tmp_path / "link"):
        with pytest.raises(KgdashError, match=f"can not write {out}: it is a pipe, a device"):
            write_atomically(out, lambda part: part.write_text("x"))
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["link", "pipe"]


def test_a_swept_draft_is_made_anew(tmp_path, monkeypatch):
    """Another process sweeps between a draft's birth and its lock."""
    made, lock = [], draft._lock

    def swept_once(folder, name):
        made.append(name)
        if len(made) == 1:
            folder.unlink(name)
        return lock(folder, name)

    monkeypatch.setattr(draft, "_lock", swept_once)
    write(tmp_path / "out")
    assert len(set(made)) == 2
    assert names(tmp_path) == ["out"]


def test_without_locks_files_are_written_and_nothing_is_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(draft, "fcntl", None)
    (tmp_path / ".out-00000001.kgdash-part").write_text("whose?")
    write(tmp_path / "out")
    assert names(tmp_path) == [".out-00000001.kgdash-part", "out"]


def test_a_file_s_content_is_on_the_disk_before_its_name(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, os.replace

    def synced(handle):
        done.append(("sync", Path(os.readlink(f"/proc/self/fd/{handle}")).name[:4]))
        fsync(handle)

    def renamed(source, target, **places):
        done.append(("rename", Path(target).name))
        replace(source, target, **places)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write(tmp_path / "new" / "out")
    above = tmp_path.name[:4]
    assert done == [("sync", above), ("sync", ".out"), ("rename", "out"), ("sync", "new")]


def test_a_folder_s_files_are_on_the_disk_before_its_name(tmp_path, monkeypatch):
    done, fsync, rename = [], os.fsync, os.rename

    def synced(handle):
        done.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        fsync(handle)

    def renamed(source, target, **places):
        done.append("renamed")
        return rename(source, target, **places)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    with draft_folder(tmp_path / "out") as part:
        (part / "inner").mkdir()
        for name in ("a", "b", "inner/c"):
            (part / name).write_text(name)
        publish(part, tmp_path / "out")
    assert {*done[:5]} == {"a", "b", "c", "inner", part.name}
    assert done[5:] == ["renamed", tmp_path.name]
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a", "b", "inner"]


def test_a_disk_that_fails_is_said(tmp_path, monkeypatch):
    def fail(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KgdashError, match=r"can not write .*out: Input/output error"):
        write_atomically(tmp_path / "out", lambda part: part.write_text("whole"))
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [22, 95])
def test_file_systems_without_fsync_are_written_to(tmp_path, monkeypatch, error):
    def fail(handle):
        raise OSError(error, "Not supported")

    monkeypatch.setattr(os, "fsync", fail)
    write(tmp_path / "out")
    make_folder(tmp_path / "a" / "b")
    assert names(tmp_path) == ["a", "out"]


def test_a_folder_has_the_mode_that_is_asked_for(tmp_path):
    before = os.umask(0o002)
    try:
        make_folder(tmp_path / "a" / "b", 0o755)
    finally:
        os.umask(before)
    for each in (tmp_path / "a", tmp_path / "a" / "b"):
        assert stat.S_IMODE(each.stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_the_longest_name(tmp_path):
    for name in ("x" * 255, "é" * 127):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == "whole"


class Lab:
    """A folder in which somebody else may rename ``alice``, though not look into her folder."""

    def __init__(self, path: Path) -> None:
        self.path, self.alice = path, path / "alice"
        (self.alice / "thesis").mkdir(parents=True)
        (self.alice / "thesis" / "work").write_text("work")
        (path / "out").write_text("another's")
        self.alice.chmod(0o700)

    def exchange(self, new: str) -> None:
        """Rename her folder; its path leads to the one above by then."""
        self.alice.rename(self.path / new)
        self.alice.symlink_to(".")

    def check(self, new: str, *others: str) -> None:
        """All is there, under the new name, and nobody else may read what nobody might."""
        moved = self.path / new
        assert names(self.path) == sorted(["alice", "out", new])
        assert (self.path / "out").read_text() == "another's"
        assert names(moved) == sorted(["thesis", *others])
        assert (moved / "thesis" / "work").read_text() == "work"
        assert moved.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path / "lab")


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("out", ["out", "new"])
def test_a_folder_under_the_path_of_a_file_s_draft_stays(lab, out, late):
    """Who may rename in the folder above had its owner remove her own, by the draft's path."""
    made = []

    def write(part):
        made.append(part.name)
        if late:
            part.write_text("a")
        lab.exchange(part.name)
        if not late:
            part.write_text("a")

    with pytest.raises(KgdashError, match=f"can not write .*{out}: "):
        write_atomically(lab.alice / out, write)
    lab.check(*made)


def test_what_was_written_elsewhere_replaces_nothing(lab):
    (lab.alice / "out").write_text("before")
    made = []

    def write(part):
        lab.exchange("moved")
        made.append(part)
        part.write_text("a")

    with pytest.raises(KgdashError, match="out: its folder was moved or exchanged meanwhile"):
        write_atomically(lab.alice / "out", write)
    made[0].unlink()
    lab.check("moved", "out")
    assert (lab.path / "moved" / "out").read_text() == "before"


@pytest.mark.parametrize("act", ["share", "move", "publish"])
def test_what_was_given_a_draft_s_name_stays_private(tmp_path, act):
    """Who may write in the folder of an output had a private file there shared and published."""
    private = tmp_path / "private"
    private.mkdir() if act == "publish" else private.write_text("salary")
    private.chmod(0o700)

    def exchange(part):
        part.rename(tmp_path / "away")
        private.rename(part)
        drafts.append(part)

    def write():
        if act == "publish":
            with draft_folder(tmp_path / "out") as part:
                exchange(part)
                publish(part, tmp_path / "out")
            return
        with atomic_file(tmp_path / "out") as part:
            part.write_text("whole")
            exchange(part)
            if act == "share":
                share(part)

    drafts: list[Path] = []
    with pytest.raises(OSError, match="moved or exchanged meanwhile"):
        write()
    assert names(tmp_path) == sorted([drafts[0].name, "away"])
    assert drafts[0].stat().st_mode & 0o777 == 0o700


def test_a_pipe_in_a_draft_s_place_keeps_nobody_waiting(tmp_path):
    def write(part):
        part.unlink()
        os.mkfifo(part)

    with pytest.raises(KgdashError, match="it was moved or exchanged meanwhile"):
        write_atomically(tmp_path / "out", write)
    (left,) = tmp_path.iterdir()
    assert left.is_fifo()


@pytest.mark.parametrize("act", ["nothing", "share", "publish"])
def test_a_folder_under_the_path_of_a_draft_folder_stays(lab, act):
    ended = (
        pytest.raises(OSError, match="moved or exchanged") if act == "publish" else nullcontext()
    )
    with ended, draft_folder(lab.alice / "run") as part:
        (part / "weights").write_text("half")
        lab.exchange(part.name)
        if act == "publish":
            publish(part, lab.alice / "run")
        elif act == "share":
            share(part)
    lab.check(part.name)


def test_what_is_removed_is_of_the_folder_that_was_opened(lab):
    """As a run is removed: moved into a draft that goes."""
    (lab.alice / "run").mkdir()
    with draft_folder(lab.alice / "removed") as part:
        lab.exchange("moved")
        (lab.path / "run").mkdir()
        (lab.path / part.name).mkdir()
        move(lab.alice / "run", part / "run")
    (lab.path / "run").rmdir()
    (lab.path / part.name).rmdir()
    lab.check("moved")


def test_a_folder_exchanged_after_it_was_judged_is_not_swept(lab, monkeypatch):
    asked, number = [], os.geteuid

    def judged():
        if not asked:
            lab.exchange(".x-00000001.kgdash-part")
        asked.append(number())
        return asked[-1]

    monkeypatch.setattr(os, "geteuid", judged)
    lab.path.chmod(0o777)
    sweep_drafts(lab.alice)
    assert asked
    lab.check(".x-00000001.kgdash-part")


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("manager", [atomic_file, draft_folder])
def test_what_has_a_draft_s_name_by_the_end_stays(tmp_path, monkeypatch, manager, held):
    monkeypatch.setattr(held_folder, "_HELD", held)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "work").write_text("work")
    with suppress(RuntimeError), manager(tmp_path / "out") as part:
        part.rename(tmp_path / "away")
        (tmp_path / "thesis").rename(part)
        raise RuntimeError
    assert names(tmp_path) == sorted(["away", part.name])
    assert (part / "work").read_text() == "work"


def test_what_was_published_stays_whatever_its_name_is_then(tmp_path):
    with draft_folder(tmp_path / "out") as part:
        (part / "weights").write_text("whole")
        publish(part, tmp_path / "out")
        (tmp_path / "out").rename(part)
    assert (part / "weights").read_text() == "whole"


def test_a_folder_put_in_a_new_draft_s_place_is_none(tmp_path, monkeypatch):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "work").write_text("work")
    made, mkdir = [], os.mkdir

    def exchanged(name, *mode, dir_fd=None):
        mkdir(name, *mode, dir_fd=dir_fd)
        if dir_fd is None:
            return
        made.append(name)
        if len(made) == 1:
            (tmp_path / name).rmdir()
            (tmp_path / "thesis").rename(tmp_path / name)

    monkeypatch.setattr(os, "mkdir", exchanged)
    tmp_path.chmod(0o777)
    with draft_folder(tmp_path / "out") as part:
        assert part.name == made[1]
    assert names(tmp_path) == made[:1]
    assert names(tmp_path / made[0]) == ["work"]


@pytest.mark.parametrize("lockless", [False, True])
def test_a_file_put_in_a_new_draft_s_place_is_none(tmp_path, monkeypatch, lockless):
    """A private database had the name by the time that it was asked whose that was.

    It was opened to all, and published.
    """
    (private := tmp_path / "private.db").write_text("work")
    private.chmod(0o600)
    made, close = [], os.close

    def exchanged(handle):
        close(handle)
        new = [each for each in tmp_path.iterdir() if each.suffix == ".kgdash-part"]
        if new and not made:
            made.extend(new)
            private.rename(*new)

    monkeypatch.setattr(os, "close", exchanged)
    if lockless:
        monkeypatch.setattr(draft, "fcntl", None)
    tmp_path.chmod(0o777)
    with suppress(OSError), atomic_file(tmp_path / "out") as part:
        part.open("a").close()
        share(part)
    assert made[0].read_text() == "work"
    assert stat.S_IMODE(made[0].stat().st_mode) == 0o600
    assert (tmp_path / "out").exists() == (not lockless)


def test_a_folder_that_was_removed_is_written_into_by_nobody(tmp_path, monkeypatch):
    """It was tried for ever."""
    (folder := tmp_path / "folder").mkdir()
    tried, make = [], held_folder.HeldFolder.make_file

    def gone(held, name):
        tried.append(name)
        if folder.exists():
            folder.rmdir()
        return make(held, name)

    monkeypatch.setattr(held_folder.HeldFolder, "make_file", gone)
    with pytest.raises(FileNotFoundError), atomic_file(folder / "out"):
        pass
    assert len(tried) == 100


def test_by_paths_where_folders_can_not_be_held(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(held_folder, "_HELD", False)
    monkeypatch.setattr(draft, "fcntl", None)
    write_atomically(tmp_path / "file", lambda part: part.write_text("a"))
    for _ in range(2):
        with draft_folder(tmp_path / "folder") as part:
            (part / "inner").mkdir()
            (part / "inner" / "b").write_text("b")
            share(part)
            if not (tmp_path / "folder").exists():
                publish(part, tmp_path / "folder")
    with pytest.raises(OSError, match="No space"), atomic_file(tmp_path / "file") as part:
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "a"
    assert names(tmp_path / "folder" / "inner") == ["b"]
    assert (tmp_path / "folder").stat().st_mode == stat.S_IFDIR | 0o777 & ~atomic._UMASK


@pytest.mark.parametrize("way", ["link", "link of a link", "folder", "gone"])
def test_a_link_to_what_a_process_has_open_stays(tmp_path, way):
    """``/dev/stdout`` of a regular file was replaced by another, for all processes."""
    with (tmp_path / "opened").open("w") as opened:
        target = {
            "link": f"/proc/self/fd/{opened.fileno()}",
            "link of a link": "other",
            "folder": f"fd/{opened.fileno()}",
            "gone": "/dev/none such",
        }
        (tmp_path / "other").symlink_to(target["link"])
        (tmp_path / "fd").symlink_to("/dev/fd")
        (tmp_path / "out").symlink_to(target[way])
        with pytest.raises(KgdashError, match="out: it is a link into /dev or /proc"):
            write_atomically(tmp_path / "out", lambda part: part.write_text("x"))
    assert (tmp_path / "out").is_symlink()
    assert names(tmp_path) == ["fd", "opened", "other", "out"]


@pytest.mark.parametrize("target", ["other", "none such", "/dev/shm/none such"])
def test_other_links_are_replaced_as_before(tmp_path, target):
    (tmp_path / "other").write_text("before")
    (tmp_path / "out").symlink_to(target)
    write_atomically(tmp_path / "out", lambda part: part.write_text("x"))
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_text() == "x"
    assert (tmp_path / "other").read_text() == "before"
