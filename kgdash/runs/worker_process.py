"""The other end of `kgdash.runs.worker`: makes calls, one after another, at low priority."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from _thread import interrupt_main
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import bound_readings
from kgdash.files.lock import locks_awaited
from kgdash.files.memory import memory_budget, own_memory
from kgdash.files.priority import give_way
from kgdash.files.visitor import NOBODY, ask_who
from kgdash.serving.allocator import give_back_now

#: by how much the processes of pages go first, in steps of the system's scheduler
_POLITE = 10

#: runs that stay loaded
_LOADED = 2

#: the environment variable that names the cluster which counts for the server, and seconds that it
#: gets to have a worker
CLUSTER, _WAIT = "KGDASH_CLUSTER", 10.0

#: times the memory that a computation is to take, which it may have grown by before it is ended:
#: whatever a stranger's graph makes of it, the machine is not filled
_TIMES = 4

#: seconds between two signs of life, and that a call gets to end when nobody listens any more
_BEAT, _PATIENCE = 0.2, 5.0

#: seconds without a call after which what the last ones left is given back
_IDLE = 2.0

#: what tells the main thread to look whether it is to wait, or to stop
_LOOK = getattr(signal, "SIGUSR1", signal.SIGINT)

_OUTGROWN = (
    "the computation took more than {:.3g} GiB of memory and was ended: choose less, or have "
    "KGDASH_MEMORY set higher, of which four times are allowed"
)


class _Stopped(Exception):
    """Raised out of a report of progress when the call was asked to end."""


class _Worker:
    def __init__(self, lines: BinaryIO, out: BinaryIO) -> None:
        self._in, self._out = lines, out
        self._guard, self._stop, self._going = (
            threading.Lock(),
            threading.Event(),
            threading.Event(),
        )
        self._calls: SimpleQueue[bytes | None] = SimpleQueue()
        self._runs: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._progress, self._busy = (0.0, 1.0), threading.Event()
        self._before, self._is_reading = 0, False
        self._cluster: Any = None

    def work(self) -> None:
        for target in (self._listen, self._beat):
            threading.Thread(target=target, daemon=True).start()
        signal.signal(_LOOK, self._look)
        _get_ready()
        while (data := self._next_call()) is not None:
            self._before = own_memory()
            self._busy.set()
            end = self._made(data)
            self._busy.clear()
            self._say(*end)

    def _next_call(self) -> bytes | None:
        """Wait for a call, or the end of all; give memory back if none comes at once."""
        with contextlib.suppress(Empty):
            return self._calls.get(timeout=_IDLE)
        give_back_now()
        return self._calls.get()

    def _say(self, kind: str, value: Any = None) -> None:
        with self._guard:
            pickle.dump((kind, value), self._out)
            self._out.flush()

    def _listen(self) -> None:
        """Take in what is asked: calls, to stop, to pause, to go on; the end of all."""
        try:
            while True:
                kind, value = pickle.load(self._in)
                if kind == "pause":
                    self._going.clear()
                    interrupt_main(_LOOK)
                    continue
                if kind == "call":
                    self._stop.clear()
                    self._calls.put(value)
                elif kind == "stop":
                    self._stop.set()
                    interrupt_main(_LOOK)
                self._going.set()
        except (EOFError, OSError, MemoryError, pickle.UnpicklingError):
            # Whoever asked is gone, or can not be heard: what runs may clear away after itself.
            self._stop.set()
            self._going.set()
            self._calls.put(None)
            time.sleep(_PATIENCE)
            os._exit(1)

    def _beat(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                time.sleep(_BEAT)
                self._busy.wait()
                self._going.wait()
                if own_memory() - self._before > (most := _TIMES * memory_budget()):
                    self._say("outgrown", _OUTGROWN.format(most / 2**30))
                    os._exit(1)
                self._say("progress", (*self._progress, locks_awaited() > 0))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Have what says nothing wait, or stop, between two steps of Python's: it keeps nothing."""
        self._is_reading = True
        try:
            yield
        finally:
            self._is_reading = False

    def _look(self, *_: Any) -> None:
        if self._is_reading:
            self._report(*self._progress)

    def _report(self, done: float, total: float) -> None:
        self._going.wait()
        if self._stop.is_set():
            raise _Stopped
        self._progress = (done, total)

    def _made(self, data: bytes) -> tuple[str, Any]:
        """Make a call, say its results as they come, and return how it ended."""
        from kgdash.runs.call import Reading, read, write

        self._progress = (0.0, 1.0)
        try:
            call = read(data, self._find)
            with self._reading() if isinstance(call, Reading) else contextlib.nullcontext():
                found = call(self._report)
            for result in found if isinstance(found, Iterator) else (found,):
                try:
                    told = write(result)
                except Exception as error:
                    self._say("unsent", type(error).__name__)
                    return "stopped", None
                self._say("result", told)
        except _Stopped:
            return "stopped", None
        except KgdashError as error:
            return "refused", str(error)
        except Exception as error:
            return "failed", type(error).__name__
        return "done", None

    def _find(self, origin: Any) -> Any:
        """Load a run, unless it is one of the latest."""
        wanted = origin.identity
        if wanted not in self._runs:
            self._runs[wanted] = self._helped(origin.load(), origin)
        self._runs.move_to_end(wanted)
        while len(self._runs) > _LOADED:
            self._runs.popitem(last=False)
        return self._runs[wanted]

    def _helped(self, run: Any, origin: Any) -> Any:
        """Have a cluster count for a run, if the server has one."""
        if not (address := os.environ.get(CLUSTER)):
            return run
        from kgdash.runs.cluster import Cluster
        from kgdash.runs.helpers import OrHere

        if self._cluster is None:
            self._cluster = Cluster(address, _WAIT)
        return replace(run, helpers=OrHere(self._cluster.helpers(origin), run))


def _get_ready() -> None:
    """Import what most calls need, and have the kernels compiled."""
    importlib.import_module("kgdash.runs.loading")
    importlib.import_module("kgdash.studies.overview.preparation")
    importlib.import_module("kgdash.ranking.relik_sampled")
    importlib.import_module("kgdash.engine.warm").warm()


def main() -> None:
    """Make the calls that standard input brings, and answer on standard output."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer of ours
    ask_who(lambda: NOBODY)  # whoever asks is not known here
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    give_way(_POLITE)
    bound_readings()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        _Worker(sys.stdin.buffer, out).work()
    os._exit(0)


if __name__ == "__main__":
    main()
