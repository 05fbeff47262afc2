"""A look into a run that costs nothing: what ``run.json`` records, no model."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgdash.files.folder_memory import FolderMemory
from kgdash.files.regular import open_regular
from kgdash.files.text import parse_plain_json
from kgdash.formats.pykeen_results import RESULTS_FILE, recorded_evaluation
from kgdash.formats.run_record import is_number

_MANIFEST = "run.json"

#: of a file that is looked into
_MOST_BYTES = 64 * 2**20

#: characters of a name that are kept, and listed on each page
_LONGEST = 256


def describe_run(name: str, folder: Path) -> dict[str, Any]:
    """Describe a run in our safe form without loading its model.

    :param folder: what it does not say, or says wrongly, is None
    :return: ``name``, ``model``, ``graph``, ``dimension``, ``seed``, ``mrr`` and ``hits_at_10``
        (realistic, both sides, filtered, test), as recorded when it was trained, ``evaluated_by``
        ("kgdash", or "PyKEEN" where they are from its results.json, which does not say whether of
        test or validation), ``created`` (when it was written: ISO 8601, UTC)
    """
    return {"name": name, **_descriptions.get(folder)}


def recorded_mrr(training: Mapping[str, Any]) -> float | None:
    """Return the MRR on test that kgdash recorded after a training, or None."""
    value = (training.get("evaluation") or {}).get("inverse_harmonic_mean_rank")
    return value if isinstance(value, float) else None


def _describe(folder: Path) -> dict[str, Any]:
    """Describe what two files say."""
    manifest = _content(folder / _MANIFEST)
    model, training = _object(manifest, "model"), _object(manifest, "training")
    by, evaluation = "kgdash", _object(training, "evaluation")
    if not evaluation:
        by, evaluation = "PyKEEN", _object(training, "pykeen_evaluation")
    if not manifest:
        evaluation = recorded_evaluation(_content(folder / RESULTS_FILE))
    mrr = _number(evaluation.get("inverse_harmonic_mean_rank"))
    return {
        "model": _text(model.get("name")),
        "graph": _text(manifest.get("graph")) or _text(training.get("dataset")),
        "dimension": _number(_object(model, "kwargs").get("embedding_dim")),
        "seed": _number(training.get("random_seed")),
        "mrr": mrr,
        "hits_at_10": _number(evaluation.get("hits_at_10")),
        "evaluated_by": None if mrr is None else by,
        "created": _moment(manifest.get("created")),
    }


def _content(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path, _MOST_BYTES) as stream:
            value = parse_plain_json(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _object(value: dict[str, Any], key: str) -> dict[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _text(value: object) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) and value else None


def _number(value: object) -> int | float | None:
    return value if is_number(value) else None


def _moment(value: object) -> str | None:
    try:
        moment = datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="seconds")


_descriptions = FolderMemory((_MANIFEST, RESULTS_FILE), _describe)
