"""Helpers that count in this process, in any order, and may stop."""

from __future__ import annotations

import random

from kgdash.graph import FILTERS
from kgdash.ranking.ranks import count_greater_and_equal
from kgdash.ranking.relik_exact import count_negatives
from kgdash.runs.cluster_parts import Counted


class FakeHelpers:
    """``parts``: what was asked for; ``most``: after so many parts the helpers are gone."""

    def __init__(self, scorer, graph, seed: int = 0, threads: int = 3, most: float = 1e9) -> None:
        self.scorer, self.graph, self.most, self.parts = scorer, graph, most, []
        self._random, self._threads = random.Random(seed), threads

    def threads(self) -> int:
        return self._threads

    def count(self, parts, total, progress):
        asked = list(parts)
        assert sum(len(part.rows) for part in asked) == total
        self._random.shuffle(asked)
        # A part may come twice: a worker that was given up was only slow.
        for part in [*asked, *asked[:1]]:
            if len(self.parts) >= self.most:
                raise KeyboardInterrupt
            self.parts.append(part)
            progress(0.0, total)
            yield Counted(part, self._counts(part), 1.0)

    def _counts(self, part):
        if part.kind == "relik":
            found = count_negatives(self.scorer, part.triples, self.graph.known(), part.side)
            return found.greater, found.equal, found.negatives
        splits = FILTERS[part.filter]
        known = self.graph.known(splits) if splits else None
        return count_greater_and_equal(self.scorer, part.triples, known, part.side)
