"""Work that does not end by itself, and somebody who does not wait for it."""

import threading


class GaveUpError(Exception):
    """Nobody waits any more."""


def give_up(done: float, total: float) -> None:
    """Wait for nothing: a progress that raises.

    :raises GaveUpError: always
    """
    raise GaveUpError


class Endless:
    """A function that takes anything and computes until it is ended; ``ended`` is set then."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def __call__(self, *_: object, **__: object) -> None:
        """Compute."""
        try:
            while True:
                pass
        finally:
            self.ended.set()
