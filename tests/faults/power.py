"""The power goes at every system call of a command: whole files, and the same end afterwards."""

import random
import shutil
import tempfile
from pathlib import Path

from tests.faults.kills import Clean, Tally, after_fault
from tests.faults.looks import check_whole, is_draft
from tests.faults.lost_writes import Disk, read_tree, spread, write_out
from tests.faults.processes import CHANGES, FOLLOWED, run
from tests.faults.sandboxes import fresh
from tests.faults.traces import calls

#: of the disks that are looked at, one in so many is gone on with
_GONE_ON = 40


def lose_power(clean: Clean, template: Path, work: Path, generator: random.Random) -> Tally:
    """Record an operation's writes and look at every disk that they may have left."""
    operation, tally = clean.operation, Tally()
    sandbox, before = fresh(template, work / "sandbox", operation), work / "before"
    shutil.rmtree(before, ignore_errors=True)
    shutil.copytree(sandbox, before)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        followed = f"trace={','.join((*CHANGES, *FOLLOWED))}"
        ended = run(operation, sandbox, ("-s", "16777216", "-e", followed, "-o", str(log)))
        assert ended.code == 0, f"{operation.name}: {ended}"
        made = calls(log)
        really = spread(read_tree(sandbox))
    disk, seen = Disk(sandbox, before), set()
    for call in made:
        if not disk.apply(call):
            continue
        for state in disk.states(generator):
            files = spread(state)
            named = {n: c for n, c in files.items() if _is_named(n)}
            key = hash(tuple(named.items()))
            if key not in seen:
                seen.add(key)
                write_out(files, sandbox)
                found = _look(clean, sandbox, generator)
                tally.faults += 1
                where = f"{operation.name}, power lost after {call.name} {call.number}"
                tally.findings += [f"{where}: {finding}" for finding in found]
    now, safe = spread(disk.tree), spread(disk.safe())
    assert now == really, f"{operation.name}: {sorted(_differing(now, really))} were not followed"
    lost = [name for name in _differing(now, safe) if _is_named(name)]
    tally.findings += [f"{operation.name} ends, and {name} may still be lost" for name in lost]
    return tally


def _look(clean: Clean, sandbox: Path, generator: random.Random) -> list[str]:
    if generator.randrange(_GONE_ON) == 0:
        return after_fault(clean, sandbox)
    try:
        check_whole(sandbox, clean.before, clean.after)
    except AssertionError as error:
        return [str(error)]
    return []


def _is_named(name: str) -> bool:
    return not is_draft(Path(name))


def _differing(first: dict[str, bytes | None], second: dict[str, bytes | None]) -> set[str]:
    return {n for n in first.keys() | second.keys() if first.get(n, "") != second.get(n, "")}
