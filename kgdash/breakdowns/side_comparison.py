"""Head against tail queries: why their values differ, and what "both" is.

Defined in numbers.md#13-breakdowns.
"""

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.breakdowns.rank_facts import SINGLE_SIDES, RankFacts
from kgdash.errors import check_name
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.known_triples import RANK_TYPES, SIDES
from kgdash.ranking.metric_lookup import DEFAULT_KS, metric_calculators
from kgdash.ranking.metrics import pooled, side_rows
from kgdash.ranking.ratio_metrics import mean_estimate
from kgdash.statistics.estimate import whole_or_half
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.statistics.paired_tests import shared_p

_METRICS = (
    "inverse_harmonic_mean_rank",
    "hits_at_10",
    "arithmetic_mean_rank",
    "median_rank",
    "adjusted_arithmetic_mean_rank_index",
)


def compare_sides(
    ranks: pd.DataFrame, graph: KnowledgeGraph, rank_type: str = "realistic"
) -> pd.DataFrame:
    """Lay out what each side asks and how well it is answered.

    :param ranks: of `kgdash.runs.Run.ranks`
    :return: one row per side that the ranks have, "both" pooled: ``side``, ``ranks`` and
        ``queries`` (int64: ranks, and distinct queries behind them), ``answers`` (mean of the known
        answers of a rank's query, all splits), ``candidates`` (mean of the candidates left),
        ``chance`` (the MRR of a random order: mean of H(N) / N), then MRR, Hits@10, mean and median
        rank and AMRI under their keys
    :raises KgdashError: if the rank type is unknown or there are no ranks
    """
    check_name("rank type", rank_type, RANK_TYPES, "sides")
    calculators = metric_calculators(DEFAULT_KS)
    rows = []
    for side, part in pooled(ranks.assign(answers=RankFacts(ranks, graph).answers)):
        candidates, values = part["candidates"].to_numpy(), part[rank_type].to_numpy()
        rows.append(
            {
                "side": side,
                "ranks": len(part),
                "queries": _queries(part),
                "answers": float(part["answers"].mean()),
                "candidates": float(candidates.mean()),
                "chance": float((_harmonic(candidates) / candidates).mean()),
                **{key: float(calculators[key](values, candidates)) for key in _METRICS},
            }
        )
    return pd.DataFrame(rows)


def harder_side(ranks: pd.DataFrame, rank_type: str = "realistic") -> str | None:
    """Say which side is harder, by 1/rank of each triple; None where the two are not told apart.

    Neither where triples of one head, one relation or one tail are swapped together.

    :param ranks: of `kgdash.runs.Run.ranks`, heads and tails
    """
    rows = side_rows(ranks, "both")
    heads, tails = 1 / ranks[rank_type].to_numpy()[rows]
    values = heads - tails
    difference = mean_estimate(values, bounds=(-1, 1))
    if difference.n < SMALL:
        return None
    units = ranks[[*IDS]].to_numpy()[rows[0]]
    harder = "tail" if difference.low > 0 else "head" if difference.high < 0 else None
    return harder if harder and shared_p(values[:, None], units)[0] <= LEVEL else None


def describe_sides(table: pd.DataFrame, ranks: pd.DataFrame, rank_type: str) -> list[str]:
    """Say what a table of `compare_sides` shows, for people: one sentence or two each.

    :param ranks: which it was made of, by ``rank_type``
    """
    rows = table.set_index("side")
    if not {"head", "tail"} <= set(rows.index):
        return []
    mrr, answers = rows["inverse_harmonic_mean_rank"], rows["answers"]
    worse = harder_side(ranks, rank_type)
    told = (
        f"A head query has {answers['head']:.1f} known answers on average, a tail query "
        f"{answers['tail']:.1f}."
    )
    if worse is None:
        told = (
            f"Heads (?, r, t) and tails (h, r, ?) are not told apart: MRR {mrr['head']:.3f} and "
            f"{mrr['tail']:.3f} of {rows.loc['head', 'ranks']:,} triples. {told}"
        )
        return [told, _pooled(rows)]
    better = "tail" if worse == "head" else "head"
    asked = {"head": "(?, r, t)", "tail": "(h, r, ?)"}
    texts = [
        f"{better.capitalize()}s {asked[better]} are found more easily than {worse}s "
        f"{asked[worse]}: MRR {mrr[better]:.3f} against {mrr[worse]:.3f}. {told}"
    ]
    if f"{answers['tail']:.1f}" == f"{answers['head']:.1f}":
        texts.append("The numbers of answers do not explain it: they are the same.")
    elif answers[better] < answers[worse]:
        texts.append(
            "That is what one expects: the fewer answers fit, the more a query tells "
            f"({better}s here)."
        )
    else:
        texts.append(
            f"The numbers of answers do not explain it: {worse} queries have fewer of them."
        )
    return [*texts, _pooled(rows)]


def _pooled(rows: pd.DataFrame) -> str:
    """Say what "both" is."""
    median = rows["median_rank"].map(whole_or_half)
    said = (
        f"“both” pools the {rows.loc['both', 'ranks']:,} ranks of the two sides, as many of each. "
        f"So its MRR {rows.loc['both', 'inverse_harmonic_mean_rank']:.3f} is the mean of the two"
    )
    if median.nunique() == 1:
        return f"{said}."
    return (
        f"{said}; its median rank {median['both']} need not be that of {median['head']} and "
        f"{median['tail']}."
    )


def _queries(part: pd.DataFrame) -> int:
    """Count the distinct queries behind some ranks."""
    count = 0
    for side in SINGLE_SIDES:
        columns = [IDS[column] for column in SIDES[side][0]]
        count += len(part.loc[part["side"] == side, columns].drop_duplicates())
    return count


def _harmonic(counts: np.ndarray) -> np.ndarray:
    """Return H(n) = 1 + 1/2 + … + 1/n for each n ≥ 1."""
    return np.cumsum(1 / np.arange(1, counts.max() + 1))[counts - 1]
