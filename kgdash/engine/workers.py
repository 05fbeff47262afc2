"""Sharing tasks among threads, with progress and a prompt end."""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import torch
from threadpoolctl import ThreadpoolController

from kgdash.progress import Progress

State = TypeVar("State")
Task = TypeVar("Task")

#: seconds between two reports of progress; a listener that raises stops the work that soon
_BEAT = 0.1


def run_in_threads(
    tasks: Iterable[Task],
    work: Callable[[Task, State], float],
    state: Callable[[], State],
    total: float,
    progress: Progress,
    threads: int | None = None,
) -> list[State]:
    """Run tasks on some threads, each with a state of its own.

    Tasks should take a few hundredths of a second: what has begun is finished when the progress
    raises, or a task does.

    :param tasks: taken one by one, by whichever thread is free
    :param work: does a task on a thread's state and returns how much of ``total`` that was; it
        releases the GIL where it matters
    :param threads: default: as many as PyTorch uses
    :return: the states
    """
    waiting = iter(tasks)
    lock, stop = threading.Lock(), threading.Event()
    done = [0.0]

    def loop() -> State:
        own = state()
        while not stop.is_set():
            with lock:
                task = next(waiting, _NOTHING)
            if task is _NOTHING:
                break
            amount = work(task, own)  # type: ignore[arg-type]
            with lock:
                done[0] += amount
        return own

    count = threads or torch.get_num_threads()
    with ThreadPoolExecutor(count, thread_name_prefix="kgdash") as pool:
        running: set[Future[State]] = {pool.submit(loop) for _ in range(count)}
        everyone = list(running)
        try:
            while running:
                finished, running = wait(running, timeout=_BEAT, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                progress(done[0], total)
        except BaseException:
            stop.set()
            raise
    return [future.result() for future in everyone]


class _OneBlasThread:
    """One thread for BLAS as long as any block runs; it knows no limit of a thread's own."""

    def __init__(self) -> None:
        self._guard, self._blocks = threading.Lock(), 0
        self._limit = contextlib.ExitStack()

    def __enter__(self) -> None:
        with self._guard:
            if not self._blocks:
                self._limit.enter_context(_one_thread_of("blas"))
            self._blocks += 1

    def __exit__(self, *error: object) -> None:
        with self._guard:
            self._blocks -= 1
            if not self._blocks:
                self._limit.close()


def _one_thread_of(kind: str) -> contextlib.AbstractContextManager[None]:
    # Libraries of the other kind are left out: their limits would be set back, too.
    return ThreadpoolController().select(user_api=kind).limit(limits=1)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch and BLAS use one thread each: with small matrices more only wait for one another.

    PyTorch's limit is the calling thread's alone; that of BLAS holds for the whole process until
    the last of such blocks ends. Nobody waits for another.
    """
    torch.get_num_threads()  # a thread's first look sets its number
    with _ONE_BLAS_THREAD, _one_thread_of("openmp"):
        yield


def lowest_priority() -> None:
    """Have the system run this thread, and all that it starts, when no other has anything to do.

    Elsewhere than on Linux, where threads have no priority of their own, nothing changes.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


_NOTHING, _ONE_BLAS_THREAD = object(), _OneBlasThread()
