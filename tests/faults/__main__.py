"""``python -m tests.faults``: make faults, look at what they leave, and say what is wrong.

Kills at random system calls; with ``--all`` also power losses, full disks, read-only disks, wrong
clocks, and several processes at once. It needs strace, and to mount a file system for some.
"""

import os

# One thread: what is forked from a process with several may stand still.
os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "KGDASH_PREPARE": "off"}

import argparse
import logging
import math
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.kills import Clean, Tally


def main() -> None:
    """Make the faults that the command line asks for; exit with 1 if anything is wrong."""
    from tests.faults.operations import OPERATIONS
    from tests.faults.processes import has_strace

    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="over all operations")
    parser.add_argument("--all", type=int, default=0, metavar="N", help="other faults of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=OPERATIONS, help="operations")
    parser.add_argument(
        "--at", nargs="*", type=_place, default=[], metavar="CALL:N", help="kill there, and only so"
    )
    chosen = parser.parse_args()
    if not has_strace():
        sys.exit("strace is not here, or may not trace: install it (apt-get install strace)")
    with tempfile.TemporaryDirectory(prefix="kgdash-faults-") as folder:
        sys.exit(make_faults(chosen, Path(folder)))


def make_faults(chosen: argparse.Namespace, work: Path) -> int:
    """Make all faults in a folder; return the exit status."""
    from tests.faults.conditions import CONDITIONS, can_mount
    from tests.faults.kills import Tally, kill, undisturbed
    from tests.faults.operations import OPERATIONS
    from tests.faults.power import lose_power
    from tests.faults.sandboxes import make_template
    from tests.faults.warm import warm_up

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    generator, start = random.Random(chosen.seed), time.monotonic()
    operations = [each for name, each in OPERATIONS.items() if name in (chosen.only or OPERATIONS)]
    weights = sum(operation.weight for operation in operations)
    warm_up(work / "warm", operations)
    template = make_template(work / "template", operations)
    mounts = can_mount(work)
    if chosen.all and not mounts:
        print("no file system can be mounted here: full and read-only disks are left out")
    every = Tally()

    def report(kind: str, tally: Tally) -> None:
        every.add(tally)
        seconds = time.monotonic() - start
        print(f"{seconds:6.0f} s  {operation.name}: {tally.faults} {kind}", flush=True)
        for finding in tally.findings:
            print(f"          ! {finding}", flush=True)

    for operation in operations:
        clean = undisturbed(operation, template, work)
        tally, most = Tally(), math.ceil(chosen.kills * operation.weight / weights)
        for name, number in chosen.at or _drawn(clean, generator, tally, most):
            tally.add(kill(clean, template, work, name, number))
        report(f"kills at {len(clean.calls)} system calls", tally)
        if chosen.all:
            report("disks after a power loss", lose_power(clean, template, work, generator))
        for kind, (make, needs_mount) in CONDITIONS.items():
            if chosen.all and (mounts or not needs_mount):
                tally = Tally()
                for _ in range(chosen.all):
                    tally.add(make(clean, template, work, generator))
                report(kind, tally)
    print(
        f"{every.faults} faults, {len(every.findings)} findings, {time.monotonic() - start:.0f} s"
    )
    return 1 if every.findings else 0


def _place(text: str) -> tuple[str, int]:
    name, _, number = text.partition(":")
    return name, int(number)


def _drawn(
    clean: "Clean", generator: random.Random, tally: "Tally", most: int
) -> Iterator[tuple[str, int]]:
    for _ in range(2 * most + 10):
        if tally.faults >= most:
            return
        call = generator.choice(clean.calls)
        yield call.name, call.number


if __name__ == "__main__":
    main()
