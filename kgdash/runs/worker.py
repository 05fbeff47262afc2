"""A process beside this one that makes long calls for it, one after another."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from kgdash.errors import InterruptedWork, KgdashError
from kgdash.progress import Progress
from kgdash.runs.call import Sent, read
from kgdash.runs.own_program import start_module

#: seconds that a call gets to end when it was asked to: it may be loading its run
_PATIENCE = 60.0

#: seconds without a word after which progress is told again, and that a process which has not said
#: anything yet gets to end its call: it may still be starting
_SILENCE, _GRACE = 0.5, 1.0

#: what is started
_PROGRAM = "kgdash.runs.worker_process"

#: how a call may end
_ENDS = ("done", "stopped", "refused", "failed")


class WorkFailed(Exception):
    """A call raised what is no refusal; the text is the class of that, no more."""


class NotSent(WorkFailed):
    """What a call returned can not be sent; the text is the class of what says so."""


class Worker:
    """A process that makes calls (`kgdash.runs.call.Call`); it ends with this one.

    ``waits``: whether its call waited for a lock of another when it was last heard of.
    """

    def __init__(self) -> None:
        """Start it; it gets ready for its first call at once."""
        self._process = start_module(_PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waits = self._spoke = False

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Tell whether it can take a call."""
        return self._process.poll() is None

    def results(self, call: Sent, progress: Progress) -> Iterator[Any]:
        """Yield what a call returns, or everything that it yields.

        :param call: of `kgdash.runs.call.Call.sent`
        :param progress: called several times a second unless the call is paused; may raise to stop
        :raises KgdashError: as the call, or if the process dies or takes too much memory
        :raises NotSent: if what the call returns can not be sent
        :raises WorkFailed: if the call raises anything else
        """
        ended, at = False, [0.0, 1.0]
        self._say("call", call.content())
        try:
            while True:
                if not self._speaks(_SILENCE):
                    progress(*at)
                    continue
                kind, value = self._hear()
                ended = kind in _ENDS
                if kind == "outgrown":
                    self._kill()
                    ended = True
                if kind in ("refused", "outgrown"):
                    raise KgdashError(value)
                if kind == "failed":
                    raise WorkFailed(value)
                if ended:
                    return
                if kind == "unsent":
                    raise NotSent(value)
                if kind == "result":
                    yield read(value)
                else:
                    *at, self.waits = value
                    progress(*at)
        finally:
            self.waits = False
            if not ended:
                self._stop_call()

    def pause(self) -> None:
        """Have the call wait at its next report of progress; the process keeps its memory."""
        self._say("pause")

    def go_on(self) -> None:
        """Have a paused call go on."""
        self._say("go on")

    def close(self) -> None:
        """End the process, and wait for its end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._kill()

    def _say(self, kind: str, value: Any = None) -> None:
        assert self._process.stdin is not None
        # If it died, or was closed, the next word that is missing says so.
        with contextlib.suppress(OSError, ValueError):
            pickle.dump((kind, value), self._process.stdin)
            self._process.stdin.flush()

    def _hear(self) -> tuple[str, Any]:
        assert self._process.stdout is not None
        try:
            kind, value = pickle.load(self._process.stdout)
            self._spoke = True
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            code = self._process.wait()
            raise InterruptedWork(
                "The process of this computation",
                code,
                "start it again, and it goes on with what it had kept on disk",
            ) from None
        return kind, value

    def _speaks(self, seconds: float) -> bool:
        """Wait for a word, or the end of the process, for so long; tell whether it is there."""
        pipe: Any = self._process.stdout
        if os.name != "posix":
            return True  # pipes can not be waited for
        os.set_blocking(pipe.fileno(), False)
        try:
            if pipe.peek(1):
                return True
        finally:
            os.set_blocking(pipe.fileno(), True)
        with selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_READ)
            return bool(waiting.select(seconds))

    def _stop_call(self) -> None:
        end = time.monotonic() + (_PATIENCE if self._spoke else _GRACE)
        self._say("stop")
        with contextlib.suppress(KgdashError):
            while (left := end - time.monotonic()) > 0 and self._speaks(left):
                if self._hear()[0] in _ENDS:
                    return
        self._kill()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
