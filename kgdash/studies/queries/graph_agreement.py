"""Are a file's answers those of the graph, and which of two meanings has "hard" in it?

Defined in numbers.md#8-queries.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.blocks import query_blocks
from kgdash.studies.queries.query_types import HARD, AskedQueries

#: queries compared at once
_AT_ONCE = 1024


def graph_agreement(
    asked: Mapping[str, AskedQueries], graph: KnowledgeGraph, progress: Progress = silent
) -> pd.DataFrame:
    """Evaluate queries on a graph and count those for which a file says something else.

    :param progress: called with (types done, types)
    :return: one row per type: ``type``, ``queries``, ``answers``, ``hard`` (int64, as in the file),
        ``other_answers`` (queries whose answers are not exactly those of train ∪ valid ∪ test),
        ``missing``, ``beyond`` (answers of the graph that the file lacks, and the reverse),
        ``not_outside_train``, ``not_outside_train+valid`` (queries whose hard answers are not
        exactly the answers that can not be found on train, on train ∪ valid)
    """
    facts = Adjacency.both_ways(graph, SPLITS)
    parts = {meaning: Adjacency.both_ways(graph, splits) for meaning, splits in HARD.items()}
    rows = []
    for number, (kind, queries) in enumerate(asked.items()):
        found = Counter(_counts(queries.take([]), facts, parts))
        for block in query_blocks(
            facts, queries.kind, queries.anchors, queries.relations, _AT_ONCE
        ):
            progress(number + block.start / len(queries), len(asked))
            found.update(_counts(queries.take(block), facts, parts))
        rows.append({"type": kind} | found)
        progress(number + 1, len(asked))
    return pd.DataFrame(rows)


def _counts(
    queries: AskedQueries, facts: Adjacency, parts: Mapping[str, Adjacency]
) -> dict[str, int]:
    """Count as `graph_agreement` does, all but the type, for some queries."""
    every = _answers(facts, queries)
    stated = _keys(queries.owner, queries.answers, facts)
    hard = stated[queries.hard]
    return {
        "queries": len(queries),
        "answers": len(stated),
        "hard": len(hard),
        "other_answers": _differing(stated, every, facts),
        "missing": len(np.setdiff1d(every, stated, assume_unique=True)),
        "beyond": len(np.setdiff1d(stated, every, assume_unique=True)),
    } | {
        f"not_{meaning.replace(' ', '_')}": _differing(
            hard, np.setdiff1d(every, _answers(part, queries), assume_unique=True), facts
        )
        for meaning, part in parts.items()
    }


def agreement_notes(table: pd.DataFrame, graph: str) -> list[str]:
    """Say in words what `graph_agreement` found.

    :param graph: name of the graph
    """
    total = table[["queries", "other_answers", "missing", "beyond"]].sum()
    queries = int(total["queries"])
    notes = [f"the answers of all {queries:,} queries are those of graph {graph}"]
    if total["other_answers"]:
        notes = [
            f"{total['other_answers']:,} of {queries:,} queries have other answers in the file "
            f"than in graph {graph}: {total['missing']:,} are missing, {total['beyond']:,} are more"
        ]
    differing = {m: int(table[f"not_{m.replace(' ', '_')}"].sum()) for m in HARD}
    fits = [meaning for meaning, count in differing.items() if not count]
    if fits:
        notes.append(f"hard answers are those {_joined(fits)}")
    else:
        best = min(differing, key=lambda meaning: differing[meaning])
        notes.append(
            f"hard answers are not defined by the graph's splits: closest is {best}, "
            f"with {differing[best]:,} of {queries:,} queries that differ"
        )
    return notes


def _joined(meanings: Sequence[str]) -> str:
    return " and as well ".join(meanings)


def _answers(facts: Adjacency, queries: AskedQueries) -> np.ndarray:
    owner, answers, _ = answer_sets(facts, queries.kind, queries.anchors, queries.relations)
    return _keys(owner, answers, facts)


def _keys(owner: np.ndarray, answers: np.ndarray, facts: Adjacency) -> np.ndarray:
    return owner * facts.num_entities + answers


def _differing(one: np.ndarray, other: np.ndarray, facts: Adjacency) -> int:
    """Count the queries whose answers are not the same in both."""
    return len(np.unique(np.setxor1d(one, other, assume_unique=True) // facts.num_entities))
