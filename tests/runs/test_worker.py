"""A process that makes calls: the same results, stopped, refused, killed, and never in the way."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from kgdash.errors import KgdashError
from kgdash.files.turns import first_in_line
from kgdash.files.visitor import NOBODY
from kgdash.progress import silent
from kgdash.runs.call import Call, remember, write
from kgdash.runs.loading import load
from kgdash.runs.worker import Worker, WorkFailed
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
    return list(worker.results(write(Call(function, *arguments)), progress))


def test_what_a_call_returns_is_what_it_returns_here(worker):
    run = remember(load("umls-transe"), "umls-transe", None)
    (ranks,) = results(worker, run.ranks)
    assert ranks.equals(run.ranks())


def test_what_a_call_yields_comes_one_by_one(worker):
    assert results(worker, worker_calls.count_up, 3) == [0, 1, 2]


def test_it_works_beside_this_process_at_lower_priority(worker):
    ((pid, nice),) = results(worker, worker_calls.who_works)
    assert pid == worker.pid != os.getpid()
    assert nice >= min(19, os.nice(0) + 10)


def test_it_works_for_nobody(worker):
    assert results(worker, worker_calls.who_asks) == [NOBODY]


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


def test_who_wants_no_more_results_stops_it(worker):
    steps = worker.results(write(Call(worker_calls.count_up, 10**9)), silent)
    assert next(steps) == 0
    steps.close()
    assert results(worker, worker_calls.count_up, 1) == [0]


def test_refused(worker):
    with pytest.raises(KgdashError, match=r"^expected this$"):
        results(worker, worker_calls.refuse, "expected this")


def test_failed_and_not_told_on_what(worker):
    with pytest.raises(WorkFailed, match=r"^ZeroDivisionError$"):
        results(worker, worker_calls.divide, 0)
    with pytest.raises(WorkFailed, match=r"^can not be sent: \w+Error$"):
        results(worker, worker_calls.return_lock)


def test_it_lets_this_process_go_first(worker):
    told, asked = [], threading.Event()

    def look(done, total):
        told.append(done)
        if len(told) == 2:
            asked.set()

    found = []

    def ask():
        found.extend(results(worker, worker_calls.until_others_are_first, progress=look))

    thread = threading.Thread(target=ask)
    thread.start()
    assert asked.wait(PATIENCE)
    assert not found
    with first_in_line():
        thread.join(PATIENCE)
    assert found == [True]


def test_killed(worker):
    def kill(done, total):
        if done:
            os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(KgdashError, match="ended with code -9 and no word"):
        results(worker, worker_calls.take_a_while, PATIENCE, progress=kill)
    assert not worker.is_alive()


_ASKS = """
from kgdash.progress import silent
from kgdash.runs.call import Call, write
from kgdash.runs.worker import Worker
from tests.support.worker_calls import take_a_while

worker = Worker()
for _ in worker.results(write(Call(take_a_while, 600.0)), lambda *_: print(worker.pid, flush=True)):
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
