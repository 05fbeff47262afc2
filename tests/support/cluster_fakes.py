"""Helpers that work in this process, in any order, and may stop."""

from __future__ import annotations

import pickle
import random

from kgdash.progress import silent
from kgdash.runs.helpers import Done


class FakeHelpers:
    """``parts``: what was asked for; ``most``: after so many parts the helpers are gone."""

    def __init__(self, run, seed: int = 0, threads: int = 3, most: float = 1e9) -> None:
        self.run, self.most, self.parts = run, most, []
        self._random, self._threads = random.Random(seed), threads

    def threads(self) -> int:
        return self._threads

    def each(self, work, parts, total, progress):
        work, asked = pickle.loads(pickle.dumps((work, list(parts))))
        assert sum(len(part) for part in asked) == total
        self._random.shuffle(asked)
        # A part may come twice: a worker that was given up was only slow.
        for part in [*asked, *asked[:1]]:
            if len(self.parts) >= self.most:
                raise KeyboardInterrupt
            self.parts.append(part)
            progress(0.0, total)
            yield Done(part, work(self.run, part, silent), 1.0)
