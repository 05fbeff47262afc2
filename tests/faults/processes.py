"""A command in a process of its own, forked from one that has imported everything, and traced.

strace kills the child at one of its system calls, before that call is made: what the kernel has
been told by then has happened, nothing else.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.operations import Operation

#: system calls that change files, or hold locks; those that a kill falls on
CHANGES = (
    *("openat", "write", "pwrite64", "writev", "sendfile", "copy_file_range", "close"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir"),
    *("fsync", "fdatasync", "ftruncate", "truncate", "chmod", "fchmod", "fchmodat", "flock"),
    *("fcntl", "utimensat"),
)

#: what is needed besides to follow what is written where
FOLLOWED = ("lseek", "read", "dup", "dup2", "dup3", "mmap", "link", "linkat", "symlink")

#: bytes that a child may say before anybody listens
_MOST_SAID = 2**20


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status, or minus the signal; and what it said."""

    code: int
    said: str


def has_strace() -> bool:
    """Tell whether processes can be traced here."""
    if shutil.which("strace") is None:
        return False
    ended = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True)
    return ended.returncode == 0


@dataclass(frozen=True)
class Child:
    """A forked process that waits for its sign, and the pipes to give it and to hear it by."""

    process: int
    sign: int
    heard: int


def run(
    operation: Operation,
    sandbox: Path,
    trace: tuple[str, ...] = (),
    before: Callable[[], None] = lambda: None,
) -> Ended:
    """Run a command in a sandbox until it ends.

    :param trace: strace's options, if it is traced
    :param before: what the child does first
    """
    child = start(operation, sandbox, before)
    tracer = attach(child, trace) if trace else None
    release(child)
    ended = wait(child)
    if tracer is not None:
        tracer.communicate()
    return ended


def start(operation: Operation, sandbox: Path, before: Callable[[], None] = lambda: None) -> Child:
    """Fork a child that waits for its sign."""
    (waiting, sign), (heard, says) = os.pipe(), os.pipe()
    fcntl.fcntl(says, fcntl.F_SETPIPE_SZ, _MOST_SAID)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(waiting)
        os.close(says)
        return Child(child, sign, heard)
    code = 70
    try:
        os.close(sign)
        os.close(heard)
        os.read(waiting, 1)
        os.close(waiting)
        before()
        code = _command(operation, sandbox, says)
    except BaseException:  # nobody else sees it
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def attach(child: Child, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Have strace follow a child from now on."""
    command = ["strace", "-f", "-y", "-p", str(child.process), *options]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert tracer.stderr is not None
    line = tracer.stderr.readline()
    assert b"attached" in line, line
    return tracer


def release(child: Child) -> None:
    """Give a child its sign."""
    os.write(child.sign, b"x")
    os.close(child.sign)


def wait(child: Child) -> Ended:
    """Wait for a child's end."""
    _, status = os.waitpid(child.process, 0)
    with open(child.heard, "rb") as stream:
        said = stream.read().decode(errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), said)


def _command(operation: Operation, sandbox: Path, says: int) -> int:
    """Be the command line in a sandbox; return the exit status."""
    from kgdash import cli

    given, typed = os.pipe()
    os.write(typed, operation.typed.encode())
    os.close(typed)
    for handle, standard in ((given, 0), (says, 1), (says, 2)):
        os.dup2(handle, standard)
    os.close(says)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    enter(operation, sandbox)
    sys.argv = ["kgdash", *operation.arguments]
    try:
        cli.main()
    except SystemExit as ended:
        return 0 if ended.code is None else int(ended.code)
    return 0


def enter(operation: Operation, sandbox: Path) -> None:
    """Have this process work in a sandbox."""
    os.chdir(sandbox)
    os.environ["KGDASH_CACHE"] = str(sandbox / operation.cache)
    os.environ["KGDASH_DATA"] = str(sandbox / "kept")
    os.environ["KGDASH_RUNS"] = str(sandbox / "runs")
