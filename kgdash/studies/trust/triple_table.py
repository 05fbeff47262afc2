"""How far many triples can be trusted, as a table that is made a part at a time.

Defined in numbers.md#26-the-trust-card.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.files.row_table import MISSING
from kgdash.graph.triple_files import stream_graph_triples
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.relik import relik_values
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.trust.basis import Basis, questions

#: what counts as known
_FILTER = "train+valid+test"

#: triples whose rows are made together
_PART = 2**15


def trust_tables(
    basis: Basis, path: Path, side: str = "tail", progress: Progress = silent
) -> Iterator[pd.DataFrame]:
    """Yield `trust_table` of the triples in a file, a part at a time, in the file's order.

    The whole file is read once before the first, so that a wrong line is told at once; memory does
    not grow with it.

    :param path: of `kgdash.graph.triple_files.stream_graph_triples`
    :raises KgdashError: as there and as `trust_table`
    """
    graph = basis.run.graph
    total = sum(len(part) for part in stream_graph_triples(path, graph, _PART))
    done = 0
    for part in stream_graph_triples(path, graph, _PART):
        report = _within(progress, done, len(part), total)
        yield graph.with_names(trust_table(basis, part, side, report))
        done += len(part)
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
    check_name("side", side, ENTITY_SIDES, "answers")
    run = basis.run
    placed = basis.place(questions(run, triples, side, _FILTER), progress)
    columns = ["score", "rank", "candidates", "probability", "in_set", "set_size"]
    ids = pd.DataFrame(triples, columns=["head", "relation", "tail"]).assign(side=side)
    return pd.concat([ids, placed[columns]], axis=1).assign(
        relik=stored_relik(run, triples), known=run.graph.split_of(triples).astype(str)
    )


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


def _within(progress: Progress, done: int, count: int, total: int) -> Progress:
    """Report a part as what it is of the whole."""
    (report,) = phases(lambda share, of: progress(done + count * share / of, total), [1.0])
    return report
