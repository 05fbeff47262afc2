"""A run's exact ranks and ReliK: known triples out of tables that fill up, others by their set."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS
from kgdash.progress import Progress, phases
from kgdash.ranking import rank_table, relik_table
from kgdash.ranking.rank_table import RankTable
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik_exact import relik_exact
from kgdash.ranking.relik_table import Anchors, ReliKTable
from kgdash.runs.cluster_parts import fill_ranks, fill_relik, relik_of

if TYPE_CHECKING:
    from kgdash.runs.run import Run

#: times as many anchors as at the last step are counted at the next
_MORE = 1.25


@dataclass(frozen=True)
class ExactTables:
    """What of a run was counted exactly, and counting the rest."""

    #: which holds this: in a circle its graph would stay until Python's next full collection
    held: weakref.ref[Run]

    @property
    def run(self) -> Run:
        """The run whose tables these are."""
        run = self.held()
        assert run is not None, "the run is gone"
        return run

    @cached_property
    def relik(self) -> ReliKTable:
        """The ReliK counts of all known triples."""
        run = self.run
        table = self._row_table("relik", relik_table.COLUMNS, method="exact")
        return ReliKTable(run.scorer, run.graph, table)

    def ranks(self, filter: str) -> RankTable:
        """Return the ranks of all known triples under a filter."""
        if filter not in self._ranks:
            run, splits = self.run, FILTERS[filter]
            table = self._row_table("ranks", rank_table.COLUMNS, filter=filter)
            known = run.graph.known(splits) if splits else None
            self._ranks[filter] = RankTable(run.scorer, run.graph, known, table)
        return self._ranks[filter]

    @cached_property
    def _ranks(self) -> dict[str, RankTable]:
        return {}

    def _row_table(self, kind: str, columns: Sequence[str], **more: str) -> RowTable:
        run = self.run
        key = {"kind": f"{kind} by row", **run.table_key(), **more}
        return RowTable(key, columns, len(run.graph.known()), run.table_about(kind, None, **more))

    def relik_counts(self, rows: np.ndarray, progress: Progress) -> pd.DataFrame:
        """Return `kgdash.ranking.relik_exact.relik_exact` of triples, known or not."""
        *_, (counts, _, _) = self.relik_steps(rows, progress)
        return counts

    def relik_steps(
        self, rows: np.ndarray, progress: Progress
    ) -> Iterator[tuple[pd.DataFrame, Anchors, int]]:
        """Yield the ReliK counts of triples, known or not, as more and more anchors are counted.

        Triples that are not known are counted before the first.

        :return: counts, the anchors of known triples that were missing at first, and how many of
            these are done
        """
        at = self.run.graph.positions(rows)
        if self.run.helpers is not None:
            fill_relik(self.run.helpers, self.relik, at[at >= 0], progress)
        rest, anchors = rows[at < 0], self.relik.missing(at[at >= 0])
        ends = sum(len(np.unique(rest[:, column])) for column in (0, 2))
        first, second = phases(progress, [float(ends), float(len(anchors.entity))])
        others = [self._relik_of_others(rest, first)] if len(rest) else []

        def counts() -> pd.DataFrame:
            known = [self.relik.counts(at[at >= 0])] if len(rest) < len(rows) else []
            return _in_order([*known, *others], at)

        shown, total = 0, len(anchors.entity)
        for done in self.relik.count(anchors, second):
            # Ever rarer: what is told of them takes its time.
            if done > _MORE * shown and done < total:
                yield counts(), anchors, done
                shown = done
        progress(1.0, 1.0)
        whole = counts()
        while (whole[["head_greater", "tail_greater"]] == MISSING).any(axis=None):
            # The cache was cleared meanwhile.
            for _ in self.relik.count(self.relik.missing(at[at >= 0]), progress):
                pass
            whole = counts()
        yield whole, anchors, total

    def _relik_of_others(self, rows: np.ndarray, progress: Progress) -> pd.DataFrame:
        run = self.run

        def compute() -> pd.DataFrame:
            if run.helpers is not None:
                return relik_of(run.helpers, run.scorer, rows, progress)
            return relik_exact(run.scorer, rows, run.graph.known(), progress)

        return cached_table(
            {"kind": "relik", **run.table_key(rows)},
            compute,
            run.table_about("relik", rows, method="exact"),
            progress,
        )

    def rank(
        self,
        rows: np.ndarray,
        evaluated_are_known: bool,
        filter: str,
        sides: Sequence[str],
        entities: np.ndarray | None,
        progress: Progress,
    ) -> pd.DataFrame:
        """Return `kgdash.ranking.ranks.rank_triples` of triples, known or not.

        :raises KgdashError: on an unknown filter; as there
        """
        check_name("filter", filter, FILTERS, "kgdash")
        run = self.run
        evaluated = rows if evaluated_are_known else rows[:0]
        known = None if filter == "none" else run.graph.known_with(evaluated, FILTERS[filter])
        at = np.full(len(rows), -1)
        # A rank that hangs on what else is ranked, or on chosen candidates, has no row.
        if entities is None and (known is None or known is run.graph.known(FILTERS[filter])):
            at = run.graph.positions(rows)
        rest = rows[at < 0]
        first, second = phases(progress, [float(len(at) - len(rest)), float(len(rest))])
        tables = []
        if len(rest) < len(rows):
            if run.helpers is not None:
                fill_ranks(run.helpers, self.ranks(filter), filter, at[at >= 0], sides, first)
            tables.append(self.ranks(filter).ranks(at[at >= 0], sides, first))
        if len(rest):
            key = {"kind": "ranks", "filter": filter, "sides": list(sides), **run.table_key(rest)}
            key["evaluated_are_known"] = evaluated_are_known
            if entities is not None:
                key["entities"] = hashlib.sha256(entities.tobytes()).hexdigest()
            table = cached_table(
                key,
                lambda: rank_triples(run.scorer, rest, known, sides, second, entities),
                run.table_about("ranks", rest, filter=filter, sides=", ".join(sides)),
                second,
            )
            tables.append(table)
        return _in_order(tables, at, len(sides))


def _in_order(tables: list[pd.DataFrame], at: np.ndarray, times: int = 1) -> pd.DataFrame:
    """Join the rows of known triples and those of others in the order of all.

    :param tables: of known ones and of others, or one of all
    :param at: the position of each among the known triples, −1 for others
    :param times: how often each table has its triples, one after another
    """
    if len(tables) == 1:
        return tables[0]
    places = np.flatnonzero(at >= 0), np.flatnonzero(at < 0)
    order = np.concatenate([p + part * len(at) for p in places for part in range(times)])
    return pd.concat(tables, ignore_index=True).iloc[np.argsort(order)].reset_index(drop=True)
