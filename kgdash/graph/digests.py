"""Digests of graphs, by which tables, labels and groupings are kept."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kgdash.graph.arrow_texts import text_blocks


def graph_digest(
    entities: Sequence[str], relations: Sequence[str], splits: Iterable[np.ndarray]
) -> str:
    """Return a SHA-256 over names and triples: only equal graphs have equal digests.

    :param splits: ids, ``(n, 3)`` each, in the order of `kgdash.graph.SPLITS`
    """
    sha, plain = hashlib.sha256(), True
    for names in (entities, relations):
        plain &= len(names) > 0
        for number, some in enumerate(text_blocks(names)):
            text = "\0".join(some)
            plain &= text.count("\0") == len(some) - 1 and "\1" not in text
            sha.update(("\0" * bool(number) + text).encode())
        sha.update(b"\1")
    if not plain:  # names that hold what stands between names; no text begins with this byte
        texts = json.dumps([list(entities), list(relations)])
        sha = hashlib.sha256(b"\xff" + texts.encode())
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


def names_digest(name: str, *lists: Sequence[str]) -> str:
    """Return `texts_digest` of a name and lists of texts, of which some are held at a time."""
    sha = hashlib.sha256(f"[{json.dumps(name)}".encode())
    for texts in lists:
        sha.update(b", [")
        for number, some in enumerate(text_blocks(texts)):
            sha.update((", " * bool(number) + json.dumps([*some])[1:-1]).encode())
        sha.update(b"]")
    sha.update(b"]")
    return sha.hexdigest()


def texts_digest(texts: Any) -> str:
    """Return a SHA-256 over texts, in lists and dictionaries as JSON has them."""
    return hashlib.sha256(json.dumps(texts, default=str).encode()).hexdigest()
