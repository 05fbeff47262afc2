"""Kills at random system calls: nothing half-written, the same command goes on to the same end."""

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgdash.files.row_table import MISSING
from tests.faults.looks import check_whole, contents, left_over
from tests.faults.operations import Operation
from tests.faults.processes import Ended, run
from tests.faults.sandboxes import fresh
from tests.faults.traces import Call, on_files_of


@dataclass
class Tally:
    """How many faults were made, and what went wrong after them."""

    faults: int = 0
    findings: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another tally to this one."""
        self.faults += other.faults
        self.findings += other.findings


@dataclass(frozen=True)
class Clean:
    """An operation that nothing disturbed: what was before and after, and its system calls."""

    operation: Operation
    before: dict[str, Any]
    after: dict[str, Any]
    calls: list[Call]


def undisturbed(operation: Operation, template: Path, work: Path) -> Clean:
    """Run an operation to its end, and note what it does to files."""
    sandbox = fresh(template, work / "sandbox", operation)
    before = contents(sandbox)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        ended = run(operation, sandbox, ("-s", "4096", "-o", str(log)))
        assert ended.code == 0, f"{operation.name}: {ended}"
        made = on_files_of(sandbox, log)
    assert not left_over(sandbox), f"{operation.name} leaves {left_over(sandbox)}"
    return Clean(operation, before, contents(sandbox), made)


def kill(clean: Clean, template: Path, work: Path, name: str, number: int) -> Tally:
    """Kill an operation at its n-th system call of a name, from 1, then run it again."""
    operation = clean.operation
    sandbox = fresh(template, work / "sandbox", operation)
    at = f"inject={name}:signal=KILL:when={number}"
    quiet = ("-o", "/dev/null", "-e", f"trace={name}", "-e", at)
    if run(operation, sandbox, quiet).code != -9:
        return Tally()  # another order of threads: it ended before
    where = f"{operation.name}, killed at {name} {number}"
    findings = after_fault(clean, sandbox)
    return Tally(1, [f"{where}: {finding}" for finding in findings])


def after_fault(clean: Clean, sandbox: Path, was_full: bool = False) -> list[str]:
    """Look at a sandbox after a fault, and run the operation again: what is not as it should be.

    :param was_full: a table that the disk had no room for may be missing, or lack rows or columns
        that it fills up with, where one that was made of it is there
    """
    try:
        check_whole(sandbox, clean.before, clean.after)
    except AssertionError as error:
        return [str(error)]
    return again(clean, sandbox, was_full)


def again(clean: Clean, sandbox: Path, was_full: bool = False) -> list[str]:
    """Run an operation again after a fault: what differs from one that nothing disturbed."""
    ended = run(clean.operation, sandbox)
    if not _is_fine(clean.operation, ended):
        return [f"again it ends with {ended.code}: {ended.said[-600:]}"]
    try:
        found = contents(sandbox)
    except AssertionError as error:
        return [f"after it ran again: {error}"]
    findings = [
        f"{name} differs{_where(clean.after.get(_plain(clean.after, name)), value)}"
        for name, value in found.items()
        if _differs(clean.after, name, value)
        and not (was_full and _is_part(clean.after.get(name), value))
    ]
    missing = clean.after.keys() - found.keys()
    if ended.code == 2 or was_full:  # who asks for a table computes it
        missing = {name for name in missing if not name.startswith(f"{clean.operation.cache}/")}
    findings += [f"{name} is missing" for name in sorted(missing)]
    return findings + [f"{name} stays" for name in left_over(sandbox)]


def _is_fine(operation: Operation, ended: Ended) -> bool:
    done = operation.done and ended.code == 2 and operation.done in ended.said
    return ended.code == 0 or bool(done)


def _differs(after: dict[str, Any], name: str, value: Any) -> bool:
    """Tell whether a file is not what it should be; a run kept twice is there twice."""
    plain = _plain(after, name)
    return plain not in after or str(after[plain]) != str(value)


def _is_part(whole: Any, found: Any) -> bool:
    """Tell whether some numbers of a table that fills up (`RowTable`) are there, all right."""
    parts = [_numbers(table) for table in (whole, found)]
    return None not in parts and parts[1].items() <= parts[0].items()


def _numbers(table: Any) -> dict[tuple[str, int], int] | None:
    if not isinstance(table, dict) or not all(
        isinstance(column, list) for column in table.values()
    ):
        return None
    rows = next((name for name in table if name.startswith("row of ")), None)
    columns = {name: column for name, column in table.items() if name != rows}
    if not all(isinstance(number, int) for column in columns.values() for number in column):
        return None
    return {
        (name, at): number
        for name, column in columns.items()
        for at, number in zip(table.get(rows, range(len(column))), column, strict=True)
        if number != MISSING
    }


def _plain(after: dict[str, Any], name: str) -> str:
    if name not in after and name.startswith("runs/"):
        _, run_name, part = name.split("/", 2)
        return f"runs/{re.sub(r'-[2-9]$', '', run_name)}/{part}"
    return name


def _where(wanted: Any, found: Any) -> str:
    """Say where in a tree of JSON two values differ first."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted(wanted.keys() | found.keys()):
            if str(wanted.get(key)) != str(found.get(key)):
                return f".{key}{_where(wanted.get(key), found.get(key))}"
    return f": {found!r:.60}, not {wanted!r:.60}"
