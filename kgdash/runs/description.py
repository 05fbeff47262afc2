"""A look into a run that costs nothing: what ``run.json`` records, no model."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: of a manifest that is looked into
_MOST_BYTES = 64 * 2**20


def describe_run(name: str, folder: Path) -> dict[str, Any]:
    """Describe a run in our safe form without loading its model.

    :param folder: what it does not say, or says wrongly, is None
    :return: ``name``, ``model``, ``graph``, ``dimension``, ``seed``, ``mrr`` and ``hits_at_10``
        (realistic, both sides, filtered, test), as recorded when it was trained, ``created``
        (when it was written: ISO 8601, UTC)
    """
    manifest = _manifest(folder / "run.json")
    model, training = _object(manifest, "model"), _object(manifest, "training")
    evaluation = _object(training, "evaluation")
    return {
        "name": name,
        "model": _text(model.get("name")),
        "graph": _text(manifest.get("graph")) or _text(training.get("dataset")),
        "dimension": _number(_object(model, "kwargs").get("embedding_dim")),
        "seed": _number(training.get("random_seed")),
        "mrr": _number(evaluation.get("inverse_harmonic_mean_rank")),
        "hits_at_10": _number(evaluation.get("hits_at_10")),
        "created": _moment(manifest.get("created")),
    }


def _manifest(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _object(value: dict[str, Any], key: str) -> dict[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _moment(value: object) -> str | None:
    try:
        moment = datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="seconds")
