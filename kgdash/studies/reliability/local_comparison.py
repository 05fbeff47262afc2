"""Local ReliK beside local MRR: what a subgraph says of the model there.

Defined in numbers.md#6-correlation-study.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.html import facts_html
from kgdash.graph import IDS
from kgdash.graph.subgraph import Subgraph
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import POOLS, mean_reciprocal_rank
from kgdash.ranking.relik_sampled import relik_or_middle
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.subgraph_evaluation import EVALUATED, check_evaluated

#: known triples of a part that a page shows
_MOST = 100_000

#: of the ranks, by default
FILTER = "train+valid+test"


class Mean(NamedTuple):
    """A mean in [0, 1], and the number of triples or ranks behind it; NaN where that is 0."""

    value: float
    n: int


@dataclass(frozen=True)
class LocalComparison:
    """The ReliK and ranks of one subgraph.

    ``triples``: one row per known triple with both ends inside: ``head, relation, tail`` (ids),
    ``split``, ``relik``, ``relik_head_rank``, ``relik_tail_rank`` (ranks among the negatives; and
    ``relik_low``, ``relik_high`` if sampled), and for side in head, tail, relation the realistic
    filtered rank ``{side}_rank``, NaN for triples that are not evaluated; ``reciprocal_rank`` is
    the mean of 1/head_rank and 1/tail_rank. Where ReliK is still being counted, it is NaN; where it
    is sampled, it is the geometric middle of its interval.

    ``means``: by measure: "relik", "tail_mrr", "head_mrr", "both_mrr", "relation_mrr"; and with a
    sampled method, or while it is counted, the ends "relik_low", "relik_high" of an interval:
    "relik" is then its geometric middle, or the estimate of `kgdash.ranking.relik_growing`.

    ``method``: of `Run.relik`, or "growing"; ``share``: which part of ReliK is counted, in [0, 1].
    """

    subgraph: Subgraph
    evaluated: str
    method: str
    triples: pd.DataFrame
    means: dict[str, Mean]
    share: float = 1.0

    def __repr__(self) -> str:
        """Name subgraph, ReliK and MRR."""
        relik, mrr = (number(self.means[name].value) for name in ("relik", "both_mrr"))
        return f"{self.subgraph!r}: mean ReliK {relik}, MRR {mrr}"

    def _repr_html_(self) -> str:
        means = {
            name.replace("_", " ").replace("mrr", "MRR").replace("relik", "mean ReliK"): (
                f"{number(mean.value)} (n = {mean.n:,})"
            )
            for name, mean in self.means.items()
        }
        return facts_html(f"ReliK and MRR of {self.subgraph!r}", means)


def subgraph_to_show(run: Run, **chosen: Any) -> Subgraph:
    """Pick a subgraph that has no more triples than a page can show.

    :param chosen: as `Run.subgraph`
    :raises KgdashError: as it does, and if there are more
    """
    found = run.subgraph(**chosen)
    if (held := len(found.triples())) > _MOST:
        raise KgdashError(
            f"these {len(found.entities):,} entities have {held:,} known triples between them, and "
            f"a page shows {_MOST:,} at most: take fewer entities, or `kgdash subgraph`"
        )
    return found


def compare(
    run: Run,
    subgraph: Subgraph,
    evaluated: str = "test",
    method: str = "exact",
    filter: str = FILTER,
    progress: Progress = silent,
) -> LocalComparison:
    """Compare mean ReliK with reciprocal ranks inside a subgraph (numbers.md#6-correlation-study).

    ReliK is taken of all known triples inside. Candidates for the ranks are all entities of the
    graph, not only those inside.

    :param evaluated: "test" or "all": the triples whose ranks are taken; training triples flatter
        the model
    :raises KgdashError: on an unknown choice, or NaN scores
    """
    first, second = phases(progress, [0.2, 0.8])
    ranked = _ranked(run, subgraph, evaluated, filter, first)
    if not len(ranked.triples):
        return replace(ranked, method=method)
    relik = run.relik(triples=subgraph.triples(), method=method, progress=second)
    return _with_relik(ranked, method, relik)


def compare_steps(
    run: Run,
    subgraph: Subgraph,
    evaluated: str = "test",
    method: str = "exact",
    progress: Progress = silent,
) -> Iterator[LocalComparison]:
    """Compare as soon as there are values: while ReliK is counted, and when it is.

    What is counted already comes alone; so does any other method than "exact".

    :return: comparisons as of `compare`, of the method "growing" until the last one
    :raises KgdashError: as `compare`, when the first comparison is asked for
    """
    if method != "exact":
        yield compare(run, subgraph, evaluated, method, progress=progress)
        return
    first, second = phases(progress, [0.05, 0.95])
    ranked = _ranked(run, subgraph, evaluated, FILTER, first)
    if not len(ranked.triples):
        yield replace(ranked, method=method)
        return
    for step in run.relik_steps(triples=subgraph.triples(), progress=second):
        ends = {} if step.exact else {"relik_low": step.low, "relik_high": step.high}
        found = _with_relik(ranked, "exact" if step.exact else "growing", step.triples)
        n = int(found.triples["relik"].notna().sum())
        means = {name: Mean(value, n) for name, value in {"relik": step.mean, **ends}.items()}
        yield replace(found, means=found.means | means, share=step.share)


def _ranked(
    run: Run, subgraph: Subgraph, evaluated: str, filter: str, progress: Progress
) -> LocalComparison:
    """Compute what does not depend on ReliK; the ReliK columns are NaN."""
    check_evaluated(evaluated)
    rows = subgraph.triples()
    table = pd.DataFrame(rows, columns=IDS)
    table["split"] = run.graph.split_of(rows)
    for column in ("relik", "relik_head_rank", "relik_tail_rank"):
        table[column] = np.nan
    chosen = run.graph.known(EVALUATED[evaluated]).contains(rows)
    means = {"relik": Mean(float("nan"), 0)}
    means |= _add_ranks(run, table, rows, chosen, filter, progress)
    return LocalComparison(subgraph, evaluated, "", table, means)


def _with_relik(ranked: LocalComparison, method: str, relik: pd.DataFrame) -> LocalComparison:
    table, means = ranked.triples.copy(), dict(ranked.means)
    for side in ("head", "tail"):
        table[f"relik_{side}_rank"] = relik[f"{side}_rank"].to_numpy()
    table["relik"] = relik["relik"].to_numpy()
    if "relik_low" in relik:
        low, high = (relik[f"relik_{end}"].to_numpy() for end in ("low", "high"))
        for offset, (end, values) in enumerate((("low", low), ("high", high)), start=1):
            table.insert(int(table.columns.get_loc("relik")) + offset, f"relik_{end}", values)
            means[f"relik_{end}"] = Mean(float(values.mean()), len(table))
        table["relik"] = relik_or_middle(relik)
        means["relik"] = Mean(float(np.sqrt(low.mean() * high.mean())), len(table))
    else:
        means["relik"] = Mean(float(table["relik"].mean()), len(table))
    return replace(ranked, method=method, triples=table, means=means)


def _add_ranks(
    run: Run,
    table: pd.DataFrame,
    rows: np.ndarray,
    chosen: np.ndarray,
    filter: str,
    progress: Progress,
) -> dict[str, Mean]:
    """Fill the rank columns of ``table`` in place and return the MRRs with their counts."""
    means = {f"{side}_mrr": Mean(float("nan"), 0) for side in ("tail", "head", "both", "relation")}
    for side in ("head", "tail", "relation"):
        table[f"{side}_rank"] = np.nan
    if chosen.any():
        sides = ("head", "tail", "relation")
        ranks = run.ranks(triples=rows[chosen], sides=sides, filter=filter, progress=progress)
        for side in sides:
            table.loc[chosen, f"{side}_rank"] = ranks.loc[
                ranks["side"] == side, "realistic"
            ].to_numpy()
        for side, pool in POOLS.items():
            count = int(ranks["side"].isin(pool).sum())
            means[f"{side}_mrr"] = Mean(mean_reciprocal_rank(ranks, pool), count)
    table["reciprocal_rank"] = 0.5 * (1 / table["head_rank"] + 1 / table["tail_rank"])
    return means


def summary(comparison: LocalComparison, run: Run) -> dict[str, Any]:
    """Lay a comparison out as JSON can hold it, with names (the command ``subgraph``)."""
    subgraph, graph = comparison.subgraph, run.graph
    labelled = graph.with_names(comparison.triples)
    return {
        "run": run.name,
        **subgraph.named(),
        "entity_labels": [graph.entity_labels[e] for e in subgraph.entities],
        "evaluated": comparison.evaluated,
        "relik_method": comparison.method,
        "relik": comparison.means["relik"].value,
        "mrr": {side: comparison.means[f"{side}_mrr"].value for side in POOLS},
        "counts": {name: count for name, (_, count) in comparison.means.items()},
        "triples": labelled.to_dict("records"),
    }
