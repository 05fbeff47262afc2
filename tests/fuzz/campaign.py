"""Many cases of a reader in a process of its own: what ends that process is a finding, too."""

import logging
import mmap
import os
import pickle
import signal
import struct
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fuzz.harness import Finding, limit_memory, reset_peak, run_case, scratch, warm_up
from tests.fuzz.reader import Reader

#: seconds without a next case after which a process hangs, on however busy a machine
_STALLED = 600

#: findings of one kind that are kept
_FEW = 2


@dataclass
class Outcome:
    """What came of a reader's cases: how many of each kind of finding, and some of each."""

    cases: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    kept: list[tuple[int, Finding]] = field(default_factory=list)

    def add(self, number: int, finding: Finding) -> None:
        """Take a finding in."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= _FEW:
            self.kept.append((number, finding))


def run_cases(reader: Reader, seed: int, numbers: range) -> Outcome:
    """Run cases in this process."""
    outcome = Outcome()
    start = time.process_time()
    for number, finding in _results(reader, seed, numbers):
        outcome.cases += 1
        if finding is not None:
            outcome.add(number, finding)
    outcome.seconds = time.process_time() - start
    return outcome


def run_apart(reader: Reader, seed: int, numbers: range) -> Outcome:
    """Run cases in processes of their own, one after the other: a next one where one ends early."""
    outcome, first = Outcome(), numbers.start
    _ = reader.seeds  # made once, for all processes
    while first < numbers.stop:
        with tempfile.TemporaryFile() as file, mmap.mmap(-1, 8) as place:
            place[:] = struct.pack("<q", first)
            ended = _wait(_start(reader, seed, range(first, numbers.stop), file, place), place)
            (reached,) = struct.unpack("<q", place[:])
            file.seek(0)
            for part in _loaded(file):
                outcome.cases, outcome.seconds = outcome.cases + part[0], outcome.seconds + part[1]
                for number, finding in part[2]:
                    outcome.add(number, finding)
        if ended is None:
            return outcome
        outcome.cases += 1
        outcome.add(reached, Finding(ended, ""))
        first = reached + 1
    return outcome


def _results(
    reader: Reader, seed: int, numbers: range, place: mmap.mmap | None = None
) -> Iterator[tuple[int, Finding | None]]:
    logging.disable(logging.WARNING)
    with scratch() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(reader, folder)
        reset_peak()
        for number in numbers:
            if place is not None:
                place[:] = struct.pack("<q", number)
            finding = run_case(reader, reader.case(seed, number), folder)
            if finding is not None:
                reset_peak()
            yield number, finding


def _start(reader: Reader, seed: int, numbers: range, file, place: mmap.mmap) -> int:
    child = os.fork()
    if child:
        return child
    # From here on in the child, which ends without the parent's farewells.
    status = 1
    try:
        limit_memory()
        done, found, since = 0, [], time.process_time()
        for number, finding in _results(reader, seed, numbers, place):
            done += 1
            if finding is not None:
                found.append((number, finding))
            if done % 500 == 0 or finding is not None or number == numbers[-1]:
                now = time.process_time()
                pickle.dump((done, now - since, found), file)
                file.flush()
                done, found, since = 0, [], now
        status = 0
    finally:
        os._exit(status)


def _wait(child: int, place: mmap.mmap) -> str | None:
    """Wait for a process; return how it ended, or None if by itself."""
    before, since = b"", time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return None if code == 0 else f"ends the process: {name}"
        if place[:] != before:
            before, since = place[:], time.monotonic()
        elif time.monotonic() - since > _STALLED:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hangs"
        time.sleep(0.05)


def _loaded(file) -> Iterator[tuple[int, float, list[tuple[int, Finding]]]]:
    while True:
        try:
            yield pickle.load(file)
        except EOFError:
            return
