"""A process that makes calls: the same results, stopped, refused, killed, and never in the way."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from weakref import WeakValueDictionary

import pytest

from kgdash.errors import KgdashError
from kgdash.files.lock import hold_lock
from kgdash.files.visitor import Visitor
from kgdash.progress import silent
from kgdash.runs import call
from kgdash.runs import worker as worker_module
from kgdash.runs.bundled import DEMO
from kgdash.runs.call import Call, Reading, remember
from kgdash.runs.loading import load
from kgdash.runs.worker import NotSent, Worker, WorkFailed
from tests.support import worker_calls
from tests.support.paths import ROOT

PATIENCE = 120


@pytest.fixture(scope="module")
def _one_worker():
    """Keep one process for all tests that leave it alive."""
    made = []
    yield made
    for worker in made:
        worker.close()


@pytest.fixture
def worker(_one_worker):
    if not (_one_worker and _one_worker[-1].is_alive()):
        _one_worker.append(Worker())
    return _one_worker[-1]


def results(worker, function, *arguments, progress=silent):
    return list(worker.results(Call(function, *arguments).sent(), progress))


def test_what_a_call_returns_is_what_it_returns_here(worker):
    run = remember(load("umls-transe"), "umls-transe", None)
    (ranks,) = results(worker, run.ranks)
    assert ranks.equals(run.ranks())


def test_a_run_below_a_root_is_opened_there_and_comes_back(
    worker, as_visitor, tmp_path, monkeypatch
):
    folder = tmp_path / "root" / "mine"
    shutil.copytree(DEMO / "umls-transe", folder)
    as_visitor(roots=(tmp_path / "root",))
    run = remember(load(folder), str(folder), None)
    sent = Call(worker_calls.return_it, run).sent()
    as_visitor(roots=())  # as threads beside pages are
    for kept in ("_runs", "_graphs"):
        monkeypatch.setattr(call, kept, WeakValueDictionary())
    (found,) = worker.results(sent, silent)
    assert found is not run
    assert found.identity == run.identity


def test_what_takes_too_much_memory_is_ended_and_the_next_call_has_a_new_process(monkeypatch):
    monkeypatch.setenv("KGDASH_MEMORY", "64MiB")
    worker = Worker()
    assert results(worker, worker_calls.grow, 160) == [160]
    with pytest.raises(KgdashError, match=r"more than 0\.25 GiB .* KGDASH_MEMORY"):
        results(worker, worker_calls.grow, 2**12)
    assert not worker.is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
def test_idle_it_gives_back_what_lies_free_amid_what_is_kept():
    worker = Worker()
    try:
        (full,) = results(worker, worker_calls.leave_gaps, 256)
        end = time.monotonic() + PATIENCE
        while (left := _memory_of(worker.pid)) > full - 200 * 2**20 and time.monotonic() < end:
            time.sleep(0.1)
        assert left <= full - 200 * 2**20
        assert results(worker, worker_calls.return_it, 1) == [1]
    finally:
        worker.close()


def _memory_of(pid):
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024


def test_its_modules_are_not_those_where_the_server_was_started(tmp_path, monkeypatch):
    (tmp_path / "logging.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    worker = Worker()
    assert results(worker, worker_calls.count_up, 1) == [0]
    worker.close()


def test_what_a_call_yields_comes_one_by_one(worker):
    assert results(worker, worker_calls.count_up, 3) == [0, 1, 2]


def test_it_works_beside_this_process_at_lower_priority_and_for_nobody(worker):
    ((pid, nice, visitor),) = results(worker, worker_calls.who_works)
    assert pid == worker.pid != os.getpid()
    assert nice >= min(19, os.nice(0) + 10)
    assert visitor == Visitor()  # whoever is at this machine; of another nothing but bounds


def test_progress_is_told(worker):
    told = []
    results(worker, worker_calls.take_a_while, 1.0, progress=lambda *at: told.append(at))
    assert (1.0, 4.0) in told


class Enough(Exception):
    pass


def stop_at_first(done, total):
    if done:
        raise Enough


def test_stopped_at_its_next_report_and_ready_for_the_next_call(worker):
    with pytest.raises(Enough):
        results(worker, worker_calls.take_a_while, PATIENCE, progress=stop_at_first)
    assert worker.is_alive()
    assert results(worker, worker_calls.count_up, 1) == [0]


def test_one_that_is_still_starting_is_ended(monkeypatch):
    """It has not said a word, so none of its words can be waited for."""
    silently = [sys.executable, "-S", "-c", "import sys; sys.stdin.buffer.read()"]
    monkeypatch.setattr(worker_module, "start_module", lambda _, **pipes: Popen(silently, **pipes))
    monkeypatch.setattr(worker_module, "_SILENCE", 0.01)
    monkeypatch.setattr(worker_module, "_GRACE", 0.01)
    worker, told = Worker(), []

    def look(*at):
        told.append(at)
        if len(told) == 3:
            raise Enough

    with pytest.raises(Enough):
        results(worker, worker_calls.count_up, 1, progress=look)
    assert told == [(0.0, 1.0)] * 3
    assert not worker.is_alive()
    worker.close()


def test_who_wants_no_more_results_stops_it(worker):
    steps = worker.results(Call(worker_calls.count_up, 10**9).sent(), silent)
    assert next(steps) == 0
    steps.close()
    assert results(worker, worker_calls.count_up, 1) == [0]


def test_refused(worker):
    with pytest.raises(KgdashError, match=r"^expected this$"):
        results(worker, worker_calls.refuse, "expected this")


def test_failed_and_not_told_on_what(worker):
    with pytest.raises(WorkFailed, match=r"^ZeroDivisionError$"):
        results(worker, worker_calls.divide, 0)
    with pytest.raises(NotSent, match=r"^TypeError$"):
        results(worker, worker_calls.return_lock)
    assert results(worker, worker_calls.count_up, 1) == [0]


def lengths_while_it_waits(worker, ticks):
    """Pause a worker, and return how long what it writes is, twice."""
    worker.pause()
    found = []
    for _ in range(2):
        time.sleep(0.3)
        found.append(ticks.stat().st_size)
    return found


def test_paused_it_waits_at_its_next_report_and_can_be_stopped(worker, tmp_path):
    ticks, lengths = tmp_path / "ticks", []
    ticks.touch()

    def look(done, total):
        if not done:
            return
        lengths.extend(lengths_while_it_waits(worker, ticks))
        if len(lengths) == 4:
            raise Enough
        worker.go_on()

    with pytest.raises(Enough):
        results(worker, worker_calls.write_ticks, str(ticks), progress=look)
    first, again, later, last = lengths
    assert first == again < later == last
    assert results(worker, worker_calls.count_up, 1) == [0]


def test_a_reading_that_says_nothing_waits_and_can_be_stopped(worker, tmp_path):
    """A table of a million rows, read for a minute, kept the process from all others."""
    ticks, lengths, pid = tmp_path / "ticks", [], []
    ticks.touch()
    sent = Reading(worker_calls.read_for_long, b"abc", str(ticks)).sent()

    def look(done, total):
        if not ticks.stat().st_size:
            return
        lengths.extend(lengths_while_it_waits(worker, ticks))
        if len(lengths) == 4:
            pid.append(worker.pid)
            raise Enough
        worker.go_on()
        time.sleep(0.3)

    with pytest.raises(Enough):
        list(worker.results(sent, look))
    first, again, later, last = lengths
    assert first == again < later == last
    assert results(worker, worker_calls.count_up, 1) == [0]
    assert pid == [worker.pid]


def test_it_says_that_it_waits_for_a_lock(worker, tmp_path):
    path, told, held = tmp_path / "a.lock", [], ExitStack()
    held.enter_context(hold_lock(path))

    def look(done, total):
        told.append(worker.waits)
        if worker.waits:
            held.close()

    assert results(worker, worker_calls.wait_for_lock, str(path), progress=look) == [True]
    assert told[-1]
    assert not worker.waits


def test_killed(worker):
    def kill(done, total):
        if done:
            os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(KgdashError, match=r"^The process .* \(code -9\): start it again, [^.]*\.$"):
        results(worker, worker_calls.take_a_while, PATIENCE, progress=kill)
    assert not worker.is_alive()


_ASKS = """
from kgdash.progress import silent
from kgdash.runs.call import Call
from kgdash.runs.worker import Worker
from tests.support.worker_calls import take_a_while

worker = Worker()
for _ in worker.results(Call(take_a_while, 600.0).sent(), lambda *_: print(worker.pid, flush=True)):
    pass
"""


def lives(pid: int) -> bool:
    """Tell whether a process is there, and not only as an entry that nobody took notice of."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return told.stdout.strip()[:1] not in ("", "Z")


def test_it_ends_with_who_asked():
    server = subprocess.Popen(
        [sys.executable, "-c", _ASKS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    pid = int(server.stdout.readline())
    assert lives(pid)
    server.kill()
    server.communicate()
    end = time.monotonic() + PATIENCE
    while lives(pid):
        assert time.monotonic() < end
        time.sleep(0.05)
