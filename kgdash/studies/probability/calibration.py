"""A run's calibration: temperatures and maps fitted on validation, and what they say on test.

Defined in numbers.md#23-probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.engine.softmax_kernels import gather_logistic
from kgdash.errors import KgdashError
from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS, default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import (
    AnswerQueries,
    Softmax,
    answer_queries,
    softmax,
)
from kgdash.studies.probability.candidate_probability import (
    IsotonicMap,
    Logistic,
    count_candidates,
    fit_isotonic,
    fit_platt,
)
from kgdash.studies.probability.query_groups import Queries
from kgdash.studies.probability.temperatures import fit_betas

#: ways from scores to probabilities over the candidates of a query
WAYS = {
    "fitted": "softmax, a temperature per side, and per relation with ≥ 50 validation queries",
    "uncalibrated": "softmax of the scores as they are",
    "temperature": "softmax, one temperature",
    "platt": "Platt's curve on the score, shared out among the candidates",
}

#: validation queries of a relation and side from which it has a temperature of its own
ENOUGH = 50

#: folds of validation triples, where these themselves are looked at
FOLDS = 5

#: in the keys of all stored tables that rest on what is fitted here: raise when that changes
FITTED = {"calibration": 3}


@dataclass(frozen=True)
class Calibration:
    """What was fitted on validation queries of both sides.

    ``betas``: ``side``, ``relation`` (int64; -1: all others of the side; on side "both" the one
    temperature), ``queries`` (int64), ``beta`` (float64, > 0). ``isotonic``: from log p under these
    to the probability of a candidate. ``platt``: from the score.
    """

    betas: pd.DataFrame
    isotonic: IsotonicMap
    platt: Logistic

    def beta_of(self, queries: AnswerQueries) -> np.ndarray:
        """Return the β of each triple's query: float64, ``(n,)``."""
        rows = self.betas[self.betas["side"] == queries.side]
        own = dict(zip(rows["relation"], rows["beta"], strict=True))
        relations, place = np.unique(queries.triples[:, 1], return_inverse=True)
        values = np.array([own.get(int(relation), own[-1]) for relation in relations])
        return values[place.reshape(-1)]

    def beta_under(self, side: str, relation: int) -> float:
        """Return the β of a relation's queries with one side open."""
        rows = self.betas[
            (self.betas["side"] == side) & self.betas["relation"].isin([-1, relation])
        ]
        return float(rows.loc[rows["relation"].idxmax(), "beta"])

    @property
    def one_beta(self) -> float:
        """Return the one temperature's β."""
        return float(self.betas.loc[self.betas["side"] == "both", "beta"].iloc[0])


def fit_calibration(
    run: Run, without: int | None = None, progress: Progress = silent
) -> Calibration:
    """Fit temperatures, isotonic map and Platt's curve on the validation split; kept on disk.

    Candidates of a validation query are filtered by train and valid alone.

    :param without: the fold of validation triples (`fold_of`) that is left out; None: none
    :raises KgdashError: without validation triples, or if a score is NaN or infinite
    """
    triples = run.graph.split("valid")
    if without is not None:
        triples = triples[fold_of(triples) != without]
    if not len(triples):
        raise KgdashError(
            f"graph {run.graph.name} has no validation triples to fit probabilities on"
        )
    key = {"kind": "calibration", **FITTED, **run.table_key(triples)}
    about = run.table_about("calibration", triples, filter=default_filter("valid"))
    return _from_table(
        cached_table(key, lambda: _to_table(_fit(run, triples, progress)), about, progress)
    )


def fold_of(triples: np.ndarray) -> np.ndarray:
    """Deal validation triples out to five folds: int64, ``(n,)``, in [0, 5); fixed by position."""
    return np.random.default_rng(0).permutation(len(triples)) % FOLDS


def _fit(run: Run, triples: np.ndarray, progress: Progress) -> Calibration:
    checked, searched, counted = phases(progress, [1.0, 5.0, 2.0])
    run.ranks(triples=triples, filter=default_filter("valid"), progress=checked)  # refuses NaN
    sides = answer_queries(run, triples, default_filter("valid"))
    together = [np.zeros(len(triples), dtype=np.int64) for _ in sides]
    apart = [codes + number for number, codes in enumerate(together)]
    codes, names = _relation_groups(sides)
    groupings = [together, apart, codes] if names else [together, apart]
    ((one,), by_side, *rest), near = fit_betas(sides, groupings, searched)
    rows = [("both", -1, len(sides) * len(triples), float(one))]
    rows += [(q.side, -1, len(triples), float(b)) for q, b in zip(sides, by_side, strict=True)]
    counts = np.bincount(triples[:, 1])
    for (side, relation), beta in zip(names, *rest, strict=True) if names else ():
        rows.append((side, relation, int(counts[relation]), float(beta)))
    betas = pd.DataFrame(rows, columns=["side", "relation", "queries", "beta"])
    half = Calibration(betas, IsotonicMap(np.zeros(1), np.zeros(1)), Logistic(0.0, 0.0))
    found = count_candidates(sides, [half.beta_of(side) for side in sides], near, counted)
    return Calibration(betas, fit_isotonic(found), fit_platt(found))


def _relation_groups(
    sides: list[AnswerQueries],
) -> tuple[list[np.ndarray], list[tuple[str, int]]]:
    """Number the relations that have enough queries on a side; -1 for the others."""
    codes: list[np.ndarray] = []
    names: list[tuple[str, int]] = []
    for side in sides:
        relations, place, counts = np.unique(
            side.triples[:, 1], return_inverse=True, return_counts=True
        )
        number = np.full(len(relations), -1, dtype=np.int64)
        large = np.flatnonzero(counts >= ENOUGH)
        number[large] = len(names) + np.arange(len(large))
        names += [(side.side, int(relation)) for relation in relations[large]]
        codes.append(number[place.reshape(-1)])
    return codes, names


def _to_table(calibration: Calibration) -> pd.DataFrame:
    """Write all that was fitted as rows of one table."""
    isotonic = pd.DataFrame(
        {"part": "isotonic", "x": calibration.isotonic.log_p, "y": calibration.isotonic.probability}
    )
    platt = calibration.platt
    curve = pd.DataFrame({"part": ["platt"], "x": [platt.slope], "y": [platt.intercept]})
    betas = calibration.betas.rename(columns={"beta": "x"}).assign(part="beta")
    return pd.concat([betas, isotonic, curve], ignore_index=True)


def _from_table(table: pd.DataFrame) -> Calibration:
    parts = {part: table[table["part"] == part] for part in ("beta", "isotonic", "platt")}
    betas = parts["beta"][["side", "relation", "queries", "x"]].rename(columns={"x": "beta"})
    betas = betas.astype({"relation": "int64", "queries": "int64"}).reset_index(drop=True)
    curve = parts["platt"].iloc[0]
    return Calibration(
        betas,
        IsotonicMap(parts["isotonic"]["x"].to_numpy(), parts["isotonic"]["y"].to_numpy()),
        Logistic(float(curve["x"]), float(curve["y"])),
    )


@dataclass(frozen=True)
class TestedCalibration:
    """What each way says of the test queries, and whether it was right.

    ``queries``: one row per side and test triple, sides one after another: `kgdash.graph.IDS`,
    ``side``, ``right`` (in [0, 1]: 1 if the true answer comes first; shared among those that tie
    there), ``probability`` (of the true answer, by the isotonic map) and, for each of `WAYS`,
    ``<way>_confidence`` (probability of the first candidate), ``<way>_nll`` = −log p(true answer),
    ``<way>_brier`` = Σ (p − truth)² over the candidates, in [0, 2].
    """

    run: Run
    fitted: Calibration
    queries: pd.DataFrame

    @property
    def asked(self) -> Queries:
        """Return the queries, in the order of their rows."""
        return Queries.of(self.queries[: len(self.queries) // 2][IDS].to_numpy())


def calibration_on_test(run: Run, progress: Progress = silent) -> TestedCalibration:
    """Fit on validation, and say what each way gives on test; kept on disk.

    :raises KgdashError: without validation or test triples, or if a score is NaN or infinite
    """
    first, second = phases(progress, [3.0, 2.0])
    fitted = fit_calibration(run, progress=first)
    triples = run.graph.split("test")
    key = {"kind": "probabilities", **FITTED, **run.table_key(triples)}
    how = {"filter": default_filter("test"), "method": "every query"}
    about = run.table_about("calibration", triples, **how)
    table = cached_table(key, lambda: _queries(run, fitted, triples, second), about, second)
    return TestedCalibration(run, fitted, table)


def _queries(
    run: Run, fitted: Calibration, triples: np.ndarray, progress: Progress
) -> pd.DataFrame:
    filter = default_filter("test")
    ranks = run.ranks(triples=triples, filter=filter)
    parts = []
    sides = answer_queries(run, triples, filter)
    for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        soft_report, platt_report = phases(report, [2.0, 1.0])
        ones = np.ones(len(triples))
        betas = [fitted.beta_of(side), ones, ones * fitted.one_beta]
        found = softmax(side, betas, soft_report)
        own = ranks[ranks["side"] == side.side]
        first = (own["optimistic"] == 1).to_numpy()
        part = pd.DataFrame(triples, columns=IDS).assign(
            side=side.side,
            right=np.where(first, 1 / own["pessimistic"].to_numpy(), 0.0),
            probability=fitted.isotonic(found[0].log_true),
        )
        for way, soft in zip(("fitted", "uncalibrated", "temperature"), found, strict=True):
            _add(part, way, soft.confidence, soft.log_true, soft.squares)
        _add(part, "platt", *_platt(side, found[0], fitted.platt, platt_report))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _platt(
    side: AnswerQueries, found: Softmax, curve: Logistic, progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first candidate's share of Platt's curve, log of the true one's, Σ shares²."""
    from scipy.special import log_expit

    sums = np.zeros((len(side.asked.anchors), 2))

    def gather(_, tile, first):
        gather_logistic(tile, first, curve.slope, curve.intercept, sums)

    side.visit(gather, lambda: None, progress)
    log_true = log_expit(curve.slope * found.own + curve.intercept)
    log_first = log_expit(curve.slope * found.high + curve.intercept)
    true = np.exp(log_true)
    total, squares = sums[side.asked.row].T
    whole = total + true
    return (
        np.exp(log_first) / whole,
        log_true - np.log(whole),
        (squares + true**2) / whole**2,
    )


def _add(
    part: pd.DataFrame, way: str, confidence: np.ndarray, log_true: np.ndarray, squares: np.ndarray
) -> None:
    """Add the three columns of a way."""
    part[f"{way}_confidence"] = np.clip(confidence, 0.0, 1.0)
    part[f"{way}_nll"] = np.maximum(-log_true, 0.0)
    part[f"{way}_brier"] = np.clip(1 - 2 * np.exp(log_true) + squares, 0.0, 2.0)
