"""What is made of the same values is made once: Plotly checks all that it is given, for long."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from kgdash.graph import KnowledgeGraph
from kgdash.ranking.metric import Metric
from kgdash.ui.runtime.result_cache import memory

T = TypeVar("T")


def drawn(make: Callable[..., T], *values: Any) -> T:
    """Return ``make(*values)``, or what it lately returned for values of the same content.

    It is shared by all sessions, as `kgdash.ui.runtime.result_cache.Memory` has it: not to be
    changed.

    :param make: a function of a module, such as those of `kgdash.charts`
    :param values: all that it depends on; can be pickled
    """
    key = ("drawn", make.__module__, make.__qualname__, digest(values))
    found: T | None = memory().get(key)
    if found is None:
        found = make(*values)
        memory().put(key, found)
    return found


class _Digesting(pickle.Pickler):
    """Digests what values would be written as: equal digests are of equal values."""

    def __init__(self) -> None:
        self.written, self.buffers = hashlib.blake2b(), hashlib.blake2b()
        super().__init__(self, protocol=5, buffer_callback=self._take)

    def write(self, part: bytes) -> None:
        """Digest what `pickle` writes, lengths of buffers among it."""
        self.written.update(part)

    def reducer_override(self, value: Any) -> Any:
        """Write a metric, which holds functions, as its key, and a graph as its digests.

        It is asked of objects alone: `pickle` would ask a ``persistent_id`` of every text.
        """
        if isinstance(value, KnowledgeGraph):
            return KnowledgeGraph, value.identity
        return (Metric, (value.key,)) if isinstance(value, Metric) else NotImplemented

    def _take(self, buffer: pickle.PickleBuffer) -> None:
        content = buffer.raw()
        self.buffers.update(f"{content.nbytes} ".encode())
        self.buffers.update(content)


def digest(values: Any) -> bytes:
    """Return what only values of the same content have in common; they can be pickled."""
    scale = _Digesting()
    scale.dump(values)
    return scale.written.digest() + scale.buffers.digest()
