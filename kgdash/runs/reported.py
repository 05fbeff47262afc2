"""What a library reported of its model beside what is found here, and what explains it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pandas as pd

from kgdash.errors import KgdashError, UnknownName
from kgdash.files.regular import open_regular
from kgdash.files.text import parse_plain_json
from kgdash.formats.run_record import is_number
from kgdash.graph import default_filter
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.progress import Progress, silent
from kgdash.ranking.metric_lookup import find_metric
from kgdash.ranking.metrics import metrics
from kgdash.runs.run import Run

#: bytes of a file of metrics, and metrics that are compared
_MOST, _MOST_METRICS = 2**24, 1_000

#: a reported value is met so near, as a share of the larger of the two, if its digits tell more
_MET = 0.002

#: and at most so near, of metrics that end at 1 or 2, where zeros at its end may be lost; of others
#: as a share of it, as two digits tell
_MOST_LOST, _MOST_SHARE = 0.005, 0.05

_SIDES = ("both", "tail", "head")
_FILTERS = {"train+valid+test": "known triples filtered", "none": "nothing filtered"}


@dataclass(frozen=True)
class Check:
    """Reported and own metrics.

    ``table`` has a row per metric: ``metric`` (PyKEEN's key), ``reported``, ``found`` (realistic
    ranks, both sides, known ones filtered), ``nearest`` (this where it meets the report, else of
    all protocols the value of that which is nearest), float64. ``protocol`` names that one,
    ``findings`` say what differs.
    """

    table: pd.DataFrame
    protocol: str
    findings: tuple[str, ...]


def read_reported(given: Sequence[str]) -> dict[str, Decimal | float]:
    """Read metrics as ``mrr=0.31``, or of a JSON file with an object of them.

    :return: PyKEEN's key → value, with all its digits unless it is a number in a file, whose
        zeros at the end are lost; what else a file holds than metrics is left out
    :raises KgdashError: if a metric is unknown, a value no number or no value of the metric, one
        metric has two values, or there are over a thousand
    """
    found: dict[str, Decimal | float] = {}
    for text in given:
        name, equals, value = text.partition("=")
        where = "--reported" if equals else text
        pairs = {name: value} if equals else _metrics_of(Path(text))
        for key, each in pairs.items():
            metric, number = _checked(key, each, where)
            before = found.setdefault(metric, number)
            if float(before) != float(number):
                values = f"{float(number):g}, and {float(before):g} before"
                raise KgdashError(f"{where}: {key}: {values}")
            found[metric] = min(before, number, key=lambda value: _rounding(metric, value))
    if len(found) > _MOST_METRICS:
        raise KgdashError(
            f"{', '.join(given):.200}: {len(found):,} metrics; expected at most {_MOST_METRICS:,}"
        )
    if given and not found:
        raise KgdashError(f"{', '.join(given):.200}: expected metrics such as mrr; found none")
    return found


def _metrics_of(path: Path) -> dict[str, object]:
    """Return what a file says of metrics: a number or a text of one."""
    found = dict[str, object]()
    for name, value in _of_file(path).items():
        if is_number(value) or isinstance(value, str):
            with suppress(UnknownName):
                find_metric(name)
                found[name] = value
    return found


def _of_file(path: Path) -> Mapping[str, object]:
    try:
        with open_regular(path, _MOST) as stream:
            value = parse_plain_json(stream.read())
    except OSError as error:
        raise KgdashError(
            f"can not read {path}: {error.strerror or error}; give a JSON file, or mrr=0.31"
        ) from error
    except (ValueError, RecursionError) as error:
        raise KgdashError(f"{path} is not valid JSON: {error!s:.120}") from error
    if not isinstance(value, dict):
        raise KgdashError(f"{path}: expected an object of metrics; found {type(value).__name__}")
    return value


def _checked(name: str, given: object, where: str) -> tuple[str, Decimal | float]:
    metric = find_metric(name, where)
    try:
        value = float(str(given))
        exact = Decimal(given) if isinstance(given, str) else value
    except (ValueError, InvalidOperation):
        raise KgdashError(f"{where}: {name}: expected a number; found {given!r:.40}") from None
    if value not in metric.values:
        raise KgdashError(
            f"{where}: {name} lies in {metric.values}; found {value:g}. Give shares, as 0.31"
        )
    return metric.key, exact


def check_reported(
    run: Run, reported: Mapping[str, Decimal | float], progress: Progress = silent
) -> Check:
    """Compare reported metrics of test with those found here, under each protocol.

    A protocol is what is filtered, which sides are pooled and how ties count.

    :param reported: PyKEEN's key → value, as `read_reported` gives it
    :raises KgdashError: as `Run.ranks`; if there are no test triples
    """
    protocols = dict(_protocols(run, reported, progress))
    meet = [name for name, values in protocols.items() if _meets(values, reported)]
    ours = default_filter("test"), "both", "realistic"
    nearest = (
        ours
        if ours in meet
        else min(meet or protocols, key=lambda name: _distance(protocols[name], reported))
    )
    table = pd.DataFrame(
        {
            "metric": list(reported),
            "reported": [float(value) for value in reported.values()],
            "found": [protocols[ours][key] for key in reported],
            "nearest": [protocols[nearest][key] for key in reported],
        }
    )
    if ours in meet:
        found = "what was reported is found here too"
    elif meet:
        found = f"what was reported is found by another protocol: {_named(*nearest)}"
        others = dict.fromkeys(_sides(*each[:2]) for each in meet if each[:2] != nearest[:2])
        found += "".join(f"; and by: {each}" for each in others)
    else:
        found = (
            f"no protocol gives what was reported; the nearest is: {_named(*nearest)}. Look at the "
            "interaction, the norm, the layout and the lists of names, and at which split was "
            "reported"
        )
    return Check(table, _named(*nearest), (found, *_left_out(run)))


def _sides(filter: str, side: str) -> str:
    return f"{_FILTERS[filter]}, {'both sides' if side == 'both' else f'{side}s only'}"


def _named(filter: str, side: str, kind: str) -> str:
    return f"{_sides(filter, side)}, {kind} ranks"


def _protocols(
    run: Run, reported: Iterable[str], progress: Progress
) -> Iterator[tuple[tuple[str, str, str], dict[str, float]]]:
    ks = tuple(int(key.rpartition("_")[2]) for key in reported if key.startswith("hits_at_"))
    for filter in _FILTERS:
        table = metrics(run.ranks(split="test", filter=filter, progress=progress), ks or (10,))
        for side in _SIDES:
            for kind in ("realistic", *(k for k in RANK_TYPES if k != "realistic")):
                values = table.values(side, kind)
                yield (filter, side, kind), {key: values[key] for key in reported}


def _distance(values: Mapping[str, float], reported: Mapping[str, Decimal | float]) -> float:
    return max(_apart(values[key], float(value)) for key, value in reported.items())


def _apart(found: float, reported: float) -> float:
    return abs(found - reported) / max(abs(found), abs(reported), 1e-12)


def _meets(values: Mapping[str, float], reported: Mapping[str, Decimal | float]) -> bool:
    """Tell whether values are what was reported, as far as it has digits."""
    return all(
        abs(values[key] - float(value)) <= _rounding(key, value)
        or _apart(values[key], float(value)) <= _MET
        for key, value in reported.items()
    )


def _rounding(key: str, value: Decimal | float) -> float:
    """Return half a unit of a value's last digit: 0.005 of "0.30", and 0.5 of a mean rank "12".

    Whole numbers of a metric that ends at 1 or 2 would be met by nearly all values, so that they
    are taken as they stand.
    """
    written = value if isinstance(value, Decimal) else Decimal(f"{value:.15g}")
    exponent = _last_place(written)
    half = 0.5 * 10.0 ** min(exponent, 300) * (1 + 1e-9)
    if math.isinf(find_metric(key).values.right):
        return min(half, _MOST_SHARE * abs(float(value))) if exponent > 0 else half
    if exponent >= 0:
        return _MET
    return half if isinstance(value, Decimal) else min(half, _MOST_LOST)


def _last_place(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _left_out(run: Run) -> Iterator[str]:
    if count := run.graph.left_out.get("test"):
        yield (
            f"{count:,} test triples of entities or relations unseen in training are not "
            "ranked here; the library may have ranked them, and their entities as candidates"
        )
