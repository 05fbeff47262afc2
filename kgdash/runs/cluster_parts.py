"""Filling a run's tables by parts that others count: whoever counts them, the numbers are the same.

A part holds whole queries (ranks) or whole anchors (ReliK), so that nothing is scored twice. What
comes back goes into the table on this side, which is written whole or not at all: parts may come
in any order, twice, or never, and a process that is killed goes on with what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kgdash.files.row_table import RowTable
from kgdash.graph import FILTERS, IDS
from kgdash.progress import Progress, phases
from kgdash.ranking.rank_table import COUNTS, RankTable
from kgdash.ranking.ranks import check_sides, count_greater_and_equal
from kgdash.ranking.relik_exact import count_negatives
from kgdash.ranking.relik_table import ReliKTable
from kgdash.runs.helpers import Done, Helpers
from kgdash.scoring import ENTITY_SIDES, Scorer

if TYPE_CHECKING:
    from kgdash.runs.run import Run

#: scores of a part at most: about a second's of one core, by kernels and by rows of a model
_SCORES, _SCORES_BY_ROWS = 2**30, 2**26

#: what tables have of a part's first counts
_COLUMNS = {"ranks": COUNTS, "relik": COUNTS[:2]}

#: parts for each thread at least, so that all end at about the same time
_EACH = 4


@dataclass(frozen=True)
class Part:
    """Triples to be counted on one side.

    ``kind``: "ranks" (`kgdash.ranking.ranks.count_greater_and_equal`) or "relik"
    (`kgdash.ranking.relik_exact.count_negatives`); ``rows``: where the counts belong, int64,
    ``(n,)``; ``triples``: int64, ``(n, 3)``; ``filter``: of ranks.
    """

    kind: str
    side: str
    rows: np.ndarray
    triples: np.ndarray
    filter: str = ""

    def __len__(self) -> int:
        """Return how many triples it has."""
        return len(self.rows)


#: a part's counts
_Counted = Done[Part, tuple[np.ndarray, ...]]


def count(run: Run, part: Part, progress: Progress) -> tuple[np.ndarray, ...]:
    """Count a part: int64, ``(n,)`` each.

    :raises KgdashError: if a score is NaN
    """
    if part.kind == "relik":
        found = count_negatives(run.scorer, part.triples, run.graph.known(), part.side)
        return found.greater, found.equal, found.negatives
    splits = FILTERS[part.filter]
    known = run.graph.known(splits) if splits else None
    return count_greater_and_equal(run.scorer, part.triples, known, part.side)


def fill_ranks(
    helpers: Helpers,
    table: RankTable,
    filter: str,
    rows: np.ndarray,
    sides: Sequence[str],
    progress: Progress,
) -> None:
    """Have the ranks of known triples counted that are missing.

    :param table: under ``filter``
    :param rows: of ``graph.all_triples``, int64
    :raises KgdashError: as `kgdash.runs.helpers.Helpers.each`
    """  # fmt: skip
    check_sides(sides)
    rows = np.unique(rows)
    for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        missing = table.missing(rows, side)
        if not len(missing):
            continue
        size = _size(helpers, table.scorer, table.scorer.num_entities, len(missing))
        parts = (
            Part("ranks", side, some, table.graph.known().at(some), filter)
            for some in _cut(missing, size)
        )
        _fill(table.table, helpers.each(count, parts, float(len(missing)), report))
        report(1.0, 1.0)


def fill_relik(helpers: Helpers, table: ReliKTable, rows: np.ndarray, progress: Progress) -> None:
    """Have the ReliK counts of known triples counted that are missing, and those around them.

    :param rows: of ``graph.all_triples``, int64
    :raises KgdashError: as `kgdash.runs.helpers.Helpers.each`
    """
    anchors = table.missing(rows)
    if not len(anchors.entity):
        return
    entities = [np.sort(anchors.of(number)) for number in range(len(ENTITY_SIDES))]
    total = sum(
        len(table.rows_around(number, some)) for number, some in enumerate(entities) if len(some)
    )
    scores = table.scorer.num_entities * table.scorer.num_relations
    size = _size(helpers, table.scorer, scores, len(anchors.entity))

    def parts() -> Iterator[Part]:
        for number, side in enumerate(ENTITY_SIDES):
            for some in _cut(entities[number], size):
                around = table.rows_around(number, some)
                yield Part("relik", side, around, table.graph.known().at(around))

    _fill(table.table, helpers.each(count, parts(), float(total), progress))
    progress(1.0, 1.0)


def relik_of(
    helpers: Helpers, scorer: Scorer, triples: np.ndarray, progress: Progress
) -> pd.DataFrame:
    """Have `kgdash.ranking.relik_exact.relik_exact` of triples counted, known or not.

    :raises KgdashError: as `kgdash.runs.helpers.Helpers.each`
    """
    scores = scorer.num_entities * scorer.num_relations
    size = _size(helpers, scorer, scores, 2 * len(triples))

    def parts() -> Iterator[Part]:
        for side, column in zip(ENTITY_SIDES, (0, 2), strict=True):
            order = np.argsort(triples[:, column], kind="stable")
            ends = np.cumsum(np.unique(triples[:, column], return_counts=True)[1])
            for some in _cut(np.arange(len(ends)), size):
                first = ends[some[0] - 1] if some[0] else 0
                rows = order[first : ends[some[-1]]]
                yield Part("relik", side, rows, triples[rows])

    names = ("greater", "equal", "negatives")
    found = {
        f"{side}_{name}": np.zeros(len(triples), int) for side in ENTITY_SIDES for name in names
    }
    for counted in helpers.each(count, parts(), 2.0 * len(triples), progress):
        for name, counts in zip(names, counted.found, strict=True):
            found[f"{counted.part.side}_{name}"][counted.part.rows] = counts
    return pd.DataFrame(triples, columns=IDS).assign(**found)


def _size(helpers: Helpers, scorer: Scorer, scores: int, count: int) -> int:
    """Return how many queries, or anchors, of so many scores each make a part."""
    most = (_SCORES if scorer.form is not None else _SCORES_BY_ROWS) // scores
    return max(1, min(most, -(-count // (_EACH * helpers.threads()))))


def _cut(rows: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _fill(table: RowTable, counted: Iterator[_Counted]) -> None:
    """Put counts into a table as they come; what has come is kept if what follows fails."""
    waiting: list[_Counted] = []

    def put() -> None:
        with table.turn():
            for each in waiting:
                names = [f"{each.part.side}_{name}" for name in _COLUMNS[each.part.kind]]
                numbers = dict(zip(names, each.found, strict=False))
                table.put(each.part.rows, numbers, each.seconds)
            waiting.clear()

    with table.saved():
        last = time.monotonic()
        try:
            for each in counted:
                waiting.append(each)
                if time.monotonic() - last > table.seconds_per_turn:
                    put()
                    last = time.monotonic()
        finally:
            if waiting:
                put()
