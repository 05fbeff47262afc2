"""Full disks, read-only folders, clocks that are wrong, and several processes at one cache."""

import contextlib
import os
import random
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.faults.kills import Clean, Tally, after_fault
from tests.faults.looks import check_whole, contents, left_over
from tests.faults.processes import Ended, attach, release, run, start, wait
from tests.faults.sandboxes import fresh


def full_disk(clean: Clean, template: Path, work: Path, generator: random.Random) -> Tally:
    """Let no file grow beyond a size at which the command fails somewhere on its way."""
    largest = max((len(str(value)) for value in clean.after.values()), default=1)
    size = generator.choice((0, 1, 512, 4096, generator.randrange(2 * largest)))
    sandbox = fresh(template, work / "sandbox", clean.operation)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    ended = run(clean.operation, sandbox, before=limit)
    return _tally(
        f"files of at most {size} bytes", clean, ended, after_fault(clean, sandbox, was_full=True)
    )


def small_disk(clean: Clean, template: Path, work: Path, generator: random.Random) -> Tally:
    """Run on a file system that is full after a few more blocks; then with room."""
    with _mounted(work / "small", "size=16m") as disk:
        sandbox = fresh(template, disk / "sandbox", clean.operation)
        stat = os.statvfs(disk)
        used = (stat.f_blocks - stat.f_bfree) * stat.f_frsize
        room = used + 4096 * generator.randrange(24)
        _remount(disk, f"size={room}")
        ended = run(clean.operation, sandbox)
        _remount(disk, "size=64m")
        findings = after_fault(clean, sandbox, was_full=True)
    return _tally(f"a disk with {room - used} bytes left", clean, ended, findings)


def read_only(clean: Clean, template: Path, work: Path, generator: random.Random) -> Tally:
    """Run on a file system that can not be written; then on the same, when it can."""
    with _mounted(work / "small", "size=64m") as disk:
        sandbox = fresh(template, disk / "sandbox", clean.operation)
        _remount(disk, "ro")
        ended = run(clean.operation, sandbox)
        _remount(disk, "rw")
        findings = after_fault(clean, sandbox)
    return _tally("a read-only disk", clean, ended, findings)


def wrong_clock(clean: Clean, template: Path, work: Path, generator: random.Random) -> Tally:
    """Let all files be of other times, some still to come, and the clock jump back and forth."""
    sandbox = fresh(template, work / "sandbox", clean.operation)
    for path in sandbox.rglob("*"):
        when = generator.choice((0, 1, 2**31 - 1, 4e9, generator.random() * 4e9))
        os.utime(path, (when, when))
    if any(name.startswith("cache/") for name in clean.after):  # it is there that it sweeps
        table = 40 * "a"
        for name in (f"{table}.lock", f"{table}.next.lock", f".{table}-00000001.kgdash-part"):
            (sandbox / "cache" / name).touch()
            os.utime(sandbox / "cache" / name, (4e9, 4e9))
    ended = run(clean.operation, sandbox, before=lambda: _jump(generator))
    findings = [] if ended.code == 0 else [f"it ends with {ended.code}: {ended.said[-600:]}"]
    return _tally("a wrong clock", clean, ended, findings + after_fault(clean, sandbox))


def together(
    clean: Clean, template: Path, work: Path, generator: random.Random, most: int = 4
) -> Tally:
    """Run the same command in two or four processes at once, now and then with one of them killed.

    Labels that two people give at once are two labels: those are only looked at.
    """
    count = generator.choice((2, most))
    sandbox = fresh(template, work / "sandbox", clean.operation)
    children = [start(clean.operation, sandbox) for _ in range(count)]
    tracer = None
    if generator.random() < 0.5:
        call = generator.choice(clean.calls)
        at = f"inject={call.name}:signal=KILL:when={call.number}"
        quiet = ("-o", "/dev/null", "-e", f"trace={call.name}", "-e", at)
        tracer = attach(children[0], quiet)
    for child in children:
        release(child)
    ends = [wait(child) for child in children]
    if tracer is not None:
        tracer.communicate()
    ended = next((e for e in ends if e.code not in (0, 2, -9) or "Traceback" in e.said), ends[-1])
    if clean.operation.name != "label":
        findings = after_fault(clean, sandbox)
    else:
        findings = _whole(clean, sandbox)
    return _tally(f"{count} processes", clean, ended, findings)


#: each kind of fault by its name, and whether it needs a file system to be mounted
CONDITIONS: dict[str, tuple[Callable[..., Tally], bool]] = {
    "full files": (full_disk, False),
    "full disks": (small_disk, True),
    "read-only disks": (read_only, True),
    "wrong clocks": (wrong_clock, False),
    "processes at once": (together, False),
}


def can_mount(work: Path) -> bool:
    """Tell whether a file system can be mounted here."""
    try:
        with _mounted(work / "small", "size=1m"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def _whole(clean: Clean, sandbox: Path) -> list[str]:
    try:
        check_whole(sandbox, clean.before, clean.after)
        contents(sandbox)
    except AssertionError as error:
        return [str(error)]
    return [f"{name} stays" for name in left_over(sandbox)]


def _tally(what: str, clean: Clean, ended: Ended, findings: list[str]) -> Tally:
    if ended.code not in (0, 2, -9) or "Traceback" in ended.said:
        findings = [f"it ends with {ended.code}: {ended.said[-1500:]}", *findings]
    return Tally(1, [f"{clean.operation.name}, {what}: {finding}" for finding in findings])


def _jump(generator: random.Random) -> None:
    from kgdash.files import table_cache

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            days = timedelta(days=generator.randrange(-9000, 9000))
            return datetime.now(UTC) + days

    table_cache.datetime = Jumping  # type: ignore[misc]


@contextmanager
def _mounted(place: Path, options: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "kgdash-faults", str(place)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield place
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", str(place)], check=True, capture_output=True)


def _remount(place: Path, options: str) -> None:
    command = ["mount", "-o", f"remount,{options}", str(place)]
    subprocess.run(command, check=True, capture_output=True)
