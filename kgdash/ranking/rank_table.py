"""Filtered ranks of all known triples, filled row by row as they are asked for.

Defined in numbers.md#1-ranks.
"""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.turns import first_in_line, wait_for_others
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.ranks import check_sides, count_greater_and_equal, rank_rows
from kgdash.scoring import Scorer

#: what is counted on each side
COUNTS = ("greater", "equal", "candidates")

#: columns of the table
COLUMNS = tuple(f"{side}_{name}" for side in SIDES for name in COUNTS)

#: scores of a turn
_TURN = 2**29


@dataclass(frozen=True)
class RankTable:
    """The counts of a model under a filter: one row per triple of ``graph.all_triples``.

    ``known``: what the filter removes; None for raw ranks.
    """

    scorer: Scorer
    graph: KnowledgeGraph
    known: KnownTriples | None
    table: RowTable

    def ranks(
        self,
        rows: np.ndarray,
        sides: Sequence[str],
        progress: Progress = silent,
        gives_way: bool = False,
    ) -> pd.DataFrame:
        """Rank known triples, counting what is missing.

        :param rows: of ``graph.all_triples``, int64, ``(n,)``
        :param sides: and ``progress``: of `kgdash.ranking.ranks.rank_triples`
        :param gives_way: let all other counting in this process come first
        :return: its columns
        :raises KgdashError: if a score is NaN, or a side is unknown
        """
        check_sides(sides)
        found = self._counted(rows, sides)
        while found is None:
            # More than once only where the cache is cleared meanwhile.
            self._fill(np.unique(rows), sides, progress, gives_way)
            found = self._counted(rows, sides)
        progress(1.0, 1.0)
        triples = self.graph.known().at(rows)
        return pd.concat(
            [rank_rows(triples, side, *counts) for side, counts in found.items()],
            ignore_index=True,
        )

    def _counted(
        self, rows: np.ndarray, sides: Sequence[str]
    ) -> dict[str, tuple[np.ndarray, ...]] | None:
        """Return the counts of rows by side, or None if some are missing."""
        found = self.table.values(rows)
        counts = {side: tuple(found[f"{side}_{name}"] for name in COUNTS) for side in sides}
        missing = any((own[0] == MISSING).any() for own in counts.values())
        return None if missing else counts

    def _fill(
        self, rows: np.ndarray, sides: Sequence[str], progress: Progress, gives_way: bool
    ) -> None:
        with nullcontext() if gives_way else first_in_line(), self.table.saved():
            for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
                missing = self.missing(rows, side)
                size = max(1, _TURN // self.scorer.num_entities)
                parts = [missing[at : at + size] for at in range(0, len(missing), size)]
                for part, share in zip(parts, phases(report, [1.0] * len(parts)), strict=True):
                    if gives_way:
                        wait_for_others(partial(share, 0.0, 1.0))
                    self._count(part, side, share)
                report(1.0, 1.0)

    def missing(self, rows: np.ndarray, side: str) -> np.ndarray:
        """Return the rows without a count on a side, those of one query together."""
        rows = rows[self.table.column(f"{side}_greater", rows) == MISSING]
        first, second = self.graph.known().at(rows)[:, SIDES[side][0]].T
        return rows[np.lexsort((second, first))]

    def _count(self, rows: np.ndarray, side: str, progress: Progress) -> None:
        with self.table.turn(lambda: progress(0.0, 1.0)):
            rows = rows[self.table.column(f"{side}_greater", rows) == MISSING]
            if len(rows):
                start = time.monotonic()
                triples = self.graph.known().at(rows)
                found = count_greater_and_equal(self.scorer, triples, self.known, side, progress)
                names = (f"{side}_{name}" for name in COUNTS)
                counts = dict(zip(names, found, strict=True))
                self.table.put(rows, counts, time.monotonic() - start)
