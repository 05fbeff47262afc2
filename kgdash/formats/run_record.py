"""What is recorded of a training, checked before anything believes it."""

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from kgdash.errors import KgdashError

_NUMBERS = ("evaluation", "pykeen_evaluation")

#: largest number of which a float64 still holds every whole one below
_MOST = 2**53


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number that is finite, and a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= _MOST


def is_loss(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is the loss of an epoch: a number, NaN and infinities among them."""
    return isinstance(value, float) or is_number(value)


def check_record(training: Mapping[str, Any], where: str) -> None:
    """Refuse a record whose parts are not what pages, reports and commands take them for.

    :param training: as `kgdash.runs.training.train` writes it; parts may be missing
    :param where: file, for messages
    :raises KgdashError: naming the part
    """
    losses = training.get("losses", [])
    if not isinstance(losses, list) or not all(map(is_loss, losses)):
        raise _wrong("losses", "a list of numbers, one per epoch", losses, where)
    for part in _NUMBERS:
        values = training.get(part) or {}
        if not isinstance(values, dict) or not all(map(is_number, values.values())):
            raise _wrong(part, "an object of finite numbers", values, where)
    kwargs = training.get("model_kwargs", {})
    if not isinstance(kwargs, dict):
        raise _wrong("model_kwargs", "an object", kwargs, where)
    for part in ("epochs", "random_seed"):
        number = training.get(part)
        if number is not None and not (isinstance(number, int) and is_number(number)):
            raise _wrong(part, f"a whole number of at most {_MOST:,}", number, where)


def _wrong(part: str, expected: str, found: object, where: str) -> KgdashError:
    return KgdashError(
        f"{where}: training.{part}: expected {expected}; found {found!r:.60}. Copy the run again, "
        f"or remove {part} from the file"
    )
