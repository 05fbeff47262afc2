"""Does ReliK foretell local performance? Random subgraphs, and how their figures correlate (§6).

Every known triple that is in some subgraph gets its ReliK once, every evaluated one its ranks once;
the figures of a subgraph are means over what is inside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from kgdash.breakdowns import check_level
from kgdash.errors import KgdashError, unknown_name
from kgdash.metrics import POOLS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.local import EVALUATED
from kgdash.subgraphs import Subgraph

#: sizes by the paper (§5), by name of the graph; else the first that fits
SIZES = {"codex-s": 60, "codex-m": 100, "codex-l": 100, "fb15k-237": 200}

#: what ReliK is held against: columns of `subgraph_figures`
TASKS = (
    "tail_mrr",
    "head_mrr",
    "both_mrr",
    "relation_mrr",
    "tail_hits_at_10",
    "head_hits_at_10",
    "both_hits_at_10",
)

_COEFFICIENTS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "pearson": pearsonr,
    "spearman": spearmanr,
    "kendall": kendalltau,
}

#: fewer subgraphs than this have no correlation worth the name
_FEWEST = 3

#: resamples of the bootstrap over subgraphs
RESAMPLES = 1000


def default_size(run: Run) -> int:
    """Return how many entities a subgraph has by default: the paper's number, or 60 (§5)."""
    return min(SIZES.get(run.graph.name.lower(), 60), run.graph.num_entities)


def draw_subgraphs(
    run: Run,
    count: int = 100,
    size: int | None = None,
    method: str = "rwr",
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> list[Subgraph]:
    """Draw subgraphs around random entities.

    Seed entities are drawn uniformly among those that have a known triple, each once as long as
    there are enough.

    :param count: how many, ≥ 1
    :param size: entities to collect in each; default: `default_size`
    :param method: "rwr" or "neighbourhood", see `Run.subgraph`
    :param seed: of entities and walks, ≥ 0
    :param progress: called with (done, total); may raise to cancel
    :param parameters: further ones of `Run.subgraph`: ``restart``, ``hops``, ``direction``
    :raises KgdashError: if a number or the method is out of range
    """
    if count < 1 or seed < 0:
        raise KgdashError(f"expected at least 1 subgraph and a seed ≥ 0; found {count} and {seed}")
    rng = np.random.default_rng(seed)
    entities = np.flatnonzero(run.graph.degrees)
    chosen = rng.choice(entities, count, replace=count > len(entities))
    walks = rng.integers(0, 2**31, count)
    size, drawn = default_size(run) if size is None else size, []
    for entity, walk in zip(chosen.tolist(), walks.tolist(), strict=True):
        drawn.append(run.subgraph(entity, method, size, seed=walk, **parameters))
        progress(len(drawn), count)
    return drawn


def subgraph_figures(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluated: str = "test",
    relik_method: str = "exact",
    filter: str = "train+valid+test",
    progress: Progress = silent,
) -> pd.DataFrame:
    """Compute mean ReliK and performance of each subgraph, as `kgdash.studies.local.compare` does.

    :param subgraphs: of the run's graph
    :param evaluated: "test" or "all": whose ranks are taken
    :param relik_method: of `Run.relik`
    :param filter: of the ranks
    :param progress: called with (done, total); may raise to cancel
    :return: one row per subgraph: ``seed_entity`` (int64 id), ``entities``, ``triples`` (int64:
        known ones inside), ``evaluated`` (int64), ``relik`` (mean over the triples; NaN if there
        are none), and for side in head, tail, both, relation ``{side}_mrr`` and, but for relation,
        ``{side}_hits_at_10`` (float64, realistic ranks; NaN if nothing is evaluated)
    :raises KgdashError: on an unknown choice, or NaN scores
    """
    if evaluated not in EVALUATED:
        raise unknown_name("choice of evaluated triples", evaluated, list(EVALUATED), "studies")
    inside = _inside(run, subgraphs)
    triples, first = run.graph.all_triples, np.asarray(inside.sum(axis=0)).ravel() > 0
    report = phases(progress, [0.7, 0.3])
    table = pd.DataFrame(
        {
            "seed_entity": [part.seed_entity for part in subgraphs],
            "entities": [len(part.entities) for part in subgraphs],
            "triples": np.asarray(inside.sum(axis=1), dtype=np.int64).ravel(),
        }
    )
    relik = np.zeros(len(triples))
    if first.any():
        relik[first] = run.relik(triples=triples[first], method=relik_method, progress=report[0])[
            "relik"
        ]
    table["relik"] = _means(inside, relik)
    chosen = first & run.graph.known(EVALUATED[evaluated]).contains(triples)
    ranked = inside[:, np.flatnonzero(chosen)]
    table.insert(3, "evaluated", np.asarray(ranked.sum(axis=1), dtype=np.int64).ravel())
    sides = ("head", "tail", "relation")
    values = {side: np.zeros((2, int(chosen.sum()))) for side in sides}
    if chosen.any():
        ranks = run.ranks(triples=triples[chosen], sides=sides, filter=filter, progress=report[1])
        for side in sides:
            of_side = ranks.loc[ranks["side"] == side, "realistic"].to_numpy()
            values[side] = np.stack([1 / of_side, of_side <= 10])
    for side, pool in POOLS.items():
        reciprocal, hit = np.mean([values[s] for s in pool], axis=0)
        table[f"{side}_mrr"] = _means(ranked, reciprocal)
        if side != "relation":
            table[f"{side}_hits_at_10"] = _means(ranked, hit)
    return table


def correlations(
    table: pd.DataFrame,
    tasks: Sequence[str] = TASKS,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> pd.DataFrame:
    """Correlate the ReliK of subgraphs with each task.

    Coefficients and two-sided p-values are SciPy's. The intervals are percentile bootstraps over
    subgraphs. Overlapping subgraphs are not independent, so that p-values and intervals flatter;
    p-values are not corrected for the number of tasks.

    :param table: of `subgraph_figures`
    :param tasks: columns of it
    :param level: of the intervals, in (0, 1)
    :param seed: of the bootstrap, ≥ 0
    :param resamples: of the bootstrap
    :return: one row per task and coefficient ("pearson", "spearman", "kendall"): ``task``,
        ``coefficient`` (str), ``subgraphs``, ``left_out`` (int64: without an evaluated triple, or
        without any), ``value``, ``p``, ``low``, ``high`` (float64; NaN for fewer than 3 subgraphs
        or where one of the two is the same everywhere)
    :raises KgdashError: if a task is no column of the table, or the level out of range
    """
    check_level(level)
    rows = []
    for task in tasks:
        if task not in table:
            raise unknown_name("task", task, TASKS, "the study")
        x, y = table["relik"].to_numpy(), table[task].to_numpy()
        kept = np.isfinite(x) & np.isfinite(y)
        x, y = x[kept], y[kept]
        for name in _COEFFICIENTS:
            value, p = _correlate(name, x, y)
            low, high = _interval(name, x, y, level, seed, resamples)
            counts = {"subgraphs": len(x), "left_out": int((~kept).sum())}
            found = {"value": value, "p": p, "low": low, "high": high}
            rows.append({"task": task, "coefficient": name, **counts, **found})
    return pd.DataFrame(rows)


def study(
    run: Run,
    sizes: Sequence[int] = (),
    count: int = 100,
    method: str = "rwr",
    seed: int = 0,
    evaluated: str = "test",
    relik_method: str = "exact",
    filter: str = "train+valid+test",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
    **parameters: Any,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw subgraphs of one or several sizes and correlate ReliK with performance for each size.

    All sizes start from the same entities. The arguments are those of `draw_subgraphs`,
    `subgraph_figures` and `correlations`.

    :param sizes: of the subgraphs, in entities; default: `default_size` alone
    :return: the tables of `subgraph_figures` and of `correlations`, each with a column ``size``
        before
    :raises KgdashError: as they do
    """
    check_level(level)
    tables, found = [], []
    chosen = list(sizes) or [default_size(run)]
    for size, report in zip(chosen, phases(progress, [1.0] * len(chosen)), strict=True):
        parts = draw_subgraphs(run, count, size, method, seed, **parameters)
        table = subgraph_figures(run, parts, evaluated, relik_method, filter, report)
        coefficients = correlations(table, level=level, seed=seed, resamples=resamples)
        for each in (table, coefficients):
            each.insert(0, "size", size)
        tables.append(table)
        found.append(coefficients)
    return pd.concat(tables, ignore_index=True), pd.concat(found, ignore_index=True)


def _inside(run: Run, subgraphs: Sequence[Subgraph]) -> sparse.csr_array:
    """Tell which known triples have both ends in which subgraph: ``(subgraphs, |F|)`` of 0, 1."""
    heads, _, tails = run.graph.all_triples.T
    rows = []
    for part in subgraphs:
        chosen = np.zeros(run.graph.num_entities, dtype=bool)
        chosen[part.entities] = True
        rows.append(np.flatnonzero(chosen[heads] & chosen[tails]))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    columns = np.concatenate(rows)
    ones = np.ones(len(columns))
    return sparse.csr_array((ones, columns, starts), shape=(len(rows), len(heads)))


def _means(inside: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Average a value per triple over each subgraph; NaN where none is inside."""
    counts = np.asarray(inside.sum(axis=1)).ravel()
    with np.errstate(invalid="ignore"):
        return np.asarray(inside @ values) / counts


def _correlate(name: str, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    if len(x) < _FEWEST or not np.ptp(x) or not np.ptp(y):
        return np.nan, np.nan
    found = _COEFFICIENTS[name](x, y)
    return float(found.statistic), float(found.pvalue)


def _interval(
    name: str, x: np.ndarray, y: np.ndarray, level: float, seed: int, resamples: int
) -> tuple[float, float]:
    if len(x) < _FEWEST:
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(x), size=(resamples, len(x)))
    if name == "kendall":
        values = _resampled_tau(x, y, drawn)
    else:
        # Spearman's coefficient is Pearson's of the ranks.
        pair = [a[drawn] if name == "pearson" else rankdata(a[drawn], axis=1) for a in (x, y)]
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore")
            values = pearsonr(*pair, axis=1).statistic
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled_tau(x: np.ndarray, y: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of each resample.

    As `scipy.stats.kendalltau`, which takes a call per resample and thereby seconds: with w the
    times that each point was drawn and S the signs of all differences, Σ w Sx Sy w / √(…).
    """
    times = np.stack([np.bincount(row, minlength=len(x)) for row in drawn]).astype(np.float64)
    signs = [np.sign(values[:, None] - values) for values in (x, y)]
    products = (signs[0] * signs[1], np.abs(signs[0]), np.abs(signs[1]))
    together, of_x, of_y = (((times @ each) * times).sum(axis=1) for each in products)
    with np.errstate(divide="ignore", invalid="ignore"):
        return together / np.sqrt(of_x * of_y)
