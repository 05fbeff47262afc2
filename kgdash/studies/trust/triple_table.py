"""How far many triples can be trusted, as a table that is made a part at a time.

Defined in numbers.md#26-the-trust-card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.files.row_table import MISSING
from kgdash.files.table_cache import replace_table, stored_table, table_note
from kgdash.graph import IDS
from kgdash.graph.triple_files import stream_graph_triples
from kgdash.progress import Progress, silent
from kgdash.ranking.relik import relik_values
from kgdash.runs import Run
from kgdash.runs.helpers import each_part
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.probability.calibration import FITTED
from kgdash.studies.trust.basis import Basis, Placing, questions

#: scores from which a part's rows are kept: a third of a second or more
_KEPT = 2**27

#: what counts as known
_FILTER = "train+valid+test"

#: triples whose rows are made together: at most, and of large graphs, where they take seconds
_PART, _FEW, _SCORES = 2**15, 2**10, 2**32


def trust_tables(
    basis: Basis, path: Path, side: str = "tail", progress: Progress = silent
) -> Iterator[pd.DataFrame]:
    """Yield `trust_table` of the triples in a file, a part at a time, in the file's order.

    The whole file is read once before the first, so that a wrong line is told at once; memory does
    not grow with it. Parts that take a while are kept on disk: what is asked for again, or was
    interrupted, goes on with what is missing.

    :param path: of `kgdash.graph.triple_files.stream_graph_triples`
    :raises KgdashError: as there and as `trust_table`
    """
    graph = basis.run.graph
    size = min(_PART, max(_FEW, _SCORES // graph.num_entities))

    def parts() -> Iterator[_Part]:
        for number, triples in enumerate(stream_graph_triples(path, graph, size)):
            yield _Part(number, triples, side, basis.placing)

    for part, table in _in_order(basis.run, parts, progress):
        yield graph.with_names(_about(basis.run, part, table))
    progress(1.0, 1.0)


def trust_table(
    basis: Basis, triples: np.ndarray, side: str = "tail", progress: Progress = silent
) -> pd.DataFrame:
    """Say how far triples can be trusted as answers of their queries; none has to be a fact.

    None of them counts as known for the others; facts of the graph are no candidates.

    :param triples: int64 ids, shape ``(n, 3)``, n ≥ 1
    :param side: the open one of the queries, "head" or "tail"
    :return: one row per triple, in order: ``head, relation, tail`` (ids), ``side``, ``score``,
        ``rank`` (realistic), ``candidates`` (int64), ``probability`` (that it is recorded, in
        [0, 1]), ``in_set`` (bool: in the set that holds 90% of true answers), ``set_size``
        (int64), ``relik`` (exact, where it is on disk, else NaN), ``known`` (the first split that
        holds it, or "none")
    :raises KgdashError: on an unknown side; if a score is NaN or infinite
    """
    part = _Part(0, triples, side, basis.placing)
    return _about(basis.run, part, _place(basis.run, part, progress))


def stored_relik(run: Run, triples: np.ndarray) -> np.ndarray:
    """Return the ReliK of triples as far as it was counted: float64, ``(n,)``, else NaN."""
    found = np.full(len(triples), np.nan)
    at = run.graph.positions(triples)
    known = np.flatnonzero(at >= 0)
    if len(known):
        counts = run.exact_tables.relik.counts(at[known])
        greater = counts[[f"{side}_greater" for side in ENTITY_SIDES]]
        counted = (greater != MISSING).all(axis=1).to_numpy()
        found[known[counted]] = relik_values(counts[counted])["relik"].to_numpy()
    return found


@dataclass(frozen=True)
class _Part:
    """Some of the triples, int64, ``(n, 3)``, as answers of their queries with one side open."""

    number: int
    triples: np.ndarray
    side: str
    placing: Placing

    def __post_init__(self) -> None:
        check_name("side", self.side, ENTITY_SIDES, "answers")

    def __len__(self) -> int:
        return len(self.triples)

    def is_kept(self, run: Run) -> bool:
        """Tell whether its rows are worth a file."""
        return len(self.triples) * run.graph.num_entities >= _KEPT

    def key(self, run: Run) -> dict[str, Any]:
        """Return what its rows depend on."""
        about = {"kind": "trust rows", "side": self.side, "most": self.placing.most}
        return about | FITTED | run.table_key(self.triples)

    def keep(self, run: Run, rows: pd.DataFrame) -> None:
        """Keep its rows on disk, if that is worth it."""
        if self.is_kept(run):
            about = run.table_about("scores", self.triples, filter=_FILTER, method="trust")
            replace_table(self.key(run), rows, about)


def _place(run: Run, part: _Part, progress: Progress) -> pd.DataFrame:
    asked = questions(run, part.triples, part.side, _FILTER)
    return part.placing.place(asked, progress)


def _in_order(
    run: Run, parts: Callable[[], Iterator[_Part]], progress: Progress
) -> Iterator[tuple[_Part, pd.DataFrame]]:
    """Yield parts in the order of their numbers, each once: those that come early wait.

    Those that are on disk are read there when it is their turn.
    """
    waiting, following = dict[int, tuple[_Part, pd.DataFrame | None]](), 0
    kept, total = set[int](), 0
    for part in parts():
        if part.is_kept(run) and table_note(part.key(run)):
            kept.add(part.number)
        else:
            total += len(part)

    def missing() -> Iterator[_Part]:
        for part in parts():
            if part.number in kept:
                waiting[part.number] = part, None
            else:
                yield part

    for made, table in each_part(run, _place, missing(), float(total), progress):
        if made.number >= following:
            waiting[made.number] = made, table
            made.keep(run, table)
        while following in waiting:
            yield _read(run, *waiting.pop(following))
            following += 1
    for number in sorted(waiting):
        yield _read(run, *waiting.pop(number))


def _read(run: Run, part: _Part, table: pd.DataFrame | None) -> tuple[_Part, pd.DataFrame]:
    if table is None:
        table = stored_table(part.key(run))
    return part, _place(run, part, silent) if table is None else table


def _about(run: Run, part: _Part, placed: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `trust_table`; ReliK is of this process's disk."""
    columns = ["score", "rank", "candidates", "probability", "in_set", "set_size"]
    ids = pd.DataFrame(part.triples, columns=IDS).assign(side=part.side)
    return pd.concat([ids, placed[columns]], axis=1).assign(
        relik=stored_relik(run, part.triples), known=run.graph.split_of(part.triples).astype(str)
    )
