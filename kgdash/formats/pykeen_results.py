"""PyKEEN's ``results.json``: losses, and what it found on test."""

from pathlib import Path
from typing import Any, TypeGuard

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.files.text import parse_plain_json
from kgdash.formats.run_record import is_loss, is_number

RESULTS_FILE = "results.json"

#: of test, as PyKEEN calls them, that are kept
_KEPT = ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")

_MAX_RESULTS_BYTES = 256 * 2**20


def training_record(folder: Path) -> dict[str, Any]:
    """Read what PyKEEN recorded of the training.

    :param folder: a PyKEEN directory
    :return: ``losses`` (a list, one per epoch) and ``pykeen_evaluation`` (of
        `recorded_evaluation`), each only if it is there
    :raises KgdashError: if the file is no JSON, or too large
    """
    path = folder / RESULTS_FILE
    if not path.is_file():
        return {}
    try:
        with open_regular(path, _MAX_RESULTS_BYTES) as stream:
            results = parse_plain_json(stream.read())
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KgdashError(
            f"{path} is not readable JSON ({reason}); remove it to load without losses"
        ) from error
    losses = results.get("losses") if isinstance(results, dict) else None
    numbers = isinstance(losses, list) and all(map(is_loss, losses))
    record: dict[str, Any] = {"losses": [float(v) for v in losses]} if numbers and losses else {}
    evaluation = recorded_evaluation(results)
    return record | ({"pykeen_evaluation": evaluation} if evaluation else {})


def recorded_evaluation(results: object) -> dict[str, float]:
    """Return what PyKEEN found on test, of its results: realistic ranks, both sides.

    :param results: content of ``results.json``
    :return: MRR and Hits@1, 3 and 10 by PyKEEN's names, in [0, 1]; {} unless all are there
    """
    for key in ("metrics", "both", "realistic"):
        results = results.get(key) if isinstance(results, dict) else None
    if not isinstance(results, dict):
        return {}
    values = (results.get(key) for key in _KEPT)
    known = [float(v) for v in values if _is_share(v)]
    return dict(zip(_KEPT, known, strict=True)) if len(known) == len(_KEPT) else {}


def _is_share(value: object) -> TypeGuard[float]:
    return is_number(value) and 0 <= value <= 1
