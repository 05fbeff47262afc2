"""Scores as probabilities: Platt's and isotonic calibration, and how far they are right.

Defined in numbers.md#7-triple-classification. Platt, "Probabilistic outputs for support vector
machines and comparisons to regularized likelihood methods", 1999; Zadrozny and Elkan 2002 for
isotonic regression; Wilson 1927 for the intervals of shares; Brier 1950.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from kgdash.statistics.proportions import wilson

#: how scores become probabilities
CALIBRATIONS = {
    "none": "of the score as it is, nothing fitted",
    "platt": "logistic regression on the score (Platt 1999), fit on validation",
    "isotonic": "isotonic regression on the score, fit on validation",
}

#: bins of the reliability diagram
BINS = 10

#: what readers are told beside the errors
NOISE = (
    "noise adds to the calibration error whatever its sign: the fewer triples, the further it lies "
    "above what all would give, and that of right probabilities is not 0 either"
)

Calibration = Callable[[np.ndarray], np.ndarray]


def fit_calibrations(scores: np.ndarray, labels: np.ndarray) -> dict[str, Calibration]:
    """Fit each of `CALIBRATIONS` on labelled scores.

    :param scores: float64, ``(n,)``, without NaN; infinite ones count as the extreme finite one
    :param labels: bool, ``(n,)``
    :return: name -> function from scores, ``(m,)``, to probabilities in [0, 1], ``(m,)``
    """
    from scipy.special import expit

    finite = scores[np.isfinite(scores)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    clipped = np.clip(scores, low, high)
    platt, isotonic = _platt(clipped, labels), _isotonic(clipped, labels)
    return {
        "none": expit,
        "platt": lambda values: platt(np.clip(values, low, high)),
        "isotonic": lambda values: isotonic(np.clip(values, low, high)),
    }


def calibrated(valid: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Return each test triple's probability by each of `CALIBRATIONS`, fit on validation.

    :param valid: ``label`` (bool), ``score`` (float64, without NaN)
    :param test: ``score``
    :return: a column per way, float64 in [0, 1], rows as ``test``
    """
    fitted = fit_calibrations(valid["score"].to_numpy(), valid["label"].to_numpy())
    scores = test["score"].to_numpy()
    return pd.DataFrame({name: function(scores) for name, function in fitted.items()})


def calibration_tables(
    probabilities: pd.DataFrame, labels: pd.Series, level: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how far probabilities are right.

    :param probabilities: of `calibrated`, ``(n, ways)``
    :param labels: bool, ``(n,)``
    :return: the bins of `reliability_bins` with ``calibration`` before; and one row per
        ``calibration`` with ``expected_calibration_error`` and ``brier_score`` (both in [0, 1],
        lower is better)
    """
    label, tables, errors = labels.to_numpy(), [], []
    for name, values in probabilities.items():
        bins = reliability_bins(values.to_numpy(), label, level=level)
        errors.append((name, calibration_error(bins), brier_score(values.to_numpy(), label)))
        bins.insert(0, "calibration", name)
        tables.append(bins)
    columns = ["calibration", "expected_calibration_error", "brier_score"]
    return pd.concat(tables, ignore_index=True), pd.DataFrame(errors, columns=columns)


def _platt(scores: np.ndarray, labels: np.ndarray) -> Calibration:
    """Fit a logistic curve to the targets of Platt 1999, which are not quite 0 and 1.

    Each score stands in the data as true and as false, by the weight of its target: thus the fit is
    finite where a threshold parts the labels. The scores are standardised, as the solver needs it.
    """
    from sklearn.linear_model import LogisticRegression

    positives, negatives = labels.sum(), (~labels).sum()
    target = np.where(labels, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    mean, spread = scores.mean(), scores.std() or 1.0
    standard = ((scores - mean) / spread)[:, None]
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(
        np.concatenate([standard, standard]),
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    return lambda values: model.predict_proba(((values - mean) / spread)[:, None])[:, 1]


def _isotonic(scores: np.ndarray, labels: np.ndarray) -> Calibration:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    distinct, places = np.unique(scores, return_inverse=True)
    # By places: of scores nearer than 1e-15 it makes one, whatever their scale.
    model.fit(places, labels.astype(np.float64))
    order = np.arange(len(distinct), dtype=np.float64)
    return lambda values: np.asarray(model.predict(np.interp(values, distinct, order)))


def reliability_bins(
    probabilities: np.ndarray, labels: np.ndarray, bins: int = BINS, level: float = 0.95
) -> pd.DataFrame:
    """Compare predicted probabilities with the share of true triples, in bins of equal counts.

    Equal probabilities stay in one bin, so that there may be fewer bins.

    :param probabilities: in [0, 1], ``(n,)``, n ≥ 1
    :param labels: bool, ``(n,)``
    :param bins: at most so many
    :param level: of Wilson's intervals, in (0, 1)
    :return: one row per bin, ascending: ``count`` (int64), ``predicted`` (mean probability),
        ``observed`` (share of true triples), ``low``, ``high`` (of that share), float64 in [0, 1]
    """
    code = quantile_bins(probabilities, bins)
    table = pd.DataFrame({"bin": code, "predicted": probabilities, "observed": labels})
    grouped = table.groupby("bin", sort=True)
    rows = grouped.agg(
        count=("observed", "size"),
        predicted=("predicted", "mean"),
        observed=("observed", "mean"),
        true=("observed", "sum"),
    ).reset_index(drop=True)
    rows["low"], rows["high"] = wilson(rows["true"], rows["count"], level)
    return rows.drop(columns="true")


def calibration_error(bins: pd.DataFrame) -> float:
    """Return the expected calibration error: mean |predicted − observed|, by the bins' counts.

    Noise adds to it, whatever its sign; no interval allows for that here, as in
    numbers.md#23-probabilities one does.

    :param bins: of `reliability_bins`
    """
    distance = (bins["predicted"] - bins["observed"]).abs()
    return float(np.average(distance, weights=bins["count"]))


def brier_score(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean squared distance of probabilities from 1 (true) and 0 (false), in [0, 1]."""
    from sklearn.metrics import brier_score_loss

    return float(brier_score_loss(labels, probabilities))


def quantile_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Number the quantile that each value is in, from 0; equal values share theirs.

    :param values: float, ``(n,)``, n ≥ 1
    :param bins: at most so many
    :return: int64, ``(n,)``; every number up to the greatest is in use
    """
    edges = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return np.unique(np.searchsorted(edges, values, side="left"), return_inverse=True)[1]
