"""What each answer competes with: rivals that beat and tie with it, by number, degree and type."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.engine.protocol_kernels import Answers, gather_rivals
from kgdash.errors import check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS, IDS, KnowledgeGraph, default_filter
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import AnswerQueries, WholeRows, answer_queries

#: ways to count rivals, in the order of the kernel
_WAYS = ("", "_weight", "_typed")

#: columns of `count_rivals`
COUNTS = [f"{what}{way}" for what in ("better", "tied", "rivals") for way in _WAYS]

#: raise when the meaning of a stored table changes
_VERSION = 1


def count_rivals(
    run: Run, split: str = "test", filter: str | None = None, progress: Progress = silent
) -> pd.DataFrame:
    """Count the rivals of each answer of a split that score higher, equal, and all; kept on disk.

    By number; by weight, an entity's degree in train; and those that some training triple of the
    relation has on that side.

    :return: one row per side and triple, all heads first: ``head, relation, tail`` (int64 ids),
        ``side``, and int64 `COUNTS`
    :raises KgdashError: as `kgdash.runs.Run.ranks`
    """
    filter = filter or default_filter(split)
    check_name("filter", filter, FILTERS, "kgdash")
    triples = run.graph.split(split)
    key = {"kind": "ranks", "rivals": _VERSION, "filter": filter, **run.table_key(triples)}
    about = run.table_about("ranks", triples, filter=filter, method="rivals by degree and type")
    return cached_table(key, lambda: _count(run, triples, filter, progress), about, progress)


def _count(run: Run, triples: np.ndarray, filter: str, progress: Progress) -> pd.DataFrame:
    first, *reports = phases(progress, [1.0, 2.0, 2.0])
    run.ranks(triples=triples, filter=filter, progress=first)  # refuses NaN
    parts = []
    for queries, report in zip(answer_queries(run, triples, filter), reports, strict=True):
        counts = _of_side(queries, run.graph, report)
        named = pd.DataFrame(counts.reshape(-1, len(COUNTS)), columns=COUNTS)
        ids = pd.DataFrame(triples, columns=IDS).assign(side=queries.side)
        parts.append(pd.concat([ids, named], axis=1))
    return pd.concat(parts, ignore_index=True)


def _of_side(queries: AnswerQueries, graph: KnowledgeGraph, progress: Progress) -> np.ndarray:
    asked, train = queries.asked, graph.splits["train"]
    order = np.argsort(asked.row, kind="stable")
    starts = np.searchsorted(asked.row[order], np.arange(len(asked.anchors) + 1))
    pairs = distinct_rows(train[:, [1, 2 if queries.side == "tail" else 0]]).rows
    typed_starts = np.searchsorted(pairs[:, 0], np.arange(graph.num_relations + 1))
    ends = train[:, [0, 2]].reshape(-1)
    weights = np.bincount(ends, minlength=graph.num_entities).astype(np.int64)
    own, typed = np.empty(len(queries.triples)), np.ascontiguousarray(pairs[:, 1])
    answers = Answers(starts, order, own, weights, typed_starts, typed)
    counts = np.zeros((len(queries.triples), 3, 3), dtype=np.int64)

    def look(buffer: WholeRows, tile: np.ndarray, first: int) -> None:
        whole = buffer.add(tile)
        if len(whole):
            gather_rivals(whole, first, asked.relations, answers, counts)

    queries.visit(look, lambda: WholeRows(graph.num_entities), progress, own)
    return counts
