"""Tasks shared among threads: each is done once, and nothing goes on after an end."""

import threading
import time

import pytest
import torch
from threadpoolctl import threadpool_info

from kgdash.engine.workers import one_thread, run_in_threads
from kgdash.progress import silent


def running():
    return [t for t in threading.enumerate() if t.name.startswith("kgdash_")]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_task_is_done_once(threads):
    def work(task, state):
        state.append(task)
        return 1.0

    states = run_in_threads(iter(range(1000)), work, list, 1000.0, silent, threads)
    assert len(states) == threads
    assert sorted(task for state in states for task in state) == list(range(1000))
    assert not running()


def test_as_many_threads_as_pytorch_uses():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert len(run_in_threads([], lambda task, state: 0.0, list, 0.0, silent)) == 3
    finally:
        torch.set_num_threads(before)


def test_each_thread_has_a_state_of_its_own():
    meeting = threading.Barrier(3, timeout=60)

    def work(task, state):
        meeting.wait()  # all three threads are at work at once
        state.append(threading.get_ident())
        return 1.0

    states = run_in_threads(range(3), work, list, 3.0, silent, 3)
    assert [len(state) for state in states] == [1, 1, 1]
    assert len({state[0] for state in states}) == 3


def test_progress_adds_up_what_tasks_say_in_the_calling_thread():
    seen = []

    def progress(done, total):
        seen.append((done, total))
        assert threading.current_thread() is caller

    caller = threading.current_thread()
    run_in_threads(range(10), lambda task, state: float(task), list, 45.0, progress, 2)
    assert seen[-1] == (45.0, 45.0)
    assert seen == sorted(seen)


def test_progress_is_told_while_a_task_takes_long():
    go_on, seen = threading.Event(), []

    def progress(done, total):
        seen.append(done)
        if len(seen) == 3:
            go_on.set()

    def work(task, state):
        assert go_on.wait(60)
        return 1.0

    run_in_threads(range(1), work, list, 1.0, progress, 1)
    assert seen[0] == 0
    assert seen[-1] == 1


def test_no_task_at_all_still_reports_the_end():
    seen = []
    run_in_threads([], lambda task, state: 1.0, list, 0.0, lambda *both: seen.append(both), 2)
    assert seen[-1] == (0.0, 0.0)


class TestEnd:
    def test_a_listener_that_raises_stops_the_others(self):
        done = []

        def work(task, state):
            time.sleep(0.01)
            done.append(task)
            return 1.0

        def progress(done, total):
            if done > 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_in_threads(range(2_000), work, list, 1.0, progress, 2)
        assert not running()
        finished = len(done)
        assert finished < 1_000
        time.sleep(0.1)
        assert len(done) == finished

    def test_a_failing_task_stops_the_others_and_is_told(self):
        done = []

        def work(task, state):
            time.sleep(0.005)
            done.append(task)
            if task == 7:
                raise ValueError("task 7")
            return 1.0

        with pytest.raises(ValueError, match="task 7"):
            run_in_threads(range(2_000), work, list, 1.0, silent, 2)
        assert not running()
        assert len(done) < 1_000

    def test_failing_to_list_tasks_or_to_make_a_state_is_told(self):
        def tasks():
            yield 1
            raise LookupError("no more")

        with pytest.raises(LookupError, match="no more"):
            run_in_threads(tasks(), lambda task, state: 1.0, list, 1.0, silent, 2)

        def state():
            raise MemoryError("no state")

        with pytest.raises(MemoryError, match="no state"):
            run_in_threads([1], lambda task, state: 1.0, state, 1.0, silent, 2)
        assert not running()

    def test_the_last_report_may_raise(self):
        def progress(done, total):
            if done == total:
                raise RuntimeError("left the page")

        with pytest.raises(RuntimeError, match="left the page"):
            run_in_threads(range(5), lambda task, state: 1.0, list, 5.0, progress, 2)
        assert not running()


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_thread_is_its_own_alone_and_ends_with_the_last_block():
    entered, leave, seen = threading.Barrier(3, timeout=60), threading.Event(), []

    def refit():
        with one_thread():
            entered.wait()  # both are inside at once: neither waits for the other
            seen.append(torch.get_num_threads())
            leave.wait(60)

    before, blas_before = torch.get_num_threads(), blas_threads()
    refits = [threading.Thread(target=refit) for _ in range(2)]
    try:
        torch.set_num_threads(3)
        for each in refits:
            each.start()
        entered.wait()
        assert blas_threads() == {1}
        assert len(run_in_threads([], lambda task, state: 0.0, list, 0.0, silent)) == 3
        own = []
        other = threading.Thread(target=lambda: own.append(torch.get_num_threads()))
        other.start()
        other.join()
    finally:
        leave.set()
        for each in refits:
            each.join()
        torch.set_num_threads(before)
    assert (seen, own, blas_threads()) == ([1, 1], [3], blas_before)
