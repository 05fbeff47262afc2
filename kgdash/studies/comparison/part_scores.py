"""What several models make of the parts of a graph: mean ReliK and MRR of each.

Defined in numbers.md#19-which-model-where.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.errors import KgdashError, check_name
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.rank_setting import RankSetting
from kgdash.runs import Run
from kgdash.statistics.rounding import rounded
from kgdash.studies.comparison.comparison import compared_ranks, reciprocal_ranks, triples_of
from kgdash.studies.comparison.graph_parts import Partition

#: whose ReliK is averaged over a part
RELIK_OF = {"all": "all known triples", "evaluated": "the evaluated triples"}


@dataclass(frozen=True)
class PartScores:
    """What each model makes of each part.

    ``table``: one row per part with evaluated triples and run, run after run of each part:
    ``part`` (int64), ``name`` (str), ``entities``, ``triples`` (behind ReliK), ``evaluated``
    (int64, ≥ 1), ``run`` (str), ``relik``, ``mrr`` (float64 in (0, 1]), ``picked`` (bool: of the
    highest ReliK; one per part, equal ones going to the run of the higher ReliK overall), ``best``
    (bool: of the highest MRR; several where equal), ``regret`` (float64 ≥ 0: the part's best MRR
    less this one), ``small`` (bool: fewer than 30 evaluated triples).

    ``overall``: one row per run: ``run``, ``relik``, ``mrr`` (means over the triples of all parts
    together, each once), ``best`` (bool: one, of the highest MRR). ``left_out``: parts without
    evaluated triples.
    """

    table: pd.DataFrame
    overall: pd.DataFrame
    left_out: int

    @property
    def runs(self) -> list[str]:
        """Return the names of the runs, in their order."""
        return self.overall["run"].tolist()

    def wide(self, column: str) -> np.ndarray:
        """Return a column of the table, shape ``(parts, runs)``."""
        return self.table[column].to_numpy().reshape(-1, len(self.overall))


def part_scores(
    runs: Sequence[Run],
    partition: Partition,
    setting: RankSetting = RankSetting(),
    relik_of: str = "all",
    relik_method: str = "exact",
    progress: Progress = silent,
) -> PartScores:
    """Compute mean ReliK and MRR of every part by every run.

    ReliK is computed only of triples that are in some part with evaluated triples.

    :param runs: 2 to 8 on the graph of the parts
    :param setting: of the ranks; the side is "head", "tail" or "both"
    :param relik_of: "all" for the mean ReliK over all known triples of a part, "evaluated" for
        that over the ranked ones only, which is quicker on large graphs but tells less: it is of
        the very triples that the MRR is of
    :raises KgdashError: as `check_comparable` and `Run.ranks`, on an unknown choice, or if no part
        has an evaluated triple
    """
    check_name("choice of triples for ReliK", relik_of, RELIK_OF, "this study")
    first, *others = phases(progress, [0.2, *[0.8 / len(runs)] * len(runs)])
    ranks = compared_ranks(runs, setting.split, setting.filter, first)
    reciprocal = reciprocal_ranks(ranks, setting.side, setting.rank_type)
    evaluated = triples_of(ranks, setting.side)
    ranked = partition.inside(evaluated)
    counts = _counts(ranked)
    kept = np.flatnonzero(counts)
    if not len(kept):
        raise KgdashError(
            f"none of the {len(counts):,} {partition.kind} holds a {setting.split} triple: choose "
            "larger or more of them, or another split"
        )
    candidates = partition.graph.all_triples if relik_of == "all" else evaluated
    within = partition.inside(candidates)[kept]
    needed = np.flatnonzero(np.asarray(within.sum(axis=0)).ravel())
    within = within[:, needed]
    columns = [
        run.relik(triples=candidates[needed], method=relik_method, progress=report)["relik"]
        for run, report in zip(runs, others, strict=True)
    ]
    relik = np.column_stack(columns)
    means = _means(within, relik), _means(ranked[kept], reciprocal)
    anywhere = np.asarray(ranked.sum(axis=0)).ravel() > 0
    overall = pd.DataFrame({"run": list(ranks)})
    overall["relik"], overall["mrr"] = relik.mean(axis=0), reciprocal[anywhere].mean(axis=0)
    overall["best"] = np.arange(len(runs)) == overall["mrr"].argmax()
    about = {
        "part": kept,
        "name": [partition.names[part] for part in kept],
        "entities": partition.entities[kept],
        "triples": _counts(within),
        "evaluated": counts[kept],
    }
    table = _long(pd.DataFrame(about), *means, overall)
    return PartScores(table, overall, len(counts) - len(kept))


def _counts(inside: Any) -> np.ndarray:
    return np.asarray(inside.sum(axis=1), dtype=np.int64).ravel()


def _means(inside: Any, values: np.ndarray) -> np.ndarray:
    """Average values per triple, ``(n, runs)``, over each part: ``(parts, runs)``."""
    return np.asarray(inside @ values) / _counts(inside)[:, None]


def _long(
    about: pd.DataFrame, relik: np.ndarray, mrr: np.ndarray, overall: pd.DataFrame
) -> pd.DataFrame:
    """Lay values of ``(parts, runs)`` out as the table of `PartScores`."""
    names, count = overall["run"].tolist(), len(overall)
    table = about.loc[about.index.repeat(count)].reset_index(drop=True)
    table["run"] = names * len(about)
    table["relik"], table["mrr"] = relik.ravel(), mrr.ravel()
    picks = _picks(relik, overall["relik"].to_numpy())
    table["picked"] = (picks[:, None] == np.arange(count)).ravel()
    table["best"] = leaders(mrr).ravel()
    table["regret"] = (mrr.max(axis=1, keepdims=True) - mrr).ravel()
    table["small"] = table["evaluated"] < SMALL
    return table


def _picks(relik: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Return the run of the highest ReliK in each part; of equal ones that which leads overall."""
    return np.where(leaders(relik), overall, -np.inf).argmax(axis=1)


def leaders(values: np.ndarray) -> np.ndarray:
    """Tell which runs have the highest value of a part: bool, ``(parts, runs)`` as the values."""
    shown = rounded(values)
    return np.asarray(shown == shown.max(axis=1, keepdims=True))
