"""The metric guide: what each metric is, with the values of a run."""

from collections.abc import Mapping

import pandas as pd

from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import metric_records

#: plain metrics that `plain_and_adjusted` shows, in its order
_ADJUSTED = (
    "arithmetic_mean_rank",
    "inverse_harmonic_mean_rank",
    "hits_at_10",
    "geometric_mean_rank",
)

_WORDS = {True: "higher is better", False: "lower is better"}


def guide_table(values: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Describe every metric.

    :param values: of `metrics`, one side and rank type; none for the guide alone
    :return: one row per metric, plain ones first: ``key``, ``metric`` (label), ``value`` (float64,
        if values are given), ``direction``, ``range``, ``depends on |E|`` ("yes" or "no"),
        ``formula``, ``use`` (when to use it), ``source`` (paper; empty where there is none)
    """
    guide = metric_records()
    order = sorted(guide, key=lambda key: not guide[key].depends_on_num_entities)
    table = pd.DataFrame([_row(guide[key]) for key in order])
    if values is not None:
        table.insert(2, "value", [values[key] for key in order])
    return table


def uses_table() -> pd.DataFrame:
    """Say when to use which metric.

    :return: one row per advice, plain metrics first: ``metric`` (labels of all that it holds for),
        ``when to use it``
    """
    table = guide_table()
    labels = table.groupby("use", sort=False)["metric"].agg(", ".join)
    return pd.DataFrame({"metric": labels.to_numpy(), "when to use it": labels.index})


def plain_and_adjusted(values: Mapping[str, float]) -> pd.DataFrame:
    """Lay plain metrics beside what adjusts them for chance.

    :param values: as for `guide_table`
    :return: one row per plain metric: ``metric`` (label), ``plain``, ``index`` (0: guessing, 1:
        perfect), ``z_score`` (float64)
    """
    guide = metric_records()
    rows = []
    for key in _ADJUSTED:
        *_, index, z_score = guide[key].adjusted_by
        rows.append((guide[key].title, values[key], values[index], values[z_score]))
    return pd.DataFrame(rows, columns=["metric", "plain", "index", "z_score"])


def _row(info: Metric) -> dict[str, str]:
    return {
        "key": info.key,
        "metric": info.label,
        "direction": _WORDS[info.increasing] if info.arrow else "",
        "range": info.value_range,
        "depends on |E|": "yes" if info.depends_on_num_entities else "no",
        "formula": info.formula,
        "use": info.use,
        "source": info.source,
    }
