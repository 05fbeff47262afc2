"""Bootstrap of how well measures tell true from false: all measures on the same resamples."""

from collections.abc import Mapping

import numpy as np

from kgdash.engine.resampling_kernels import resample_separation
from kgdash.statistics.bootstrap import Bootstrap

#: metrics of a resample, in the order of the kernel
METRICS = ("roc_auc", "average_precision", "mean_true", "mean_false")

Resampled = dict[str, dict[str, np.ndarray]]


def resampled(
    values: Mapping[str, np.ndarray], labels: np.ndarray, units: np.ndarray, bootstrap: Bootstrap
) -> Resampled:
    """Draw units with replacement, as many as there are, and compute the metrics of each draw.

    Instances of one unit are drawn together, since they depend on one another: a query's true
    answer and its false one. A measure's metrics do not depend on the others asked for.

    :param values: measure -> float64, ``(n,)``, without NaN
    :param labels: bool, ``(n,)``
    :param units: int64, ``(n,)``: any numbers
    :return: measure -> metric of `METRICS` -> float64, ``(resamples,)``; NaN where a draw lacks the
        labels for it, and all NaN where there are not two units
    """
    units = np.unique(units, return_inverse=True)[1]
    count = int(units.max(initial=-1)) + 1
    out = np.full((bootstrap.resamples, len(values), len(METRICS)), np.nan)
    if count > 1:
        rows = np.stack([np.asarray(v, dtype=np.float64) for v in values.values()])
        order = np.argsort(rows, axis=1, kind="stable")
        start = np.random.SeedSequence(bootstrap.seed).generate_state(1, np.uint64)[0]
        resample_separation(
            np.take_along_axis(rows, order, axis=1),
            np.asarray(labels, dtype=np.int32)[order],
            units.astype(np.int32)[order],
            start,
            np.zeros(count, dtype=np.int32),
            out,
        )
    return {
        measure: {metric: out[:, m, f] for f, metric in enumerate(METRICS)}
        for m, measure in enumerate(values)
    }
