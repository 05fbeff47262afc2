"""How long a call keeps other threads from Python: the longest it computes at one go."""

import threading
import time
from collections.abc import Callable
from itertools import pairwise


def longest_hold(call: Callable[[], object]) -> tuple[float, float]:
    """Run a call in a thread: seconds that it computed between two turns of ours at most, and all.

    By the thread's own clock: where other processes take the machine, neither of us computes. They
    may take ours alone, which looks like a hold: the shortest of three runs is told.
    """
    return min(_hold(call) for _ in range(3))


def _hold(call: Callable[[], object]) -> tuple[float, float]:
    clocks, begun, done, seen = list[int](), threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        clocks.append(time.pthread_getcpuclockid(threading.get_ident()))
        begun.set()
        try:
            call()
        finally:
            done.set()
            seen.wait()  # a clock ends with its thread

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    turns = [time.clock_gettime(clocks[0])]
    while not done.is_set():
        time.sleep(0.001)
        turns.append(time.clock_gettime(clocks[0]))
    seen.set()
    thread.join()
    return max(after - before for before, after in pairwise(turns)), turns[-1] - turns[0]
