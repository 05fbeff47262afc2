"""Who is in an answer set: the candidates of some queries by name, the true answer marked.

Defined in numbers.md#24-answer-sets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.graph import IDS, default_filter
from kgdash.studies.probability.answer_queries import AnswerQueries, answer_queries
from kgdash.studies.probability.answer_sets import AnswerSets

#: candidates that are named
_NAMED = 8

#: what stands before the true answer
TRUE = "✓ "


def set_members(sets: AnswerSets, rows: np.ndarray, most: int = _NAMED) -> pd.DataFrame:
    """Name the best candidates of the sets of some test queries.

    :param rows: row numbers in ``sets.queries``, int64, ``(k,)``
    :param most: candidates named of each set
    :return: those rows, in this order, with ``members``: labels, the best first, "✓ " before the
        true answer, which is named also if it is not among the first, and "…" where there are more
    """
    run, chosen = sets.run, sets.queries.iloc[rows].reset_index(drop=True)
    texts = np.empty(len(chosen), dtype=object)
    for side, part in chosen.groupby("side"):
        triples = part[IDS].to_numpy()
        (queries,) = answer_queries(run, triples, default_filter("test"), [str(side)])
        listed = _best(queries, part["size"].to_numpy(), most)
        answers = triples[:, 2 if side == "tail" else 0]
        for place, members, answer in zip(part.index, listed, answers.tolist(), strict=True):
            row = chosen.loc[place]
            text = [TRUE * (e == answer) + run.graph.entity_labels[e] for e in members]
            more = int(row["size"]) - len(members)
            if row["covered"] and answer not in members:
                text.append("… " * (more > 1) + TRUE + run.graph.entity_labels[answer])
                more -= 1
            texts[place] = ", ".join(text) + ", …" * (more > 0)
    return chosen.assign(members=texts)


def _best(queries: AnswerQueries, sizes: np.ndarray, most: int) -> list[list[int]]:
    """List the best candidates of each triple's query, as many as its set holds, or the most."""
    rows: dict[int, np.ndarray] = {}
    own = queries.each_row(lambda row, rivals: rows.update({row: rivals.copy()}))
    found = []
    for at, size in enumerate(sizes):
        scores = -rows[int(queries.asked.row[at])].astype(np.float64)
        scores[queries.asked.answer[at]] = -own[at]
        scores[np.isnan(scores)] = np.inf
        found.append(np.argsort(scores, kind="stable")[: min(int(size), most)].tolist())
    return found
