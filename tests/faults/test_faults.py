"""Some kills in every run of the tests; ``python -m tests.faults`` makes a thousand."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.lost_writes import Disk, read_tree, spread
from tests.faults.processes import CHANGES, FOLLOWED, has_strace
from tests.faults.traces import calls
from tests.support.paths import ROOT

traced = pytest.mark.skipif(not has_strace(), reason="strace is not here, or may not trace")

#: of those that take tenths of a second
QUICK = ("groupings-add", "groupings-remove", "runs-remove")

WRITES = """
from pathlib import Path
from kgdash.files.atomic import draft_folder, publish, write_atomically
if {careful}:
    write_atomically(Path("file"), lambda part: part.write_text("new"))
    with draft_folder(Path("folder")) as draft:
        (draft / "inner").write_text("inner")
        publish(draft, Path("folder"))
else:
    Path("draft").write_text("new")
    Path("draft").rename("file")
with open("lines", "ab") as stream:
    stream.write(b"torn")
with open("lines", "rb+") as stream:
    stream.truncate(2)
"""


@traced
def test_kills_leave_nothing_half_written():
    """50 of them: whole files, the same end, no draft, no lock."""
    command = [sys.executable, "-m", "tests.faults", "--kills", "50", "--seed", "5", "--only"]
    ended = subprocess.run([*command, *QUICK], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = re.search(r"(\d+) faults, 0 findings", ended.stdout)
    assert made
    assert int(made[1]) >= 50


@traced
@pytest.mark.parametrize("careful", [True, False])
def test_what_a_power_loss_may_leave(tmp_path, careful):
    """The replay ends as the folder did, and sees that a rename without fsync may lose content."""
    before, sandbox, log = tmp_path / "before", tmp_path / "sandbox", tmp_path / "log"
    for folder in (before, sandbox):
        folder.mkdir()
        (folder / "file").write_text("old")
    code = tmp_path / "code.py"
    code.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{WRITES.format(careful=careful)}"
    )
    kinds = f"trace={','.join((*CHANGES, *FOLLOWED))}"
    command = ["strace", "-f", "-y", "-o", log, "-s", "100000", "-e", kinds, sys.executable, code]
    subprocess.run(command, cwd=sandbox, check=True, capture_output=True)
    disk, left = Disk(sandbox, before), set()
    for call in calls(log):
        if disk.apply(call):
            left |= {spread(state).get("file") for state in disk.states(random.Random(1))}
    assert spread(disk.tree) == spread(read_tree(sandbox))
    assert left == ({b"old", b"new"} if careful else {b"old", b"new", b"", b"n"})
    safe = spread(disk.safe())
    assert (safe.get("file"), safe.get("folder/inner")) == (
        (b"new", b"inner") if careful else (b"old", None)
    )


def test_without_strace_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    command = [sys.executable, "-m", "tests.faults"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "strace is not here" in ended.stderr
    assert not list(Path(tmp_path).iterdir())
