"""What a value holds in memory: bytes, and runs and graphs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from itertools import islice
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType

import numpy as np
import pyarrow as pa
import torch

from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run

#: what leads to all else
_NOT_INTO = (type, ModuleType, FunctionType, BuiltinFunctionType, FrameType, ReferenceType)

#: what has its bytes beside it, where Python's collector does not see them
_ARROW = (pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)

#: what takes what Python says
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset)

#: objects that are looked at: texts in lists count as one
_MOST = 10**6


def held_bytes(value: Any) -> int:
    """Return about the bytes of the arrays, tensors and texts that a value holds.

    What lies in mapped files is not counted but for weights and Arrow's arrays.
    """
    total, storages = 0, dict[int, int]()
    for each in _held(value):
        if isinstance(each, torch.Tensor):
            storages[each.untyped_storage().data_ptr()] = each.untyped_storage().nbytes()
        elif isinstance(each, np.ndarray):
            total += each.nbytes if each.base is None else 0
        elif isinstance(each, _ARROW):
            total += each.nbytes
        elif isinstance(each, _SIZED):
            total += sys.getsizeof(each)
            if _are_texts(each):
                total += sum(map(sys.getsizeof, each))
    return total + sum(storages.values())


def graphs_in(value: Any) -> set[int]:
    """Return the `id` of each graph that a value holds, those of runs, too."""
    graphs: set[int] = set()
    for each in _held(value, into_runs=False):
        if isinstance(each, Run | KnowledgeGraph):
            graphs.add(id(each.graph if isinstance(each, Run) else each))
    return graphs


def _held(value: Any, into_runs: bool = True) -> Iterator[Any]:
    """Yield each object that a value holds once."""
    seen, left = set[int](), [value]

    def objects() -> Iterator[Any]:
        while left:
            each = left.pop()
            if id(each) in seen or isinstance(each, _NOT_INTO):
                continue
            seen.add(id(each))
            yield each
            if _are_texts(each) or (not into_runs and isinstance(each, Run | KnowledgeGraph)):
                continue
            # A collector sees nothing that arrays and tensors refer to but what they are views of.
            left.extend([each.base] if isinstance(each, np.ndarray) else gc.get_referents(each))

    return islice(objects(), _MOST)


def _are_texts(value: Any) -> bool:
    """Tell whether a value is a list of texts; of long ones the first says so."""
    return isinstance(value, tuple | list) and bool(value) and isinstance(value[0], str)
