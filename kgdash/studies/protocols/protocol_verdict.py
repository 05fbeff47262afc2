"""What sampled protocols would have said, in a sentence or two.

Rules: numbers.md#30-sampled-protocols.
"""

from collections.abc import Callable

from kgdash.breakdowns.breakdown import SMALL
from kgdash.ranking.metric_lookup import find_metric
from kgdash.statistics.estimate import number
from kgdash.studies.protocols.orders import ProtocolOrders
from kgdash.studies.protocols.protocols import EXACT

#: differences below this are those of rounding
_SAME = 1e-9


def protocol_verdict(
    found: ProtocolOrders, metric: str, triples: int, written: Callable[[str], str] = str
) -> str:
    """Say which protocols change the order of runs, and which gives a value farthest off.

    :param metric: of the column of that name
    :param triples: that were ranked
    :param written: makes a run's name safe for where the sentence is shown
    """
    label = find_metric(metric).short
    said = [_farthest(found, metric, label, written)]
    if found.values["run"].nunique() > 1:
        said.insert(0, _flips(found, metric, label, written))
    if triples < SMALL:
        said.append(f"There are only {triples} triples: too few to say which run is better.")
    return " ".join(said)


def _flips(found: ProtocolOrders, metric: str, label: str, written: Callable[[str], str]) -> str:
    orders = found.orders[found.orders["metric"] == metric]
    flips = found.flips[found.flips["metric"] == metric]
    changed = orders[orders["flips"] > 0]
    if changed.empty:
        return f"**No protocol changes the order of the runs** by {label}."
    count = f"{len(changed)} of {len(orders)} protocols"
    gap = (flips["sampled_worse"] - flips["sampled_better"]).abs()
    worst = flips.loc[gap.idxmax()]
    seen = f"{number(worst['sampled_worse'])} against {number(worst['sampled_better'])}"
    exact = f"{number(worst['exact_worse'])} against {number(worst['exact_better'])}"
    return (
        f"**{count} would have put runs in another order** by {label}. By *{worst['protocol']}*, "
        f"{written(str(worst['worse']))} would have been ahead of {written(str(worst['better']))}: "
        f"{seen}; among all candidates it is behind, {exact}."
    )


def _farthest(found: ProtocolOrders, metric: str, label: str, written: Callable[[str], str]) -> str:
    values = found.values[found.values["metric"] == metric]
    values = values[values["protocol"] != EXACT.name].reset_index(drop=True)
    off = (values["value"] - values["exact"]).abs()
    if off.max() < _SAME:
        return "All protocols give the exact values."
    worst = values.loc[off.idxmax()]
    return (
        f"Farthest off is *{worst['protocol']}* for {written(str(worst['run']))}: {label} "
        f"**{number(worst['value'])}** in place of **{number(worst['exact'])}**."
    )
