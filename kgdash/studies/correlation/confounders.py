"""Confounders of ReliK: degree, frequency and kind of relation; and what remains without them.

The unit is the triple. Triples share entities and relations, so that intervals and the p-values of
independent rows flatter; those by dealing ReliK anew do not.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from kgdash.breakdowns.rank_facts import RankFacts
from kgdash.errors import check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap, percentile_interval
from kgdash.statistics.class_differences import kruskal_wallis
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.partial_correlation import (
    BOOTSTRAP,
    Controls,
    partial_table,
    plain_correlations,
)
from kgdash.statistics.permutation import largest_p, unit_rows
from kgdash.studies.comparison.comparison import reciprocal_ranks
from kgdash.studies.reliability.dealt_relik import DealtRelik, dealt_ways

#: numeric factors: columns of `triple_factors`, all counts of train triples
COUNTS = ("head_degree", "tail_degree", "entity_degree", "frequency")

#: factors that are classes of the relation
CLASSES = ("cardinality", "pattern")

#: name of a set of controls -> factors that are taken out together, as logarithms
CONTROLS: dict[str, tuple[str, ...]] = {
    "none": (),
    "degree": ("head_degree", "tail_degree"),
    "frequency": ("frequency",),
    "degree and frequency": ("head_degree", "tail_degree", "frequency"),
}

#: raise when the meaning of a stored table changes
_VERSIONS = {"factors": 4, "partial": 3}


def log_count(counts: np.ndarray) -> np.ndarray:
    """Return log₁₀(1 + count), which is 0 for none."""
    return np.log10(1.0 + np.asarray(counts, dtype=np.float64))


def triple_factors(
    run: Run,
    split: str = "test",
    side: str = "both",
    rank_type: str = "realistic",
    relik_method: str = "exact",
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the ReliK of a split's triples, their ranks, and what both may go with.

    :param side: of the reciprocal rank: "head", "tail", or "both" for the mean of the two
    :param rank_type: of it: "optimistic", "realistic" or "pessimistic"; filtered by what fits the
        split
    :return: one row per triple: ``head, relation, tail`` (int64 ids), ``relik``, ``head_rank``,
        ``tail_rank`` (≥ 1: among negatives, as `Run.relik`), ``reciprocal_rank`` (float64 in
        (0, 1], of the prediction), ``head_degree``, ``tail_degree`` (int64: train
        triples that the entity is an end of), ``entity_degree`` (float64: the mean of the two),
        ``frequency`` (int64: train triples of the relation), ``cardinality``, ``pattern`` (ordered
        categories, of `kgdash.graph.relation_patterns.relation_kinds`)
    :raises KgdashError: on an unknown choice, a split without triples, or NaN scores
    """
    first, second, third = phases(progress, [0.8, 0.15, 0.05])
    relik = run.relik(split, method=relik_method, progress=first)
    ranks = run.ranks(split, progress=second)
    facts = RankFacts(relik, run.graph, third)
    table = relik[[*IDS, "relik", "head_rank", "tail_rank"]].copy()
    table["reciprocal_rank"] = reciprocal_ranks({run.name: ranks}, side, rank_type)[:, 0]
    for end in ("head", "tail"):
        table[f"{end}_degree"] = facts.degree(end)
    table["entity_degree"] = table[["head_degree", "tail_degree"]].mean(axis=1)
    table["frequency"] = facts.frequency
    for column in CLASSES:
        table[column] = facts.kind(column)
    return table


def factor_tests(
    table: pd.DataFrame, bootstrap: Bootstrap = BOOTSTRAP, progress: Progress = silent
) -> pd.DataFrame:
    """Test each factor for itself: does ReliK go with it?

    Counts by Spearman's ρ, classes by Kruskal and Wallis' H with ε² = H/(n − 1) as its size: the
    share of the ranks' variance that lies between classes, 0 to 1.

    :param table: of `triple_factors`
    :param bootstrap: of the intervals of ρ, over triples; its seed is that of the deals, too
    :return: one row per factor: ``factor``, ``measure`` ("spearman" or "epsilon squared"),
        ``value``, ``low``, ``high`` (NaN for classes), ``p`` (of independent triples),
        ``p_permutation`` (of ReliK dealt anew, see `dealt_ways`), ``p_holm`` (the
        latter corrected for the number of factors; NaN, as ``value``, where the factor is the same
        everywhere), ``triples`` (int64), ``behind_low``, ``behind_high``, ``p_behind`` (of the
        greatest |ρ| of all counts less that of this one: interval by the same resamples, and p of
        ReliK dealt anew; NaN for the greatest itself and for classes)
    """
    rows = []
    resampling, dealing = phases(progress, [4.0, 2.0])
    relik = table["relik"].to_numpy()
    counts = [table[factor].to_numpy(dtype=np.float64) for factor in COUNTS]
    plain, drawn = plain_correlations(relik, counts, "spearman", bootstrap, resampling)
    for factor, found in zip(COUNTS, plain, strict=True):
        rows.append((factor, "spearman", found.value, found.low, found.high, found.p))
    for factor in CLASSES:
        value, p = kruskal_wallis(relik, table[factor])
        rows.append((factor, "epsilon squared", value, np.nan, np.nan, p))
    columns = ["factor", "measure", "value", "low", "high", "p"]
    tests = pd.DataFrame(rows, columns=columns)
    values = tests["value"].to_numpy()
    of_counts = values[: len(COUNTS)]
    ways = zip(dealt_ways(table, bootstrap.seed), phases(dealing, [2.0, 1.0]), strict=True)
    chance = (_dealt_factors(table, of_counts, way, report) for way, report in ways)
    p_values = largest_p(np.append(values, _behind(of_counts, of_counts)), chance)
    tests["p_permutation"] = p_values[: len(values)]
    tests["p_holm"] = holm(tests["p_permutation"].to_numpy())
    tests["triples"] = len(table)
    ends = percentile_interval(_behind(drawn, of_counts), bootstrap.level)
    behind = pd.DataFrame(
        [*ends, p_values[len(values) :]], ["behind_low", "behind_high", "p_behind"]
    )
    return tests.join(behind.T)


def _behind(coefficients: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return by how much each is below the one of the greatest size, in the directions found.

    :param coefficients: float64, ``(…, factors)``: of resamples, of deals, or those found
    :param found: ``(factors,)``
    :return: of the same shape; NaN for the greatest itself, and where there is none
    """
    if np.isnan(found).all():
        return np.full_like(coefficients, np.nan)
    sizes, greatest = coefficients * np.sign(found), np.nanargmax(np.abs(found))
    behind = sizes[..., [greatest]] - sizes
    behind[..., greatest] = np.nan
    return np.asarray(behind)


def _dealt_factors(
    table: pd.DataFrame, found: np.ndarray, dealt: DealtRelik, progress: Progress
) -> Iterator[np.ndarray]:
    """Yield the values of `factor_tests` for ReliK dealt anew, and how far counts are behind.

    :param found: the coefficients of the counts
    :return: blocks ``(deals, factors + counts)``
    """
    counts = unit_rows(rankdata(table[list(COUNTS)].to_numpy(dtype=np.float64), axis=0).T)
    members = [pd.get_dummies(table[factor].cat.remove_unused_categories()) for factor in CLASSES]
    shares = [(each / np.sqrt(each.sum())).to_numpy(dtype=np.float64) for each in members]
    for done, block in enumerate(dealt, start=1):
        ranks = unit_rows(rankdata(block, axis=1))
        # Of ranks of length 1, H / (n - 1) is what lies between the classes.
        between = [((ranks @ share) ** 2).sum(axis=1) for share in shares]
        of_counts = ranks @ counts.T
        yield np.column_stack([of_counts, *between, _behind(of_counts, found)])
        progress(done, len(dealt))


def class_table(table: pd.DataFrame, factor: str) -> pd.DataFrame:
    """Describe ReliK per class of relations.

    :param table: of `triple_factors`
    :param factor: "cardinality" or "pattern"
    :return: one row per class with triples, in their order: ``class`` (str), ``triples``,
        ``relations`` (int64), ``mean``, ``least``, ``lower_quartile``, ``median``,
        ``upper_quartile``, ``greatest`` (float64: of ReliK)
    :raises KgdashError: if the factor is no class
    """
    check_name("class", factor, CLASSES, "the confounders")
    rows = []
    for name, part in table.groupby(factor, observed=True):
        relik = part["relik"].to_numpy()
        ends = np.quantile(relik, [0, 0.25, 0.5, 0.75, 1])
        rows.append((str(name), len(part), part["relation"].nunique(), relik.mean(), *ends))
    columns = ["class", "triples", "relations", "mean"]
    columns += ["least", "lower_quartile", "median", "upper_quartile", "greatest"]
    return pd.DataFrame(rows, columns=columns)


def triple_partials(
    table: pd.DataFrame, bootstrap: Bootstrap = BOOTSTRAP, progress: Progress = silent
) -> pd.DataFrame:
    """Correlate ReliK with the reciprocal rank, plain and with factors taken out of both.

    :param table: of `triple_factors`
    :param bootstrap: of the intervals, over triples; its seed is that of the deals, too
    :return: as `kgdash.statistics.partial_correlation.partial_table`, with ReliK dealt anew: one
        row per coefficient ("spearman", "pearson") and set of `CONTROLS`
    """
    names = CONTROLS["degree and frequency"]
    logs = {name: log_count(table[name].to_numpy()) for name in names}
    relik, reciprocal = table["relik"].to_numpy(), table["reciprocal_rank"].to_numpy()
    dealt = dealt_ways(table, bootstrap.seed)
    return partial_table(relik, reciprocal, Controls(logs, CONTROLS), bootstrap, progress, dealt)


def cached_tests(
    run: Run,
    name: str,
    table: pd.DataFrame,
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return `factor_tests` or `triple_partials` of a table, kept on disk.

    :param name: "factors" or "partial"
    :param table: of `triple_factors`
    """
    work = {"factors": factor_tests, "partial": triple_partials}[name]
    columns = table[["relik", "head_rank", "tail_rank", "reciprocal_rank"]].to_numpy()
    key = {"kind": f"confounders: {name}", "stored": _VERSIONS[name], **asdict(bootstrap)}
    key |= run.table_key(table[IDS].to_numpy())
    key["values"] = hashlib.sha256(np.ascontiguousarray(columns, dtype="<f8").tobytes()).hexdigest()
    return cached_table(
        key,
        lambda: work(table, bootstrap, progress),
        run.table_about("comparison", columns, method=f"confounders of ReliK: {name}"),
        progress,
    )
