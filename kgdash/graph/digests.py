"""Digests of graphs, by which tables, labels and groupings are kept."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def graph_digest(
    entities: Sequence[str], relations: Sequence[str], splits: Iterable[np.ndarray]
) -> str:
    """Return a SHA-256 over names and triples: only equal graphs have equal digests.

    :param splits: ids, ``(n, 3)`` each, in the order of `kgdash.graph.SPLITS`
    """
    sha = hashlib.sha256()
    joined = ["\0".join(names) for names in (entities, relations)]
    counts = [text.count("\0") + 1 for text in joined]
    if counts == [len(entities), len(relations)] and "\1" not in "".join(joined):
        for text in joined:
            sha.update(text.encode() + b"\1")
    else:  # names that hold what stands between names; no text begins with this byte
        sha.update(b"\xff" + json.dumps([list(entities), list(relations)]).encode())
    for ids in splits:
        sha.update(np.ascontiguousarray(ids, dtype="<i8").data)
        sha.update(b"\2")
    return sha.hexdigest()


def triples_digest(blocks: Iterable[np.ndarray]) -> str:
    """Return a SHA-256 over triples, ids in blocks of ``(n, 3)``, however they are cut."""
    sha = hashlib.sha256()
    for ids in blocks:
        sha.update(np.ascontiguousarray(ids, dtype="<i8").data)
    return sha.hexdigest()


def texts_digest(texts: Any) -> str:
    """Return a SHA-256 over texts, in lists and dictionaries as JSON has them."""
    return hashlib.sha256(json.dumps(texts, default=str).encode()).hexdigest()
