"""Which group each rank of an annotated table is in."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name, unknown_name
from kgdash.graph import IDS
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metrics import POOLS

#: what can be grouped by -> column of an annotated table
GROUPINGS = {
    "relation": "relation_name",
    "cardinality": "cardinality",
    "pattern": "pattern",
    "head_degree": "head_degree",
    "tail_degree": "tail_degree",
    "answers": "answers",
    "frequency": "frequency",
}


class Groups(NamedTuple):
    """Groups of the ranks of an annotated table; a rank may be in several, or in none.

    ``rows`` are positions in the table, one per rank and group that it is in (or a slice of all,
    each rank being in one), ``codes`` (int64, as many) the number of the group in ``names``.
    """

    rows: np.ndarray | slice
    codes: np.ndarray
    names: list[str]


def groups_of(annotated: pd.DataFrame, by: str | Groups) -> Groups:
    """Return the groups of an annotated table, made ready or by the name of a grouping.

    :param annotated: of `kgdash.breakdowns.rank_facts.add_rank_facts`, or some of its rows; by
        relation of `add_relations` there
    :param by: one of `GROUPINGS`, or groups of this very table
    :raises KgdashError: if the grouping is unknown, the table is not annotated or has no rows
    """
    if isinstance(by, str) and by not in GROUPINGS:
        raise unknown_name("grouping", by, list(GROUPINGS), "breakdowns")
    needed = {"triple", GROUPINGS[by] if isinstance(by, str) else "triple"}
    if not needed <= set(annotated.columns):
        raise KgdashError("these ranks have no groups: pass them through add_rank_facts() first")
    if not len(annotated):
        raise KgdashError("there are no ranks to break down: the set of triples is empty")
    if not isinstance(by, str):
        return by
    column = annotated[GROUPINGS[by]].cat
    return Groups(slice(None), column.codes.to_numpy().astype(np.int64), column.categories.tolist())


def group_ranks(
    annotated: pd.DataFrame,
    by: str | Groups,
    group: str,
    side: str = "both",
    rank_type: str = "realistic",
) -> pd.DataFrame:
    """Return the ranks of one group, best first, equal ones in the order of the table.

    :param by: as for `groups_of`
    :param side: as in a row of `kgdash.breakdowns.breakdown.breakdown`
    :return: ``head, relation, tail`` (int64 ids), ``side`` (str), ``rank`` (by ``rank_type``),
        ``equal_scores`` (int64: other candidates with the true answer's score), ``candidates``
    :raises KgdashError: if a choice is unknown, or nothing is in that group on that side
    """
    places, codes, names = groups_of(annotated, by)
    check_name("side", side, POOLS, "breakdowns")
    check_name("rank type", rank_type, RANK_TYPES, "breakdowns")
    shown = by if isinstance(by, str) else "these groups"
    check_name("group", group, names, f"the breakdown by {shown}")
    rows = annotated.iloc[np.arange(len(annotated))[places][codes == names.index(group)]]
    rows = rows[rows["side"].isin(POOLS[side]).to_numpy()]
    if not len(rows):
        raise KgdashError(f"no rank of side {side} is in the group {group!r} by {shown}")
    table = rows[IDS].assign(
        side=rows["side"].astype(str),
        rank=rows[rank_type],
        equal_scores=rows["pessimistic"] - rows["optimistic"],
        candidates=rows["candidates"],
    )
    return table.sort_values("rank", kind="stable", ignore_index=True)
