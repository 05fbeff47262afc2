"""How far probabilities are right on test: errors with intervals, and the reliability diagram.

Defined in numbers.md#23-probabilities. Expected calibration error: Naeini, Cooper and Hauskrecht,
"Obtaining well calibrated probabilities using Bayesian binning", 2015; adaptive bins: Nguyen and
O'Connor, "Posterior calibration and exploratory analysis for NLP models", 2015; Brier,
"Verification of forecasts expressed in terms of probability", 1950.
"""

import numpy as np
import pandas as pd

from kgdash.engine.workers import one_thread
from kgdash.errors import check_name
from kgdash.progress import Progress, phases, silent
from kgdash.statistics.bootstrap import FEWEST, Bootstrap, percentile_interval, resample_counts
from kgdash.statistics.proportions import wilson
from kgdash.statistics.unseen import UNIT, allow_for_unseen
from kgdash.studies.probability.calibration import WAYS, TestedCalibration
from kgdash.studies.probability.query_groups import grouping

#: bins of the errors and of the diagram
BINS = 15

#: what is reported: all are better the lower they are
ERRORS = {
    "ece": "expected calibration error",
    "ace": "adaptive calibration error",
    "nll": "negative log-likelihood",
    "brier": "Brier score",
}

#: what lies between bounds, by its place in `ERRORS`: all but the negative log-likelihood
_BOUNDS = {0: UNIT, 1: UNIT, 3: (0.0, 2.0)}

_BLOCK = 64


def calibration_errors(
    queries: pd.DataFrame, way: str = "fitted", bootstrap: Bootstrap | None = None
) -> dict[str, tuple[float, float, float]]:
    """Compute how wrong the probabilities of a way are.

    ECE = Σ_b n_b/n |mean confidence − share right| over 15 equally wide bins of the confidence, ACE
    over 15 bins of equally many queries; NLL and Brier score are means. A triple's two queries are
    drawn together. Intervals of ECE and ACE allow for gaps that are noise alone (`_of_gaps`); all
    but those of NLL for triples unlike those drawn (`allow_for_unseen`).

    :param queries: of `TestedCalibration`, or some of its rows, at least one
    :param bootstrap: of the intervals; default: 1,000 resamples at 95%
    :return: of each of `ERRORS`: value, low, high (NaN for fewer than 10 triples)
    :raises KgdashError: on an unknown way
    """
    check_name("way", way, WAYS, "calibration")
    bootstrap = bootstrap or Bootstrap()
    units = queries.groupby(["head", "relation", "tail"], sort=False).ngroup().to_numpy()
    sums = _sums(queries, way, units)
    whole = np.ones((1, len(sums))) @ sums
    value = _errors(whole)[0]
    low = high = np.full(len(ERRORS), np.nan)
    if len(sums) >= FEWEST:
        rng = np.random.default_rng(bootstrap.seed)
        drawn = np.empty((bootstrap.resamples, sums.shape[1]))
        with one_thread():  # BLAS adds in another order on several
            for block, weights in resample_counts(len(sums), bootstrap.resamples, rng, _BLOCK):
                drawn[block] = weights @ sums
        low, high = percentile_interval(_errors(drawn), bootstrap.level)
        confidence = queries[f"{way}_confidence"].to_numpy()
        for at, binned in enumerate((equal_width, equal_mass)):
            bins = slice(at * BINS, (at + 1) * BINS)
            gaps = whole[0, bins] / len(queries), drawn[:, bins] / drawn[:, -1:]
            noise = _noise(confidence, binned(confidence), len(drawn), rng)
            low[at], high[at] = _of_gaps(*gaps, noise, len(queries), bootstrap.level)
        for at, bounds in _BOUNDS.items():
            (low[at], high[at]), *_ = allow_for_unseen(
                value[[at]], np.array([[low[at], high[at]]]), len(sums), bootstrap.level, bounds
            )
    return {
        name: (float(v), float(a), float(b))
        for name, v, a, b in zip(ERRORS, value, low, high, strict=True)
    }


def _sums(queries: pd.DataFrame, way: str, units: np.ndarray) -> np.ndarray:
    """Add up, per unit that is drawn, what the errors are ratios of: ``(units, 33)``."""
    confidence = queries[f"{way}_confidence"].to_numpy()
    excess = confidence - queries["right"].to_numpy()
    count = int(units.max()) + 1
    sums = np.zeros((count, 2 * BINS + 3))
    np.add.at(sums, (units, equal_width(confidence)), excess)
    np.add.at(sums, (units, BINS + equal_mass(confidence)), excess)
    columns = (queries[f"{way}_nll"].to_numpy(), queries[f"{way}_brier"].to_numpy(), None)
    for at, values in enumerate(columns):
        sums[:, 2 * BINS + at] = np.bincount(units, values, count)
    return sums


def _errors(sums: np.ndarray) -> np.ndarray:
    """Turn sums, ``(k, 33)``, into the errors in the order of `ERRORS`: ``(k, 4)``."""
    count = sums[:, -1:]
    ece = np.abs(sums[:, :BINS]).sum(axis=1, keepdims=True)
    ace = np.abs(sums[:, BINS : 2 * BINS]).sum(axis=1, keepdims=True)
    return np.hstack([ece, ace, sums[:, 2 * BINS : 2 * BINS + 2]]) / count


def _noise(
    confidence: np.ndarray, bins: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw the gaps of bins, were confidences right: float64, ``(resamples, 15)``."""
    size = np.bincount(bins, minlength=BINS)
    mean = np.bincount(bins, confidence, BINS) / np.maximum(size, 1)
    hits = rng.binomial(size, mean.clip(0, 1), (resamples, BINS))
    return (size * mean - hits) / len(bins)


def _of_gaps(
    gaps: np.ndarray, drawn: np.ndarray, noise: np.ndarray, count: int, level: float
) -> tuple[float, float]:
    """Return the interval of Σ |gap| over bins.

    The value of a sample lies above that of all queries, since noise adds to it whatever its sign,
    and values of resamples lie higher still. With h = gap drawn − gap, the low end takes off the
    quantile of Σ ±h over the bins whose gap is told from noise, beyond √log n of its spread, and of
    Σ |h| over the others; the high end adds that of −Σ ±h, ± the gaps' signs (Fang and Santos,
    "Inference on directionally differentiable functions", 2019). Resamples of a bin where nothing
    is right do not move: below, h is of ``noise`` where that spreads more.

    :param gaps: float64, ``(15,)``: of the sample; ``drawn``: of resamples, ``(m, 15)``
    :param noise: of `_noise`, ``(m, 15)``
    :param count: of queries
    """
    signs, moved = np.sign(gaps), drawn - gaps
    value, low = np.abs(gaps).sum(), percentile_interval((signs * moved).sum(axis=1), level)[0]
    spread = np.maximum(moved.std(axis=0), noise.std(axis=0))
    moved = np.where(moved.std(axis=0) < spread, noise, moved)
    told = np.abs(gaps) > np.sqrt(np.log(count)) * spread
    high = percentile_interval(np.where(told, signs * moved, np.abs(moved)).sum(axis=1), level)[1]
    return max(0.0, float(value - high)), min(1.0, float(value - low))


def equal_width(confidence: np.ndarray) -> np.ndarray:
    """Number the bins [0, 1/15), …, [14/15, 1] of values in [0, 1]: int64, ``(n,)``."""
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)


def equal_mass(confidence: np.ndarray) -> np.ndarray:
    """Number 15 bins of equally many values, ascending; equal ones in their order."""
    place = np.empty(len(confidence), dtype=np.int64)
    place[np.argsort(confidence, kind="stable")] = np.arange(len(confidence))
    return place * BINS // len(confidence)


def overall_errors(
    tested: TestedCalibration, bootstrap: Bootstrap | None = None, progress: Progress = silent
) -> pd.DataFrame:
    """Return the errors of each way over all test queries.

    :return: one row per way and error: ``way``, ``error``, ``value``, ``low``, ``high``
    """
    rows = []
    for number, way in enumerate(WAYS):
        found = calibration_errors(tested.queries, way, bootstrap)
        rows += [(way, error, *values) for error, values in found.items()]
        progress(number + 1, len(WAYS))
    return pd.DataFrame(rows, columns=["way", "error", "value", "low", "high"])


def sure_answers(tested: TestedCalibration, least: float = 0.8) -> tuple[int, float]:
    """Count the first candidates given a fitted confidence of at least so much, in [0, 1].

    :return: how many, and the share of them that is right (NaN of none)
    """
    table = tested.queries
    right = table.loc[table["fitted_confidence"] >= least, "right"]
    return len(right), float(right.mean()) if len(right) else float("nan")


def diagram(tested: TestedCalibration, way: str = "fitted") -> pd.DataFrame:
    """Return the reliability diagram: confidence against the share of first candidates right.

    :return: one row per bin of `equal_mass`: ``count`` (int64), ``predicted`` (mean confidence),
        ``observed`` (share right), ``low``, ``high`` (95%, Wilson), float64 in [0, 1]
    """
    table = tested.queries
    confidence = table[f"{way}_confidence"].to_numpy()
    bins = equal_mass(confidence)
    count = np.bincount(bins, minlength=BINS)
    right = np.bincount(bins, table["right"], BINS)
    some = count > 0
    low, high = wilson(np.round(right[some]), count[some])
    return pd.DataFrame(
        {
            "count": count[some],
            "predicted": np.bincount(bins, confidence, BINS)[some] / count[some],
            "observed": right[some] / count[some],
            "low": low,
            "high": high,
        }
    )


def grouped_errors(
    tested: TestedCalibration,
    by: str,
    bootstrap: Bootstrap | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the errors of the fitted probabilities by groups of test queries.

    :param by: of `kgdash.studies.probability.query_groups.GROUPINGS`
    :return: one row per group, the largest ECE first, deciles in order: ``group``,
        ``queries`` (int64), ``right``, ``confidence`` (means), and for each of `ERRORS` its value,
        ``<error>_low``, ``<error>_high``
    :raises KgdashError: on an unknown grouping
    """
    first, second = phases(progress, [1.0, 1.0])
    groups = grouping(tested.run, by, first)
    codes = groups.codes(tested.asked)
    rows, numbers = [], np.unique(codes[codes >= 0])
    for done, number in enumerate(numbers):
        part = tested.queries[codes == number]
        row = {
            "group": groups.name(int(number)),
            "queries": len(part),
            "right": part["right"].mean(),
        }
        row["confidence"] = part["fitted_confidence"].mean()
        for error, (value, low, high) in calibration_errors(part, "fitted", bootstrap).items():
            row |= {error: value, f"{error}_low": low, f"{error}_high": high}
        rows.append(row)
        second(done + 1, len(numbers))
    ends = [f"{error}{end}" for error in ERRORS for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["group", "queries", "right", "confidence", *ends])
    if by in ("degree", "relik"):  # in the order of their values
        return table
    return table.sort_values("ece", ascending=False, ignore_index=True)
