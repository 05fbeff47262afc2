"""ReliK's counts of all known triples, filled anchor by anchor as they are asked for.

Defined in numbers.md#4-relik. Counting the negatives around a head costs the same for one triple
and for all known triples that share it, so that all are counted at once; likewise around a tail.
"""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.turns import first_in_line, others_first, wait_for_others
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.progress import Progress, phases
from kgdash.ranking.relik_exact import count_negatives
from kgdash.scoring import ENTITY_SIDES, Scorer

#: columns of the table
COLUMNS = tuple(f"{side}_{name}" for side in ENTITY_SIDES for name in ("greater", "equal"))

#: scores that the anchors counted in a step have together at least: with fewer, what is done once
#: for all anchors takes longer than they do
_LEAST = 2**30


class _GivesWay(Exception):
    """Raised out of the progress report of anchors whose counting lets others come first."""


class Anchors(NamedTuple):
    """Entities whose negatives are to be counted, as heads and as tails, in that order.

    ``side``: 0 for heads, 1 for tails; ``entity``: ids; int64, ``(n,)``.
    """

    side: np.ndarray
    entity: np.ndarray

    def of(self, number: int) -> np.ndarray:
        """Return the entities of one side, 0 or 1."""
        return self.entity[self.side == number]


@dataclass(frozen=True)
class ReliKTable:
    """The counts of a model on a graph: one row per triple of ``graph.all_triples``."""

    scorer: Scorer
    graph: KnowledgeGraph
    table: RowTable

    def counts(self, rows: np.ndarray) -> pd.DataFrame:
        """Return the counts of known triples; `MISSING` where they are not counted yet.

        :param rows: of ``graph.all_triples``, int64, ``(n,)``
        :return: the columns of `kgdash.ranking.relik_exact.relik_exact`
        """
        triples = self.graph.known().at(rows)
        table = pd.DataFrame(triples, columns=IDS)
        found = self.table.values(rows)
        everything = self.scorer.num_entities * self.scorer.num_relations
        for number, side in enumerate(ENTITY_SIDES):
            for name in ("greater", "equal"):
                table[f"{side}_{name}"] = found[f"{side}_{name}"]
            around = self.graph.known().count_with_entity(triples[:, 2 * number], side)
            table[f"{side}_negatives"] = everything - around
        return table

    def missing(self, rows: np.ndarray) -> Anchors:
        """List the anchors of known triples that are not counted yet, in random order.

        Heads and tails take turns in proportion to their numbers. The order depends on the anchors
        alone.
        """
        found = self.table.values(rows)
        sides, entities, places = [], [], []
        for number, side in enumerate(ENTITY_SIDES):
            uncounted = rows[found[f"{side}_greater"] == MISSING]
            anchors = np.unique(self.graph.known().at(uncounted)[:, 2 * number])
            rng = np.random.default_rng((number, len(anchors)))
            entities.append(rng.permutation(anchors))
            sides.append(np.full(len(anchors), number))
            places.append((np.arange(len(anchors)) + 0.5) / max(len(anchors), 1))
        order = np.argsort(np.concatenate(places), kind="stable")
        return Anchors(np.concatenate(sides)[order], np.concatenate(entities)[order])

    def rows_around(self, number: int, entities: np.ndarray) -> np.ndarray:
        """Return the rows of all known triples around entities as heads (0) or as tails (1)."""
        known, size = self.graph.known(), self.graph.num_entities
        owner, keys = known.triples_with_entity(entities, ENTITY_SIDES[number])
        relations, others = np.divmod(keys, size)
        columns = [entities[owner], relations, others]
        return known.positions(np.stack(columns[:: 1 - 2 * number], axis=1))

    def count(self, anchors: Anchors, progress: Progress, gives_way: bool = False) -> Iterator[int]:
        """Count around anchors, for all known triples there, and yield how many of them are done.

        What others counted meanwhile is not counted again.

        :param anchors: of `missing`
        :param progress: called with (anchors done, all); may raise to stop, keeping what was
            yielded
        :param gives_way: let all other counting in this process come first
        :raises KgdashError: if a score is NaN
        """
        done, total = 0, len(anchors.entity)
        size = least = max(1, _LEAST // (self.scorer.num_entities * self.scorer.num_relations))
        with nullcontext() if gives_way else first_in_line(), self.table.saved():
            while done < total:
                some = Anchors(*(each[done : done + size] for each in anchors))
                report = _part_of(progress, done, len(some.entity), total)
                start = time.monotonic()
                try:
                    self._count_some(some, report, gives_way)
                except _GivesWay:
                    wait_for_others(partial(report, 0.0, 1.0))
                    continue
                # A turn for heads and one for tails.
                pace = 2 * self.table.seconds_per_turn / max(time.monotonic() - start, 1e-6)
                size = max(least, int(size * min(max(pace, 0.25), 4.0)))
                done += len(some.entity)
                yield done

    def _count_some(self, anchors: Anchors, progress: Progress, gives_way: bool) -> None:
        def report(done: float, total: float) -> None:
            progress(done, total)
            if gives_way and others_first():
                raise _GivesWay

        counts = [float(len(anchors.of(number))) for number in range(2)]
        for number, part in enumerate(phases(report, counts)):
            entities = np.sort(anchors.of(number))
            if len(entities):
                with self.table.turn(partial(part, 0.0, 1.0)):
                    self._count_side(number, entities, part)
        report(1.0, 1.0)

    def _count_side(self, number: int, entities: np.ndarray, progress: Progress) -> None:
        """Count around entities as heads, or as tails, but for those that others have counted."""
        side, known = ENTITY_SIDES[number], self.graph.known()
        rows = self.rows_around(number, entities)
        rows = rows[self.table.column(f"{side}_greater", rows) == MISSING]
        if not len(rows):
            return
        start = time.monotonic()
        found = count_negatives(self.scorer, known.at(rows), known, side, progress)
        counts = {f"{side}_greater": found.greater, f"{side}_equal": found.equal}
        self.table.put(rows, counts, time.monotonic() - start)


def _part_of(progress: Progress, before: int, part: int, total: int) -> Progress:
    return lambda done, of: progress(before + part * done / max(of, 1e-9), total)
