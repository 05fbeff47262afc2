"""How much runs agree: overall and by groups with intervals, and whether ReliK foresees conflicts.

Defined in numbers.md#25-agreement-of-runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.breakdowns.breakdown import SMALL
from kgdash.engine.workers import one_thread
from kgdash.errors import check_name
from kgdash.graph import IDS
from kgdash.graph.ends import train_degrees, triple_ends
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.runs import Run
from kgdash.statistics.bootstrap import FEWEST, Bootstrap, percentile_interval, resample_counts
from kgdash.statistics.estimate import Estimate
from kgdash.statistics.permutation import largest_p
from kgdash.statistics.rounding import rounded
from kgdash.statistics.unseen import UNIT, allow_for_unseen
from kgdash.studies.agreement.agreement import Agreement, pairwise
from kgdash.studies.instances.separation import roc_auc
from kgdash.studies.instances.separation_bootstrap import resampled
from kgdash.studies.probability.query_groups import (
    GROUPINGS,
    Queries,
    grouping,
    mean_relik,
)
from kgdash.studies.reliability.dealt_relik import DealtRelik, dealt_ways

#: what is reported of all queries
MEASURES = {
    "ambiguity": "queries where some run's hit differs from the best run's",
    "discrepancy": "queries where the hit of the run that differs most does",
    "pairwise": "queries where one of two runs hits and the other does not, mean over pairs",
    "overlap": "mean Jaccard index of two runs' first k answers",
    "vote_pairwise": "as pairwise, between votes of disjoint halves of the runs",
    "vote_removes": "share of pairwise conflicts that votes of halves remove",
    "hits": "Hits@k, mean over the runs",
    "best_hits": "Hits@k of the best run",
    "vote_hits": "Hits@k of the vote of all runs",
}

#: what is asked to foresee conflicts: of the entity that a query names
FORESEEING = {"relik": "ReliK, the mean over training triples", "degree": "training triples"}

#: area under the curve of a guess
CHANCE = 0.5

_BLOCK_ROWS = 64


def agreement_summary(
    found: Agreement, bootstrap: Bootstrap | None = None, progress: Progress = silent
) -> dict[str, Estimate]:
    """Estimate each of `MEASURES`.

    :param bootstrap: of the intervals, over triples, both queries of one together, which allow for
        triples unlike those drawn (`allow_for_unseen`), and of ``discrepancy`` for its run being
        chosen (`_of_largest`); default: 1,000 resamples at 95%
    :return: in the order of `MEASURES`; NaN for votes of fewer than four runs
    """
    bootstrap = bootstrap or Bootstrap()
    differs, queries = found.differs().astype(np.float64), found.queries
    overlap, vote = queries["overlap"].to_numpy(), queries["vote_conflict"].to_numpy()
    best = found.hits[:, list(found.runs).index(found.best)]
    columns = {
        "ambiguity": queries["conflict"].to_numpy(),
        "discrepancy": differs[:, differs.mean(axis=0).argmax()],
        "pairwise": pairwise(found.hits),
        "overlap": np.nan_to_num(overlap),
        "vote_pairwise": vote,
        "hits": found.hits.mean(axis=1),
        "best_hits": best,
        "vote_hits": (queries["vote_rank"] <= found.setting.k).to_numpy(),
        "overlaps": ~np.isnan(overlap),
    }
    # Rows are all heads, then all tails, of the same triples.
    count = len(queries) // 2
    sums = np.stack(
        [np.asarray(c, np.float64).reshape(2, count).sum(axis=0) for c in columns.values()]
    )
    whole = _means(dict(zip(columns, sums.sum(axis=1), strict=True)), 2 * count)
    rng = np.random.default_rng(bootstrap.seed)
    drawn = np.full((bootstrap.resamples, len(MEASURES)), np.nan)
    shares = np.empty((bootstrap.resamples, len(found.runs)))
    for block, weights in resample_counts(count, bootstrap.resamples, rng, _BLOCK_ROWS):
        with one_thread():  # BLAS adds in another order on several
            of_block = dict(zip(columns, (weights @ sums.T).T, strict=True))
            shares[block] = weights @ (differs[:count] + differs[count:]) / (2 * count)
        drawn[block] = np.stack(list(_means(of_block, 2 * count).values()), axis=1)
        progress(block.stop, bootstrap.resamples)
    ends = np.stack(percentile_interval(drawn, bootstrap.level), axis=1)
    largest = _of_largest(differs.mean(axis=0), shares, bootstrap.level)
    ends[list(MEASURES).index("discrepancy")] = largest
    if count < SMALL:
        ends[:] = np.nan
    conflicting = int(np.count_nonzero(sums[list(columns).index("pairwise")]))
    for at, name in enumerate(MEASURES):
        units, bounds = count, UNIT
        if name == "vote_removes":
            # Told by the triples alone that runs disagree on; it may be negative.
            units, bounds = conflicting, (min(-1.0, ends[at, 0]), 1.0)
        if units:
            value = np.atleast_1d(whole[name])
            ends[[at]] = allow_for_unseen(value, ends[[at]], units, bootstrap.level, bounds)
    return {
        name: Estimate(float(whole[name]), float(low), float(high), 2 * count)
        for name, (low, high) in zip(MEASURES, ends, strict=True)
    }


def _of_largest(shares: np.ndarray, drawn: np.ndarray, level: float) -> tuple[float, float]:
    """Return the interval of the largest share of several runs, whichever it is.

    The largest of a sample lies above that of all queries, as it is chosen. The low end takes off
    the quantile of the largest change of any run in resamples; the high end is the highest of the
    runs' own: the run that truly differs most is one of them.

    :param shares: float64, ``(runs,)``; ``drawn``: in resamples, ``(m, runs)``
    """
    risen = percentile_interval((drawn - shares).max(axis=1), level)[1]
    return float(shares.max() - risen), float(percentile_interval(drawn, level)[1].max())


def _means(sums: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Turn sums over queries into the measures: each a number, or one per resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {name: np.asarray(sums[name]) / count for name in MEASURES if name in sums}
        found["overlap"] = np.asarray(sums["overlap"]) / sums["overlaps"]
        found["vote_removes"] = 1 - found["vote_pairwise"] / found["pairwise"]
    return {name: found[name] for name in MEASURES}


def discrepancies(found: Agreement) -> pd.DataFrame:
    """Return the overview of the runs with what each one makes of the queries.

    :return: as `Agreement.overview`, and ``hits`` (Hits@k), ``discrepancy`` (share of queries where
        its hit differs from the best run's); NaN for runs that do not compete
    """
    table = found.overview.set_index("run")
    table.loc[list(found.runs), "hits"] = found.hits.mean(axis=0)
    table.loc[list(found.runs), "discrepancy"] = found.differs().mean(axis=0)
    return table.reset_index()


def agreement_by(
    found: Agreement, by: str, level: float = 0.95, progress: Progress = silent
) -> pd.DataFrame:
    """Return the ambiguity by groups of queries: where do the runs disagree?

    :param by: of `kgdash.studies.probability.query_groups.GROUPINGS`; ReliK is the best run's
    :return: one row per group, the greatest ambiguity first, small ones last, deciles in order:
        ``group`` (str), ``number``, ``queries`` (int64), ``ambiguity``, ``low``, ``high`` (over
        the group's triples), ``pairwise``, ``overlap``, ``vote_pairwise``, ``hits`` (mean over the
        runs), ``small`` (bool: fewer than 30 queries)
    :raises KgdashError: on an unknown grouping
    """
    check_name("grouping", by, GROUPINGS, "agreement")
    made = grouping(found.runs[found.best], by, progress)
    count = len(found.queries) // 2
    codes = made.codes(Queries.of(found.queries[:count][IDS].to_numpy()))
    rows = found.queries.assign(
        code=codes, pairwise=pairwise(found.hits), share=found.hits.mean(axis=1)
    )
    rows = rows[codes >= 0]
    means = rows.groupby("code").agg(
        queries=("conflict", "size"),
        ambiguity=("conflict", "mean"),
        pairwise=("pairwise", "mean"),
        overlap=("overlap", "mean"),
        vote_pairwise=("vote_conflict", "mean"),
        hits=("share", "mean"),
    )
    units = rows.groupby(["code", rows.index % count])["conflict"].agg(["sum", "size"])
    sizes = units.groupby(level="code").size().to_numpy()
    ends = ratio_intervals(
        RatioMetric(bounds=UNIT),
        units["sum"].to_numpy(np.float64),
        units["size"].to_numpy(np.float64),
        sizes,
        level,
        [(0, int(code)) for code in means.index],
    )
    means.insert(2, "low", ends[:, 0])
    means.insert(3, "high", ends[:, 1])
    means["small"] = means["queries"] < SMALL
    table = means.reset_index(names="number")
    table.insert(0, "group", [made.name(int(code)) for code in table["number"]])
    if by in ("degree", "relik"):
        return table
    order = ["small", "ambiguity"]
    return table.sort_values(order, ascending=[True, False], kind="stable", ignore_index=True)


def foreseen_conflicts(
    found: Agreement, bootstrap: Bootstrap | None = None, progress: Progress = silent
) -> pd.DataFrame:
    """Tell how well a low ReliK, or a low degree, of the named entity foresees a conflict.

    ``roc_auc`` is the share of pairs of a query in conflict and one without where the former's
    value is lower; ties count half.

    :param bootstrap: over entities, all queries that name one together, as they share its value;
        default: 1,000 resamples at 95%; its seed is that of the deals, too
    :return: one row for each of `FORESEEING`: ``by`` (str), ``conflicts``, ``others`` (int64:
        queries, of entities with training triples), ``roc_auc``, ``low``, ``high`` (float64; NaN
        where there are no queries of a kind; the ends for those of fewer than 10 entities), ``p``
        (float64, in (0, 1]: of ReliK dealt anew, the larger of `dealt_ways`, as entities of like
        relations have like ReliK; NaN unless ½ is beyond the interval, and of the degree)
    """
    bootstrap = bootstrap or Bootstrap()
    run, count = found.runs[found.best], len(found.queries) // 2
    anchor = Queries.of(found.queries[:count][IDS].to_numpy()).anchor
    asking, dealing = phases(progress, [1.0, 3.0])
    degrees = train_degrees(run.graph).astype(np.float64)
    values = {"relik": mean_relik(run, asking)[anchor], "degree": degrees[anchor]}
    known = np.isfinite(values["relik"])
    conflict, anchor = found.queries["conflict"].to_numpy()[known], anchor[known]
    lower = {name: -rounded(value[known]) for name, value in values.items()}
    named = [len(np.unique(anchor[kind])) for kind in (conflict, ~conflict)]
    drawn = resampled(lower, conflict, anchor, bootstrap) if min(named) >= FEWEST else None
    rows = []
    for name, value in lower.items():
        ends = np.full(2, np.nan)
        if drawn is not None:
            ends = np.stack(percentile_interval(drawn[name]["roc_auc"], bootstrap.level))
        auc, p = roc_auc(value[conflict], value[~conflict]), np.nan
        if name == "relik" and (ends[0] > CHANCE or ends[1] < CHANCE):
            means = _entity_means(run)
            ways = (
                _dealt(means, way, conflict, anchor, report)
                for way, report in zip(
                    dealt_ways(run.relik("train"), bootstrap.seed),
                    phases(dealing, [2.0, 1.0]),
                    strict=True,
                )
            )
            p = float(largest_p(np.array([auc - CHANCE]), ways)[0])
        counts = {"conflicts": int(conflict.sum()), "others": int((~conflict).sum())}
        value_of = {"roc_auc": auc, "low": float(ends[0]), "high": float(ends[1]), "p": p}
        rows.append({"by": name, **counts, **value_of})
    return pd.DataFrame(rows)


def _entity_means(run: Run) -> sparse.csr_array:
    """Return what makes values of training triples the means of entities: ``(|E|, triples)``."""
    triples = run.graph.splits["train"]
    ends, rows = triple_ends(triples)
    shares = 1.0 / np.bincount(ends)[ends]
    return sparse.csr_array((shares, (ends, rows)), shape=(run.graph.num_entities, len(triples)))


def _dealt(
    means: sparse.csr_array,
    dealt: DealtRelik,
    conflict: np.ndarray,
    anchor: np.ndarray,
    progress: Progress,
) -> Iterator[np.ndarray]:
    """Yield how far from chance ReliK dealt anew foresees: blocks ``(deals, 1)``."""
    for done, block in enumerate(dealt, start=1):
        lower = -rounded((means @ block.T).T)[:, anchor]
        found = [roc_auc(each[conflict], each[~conflict]) - CHANCE for each in lower]
        yield np.array(found)[:, None]
        progress(done, len(dealt))
