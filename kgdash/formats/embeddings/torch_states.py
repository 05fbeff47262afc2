"""Files of ``torch.save`` that hold a dict of tensors by name, read without unpickling."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.matrices import numbers, single_precision
from kgdash.formats.pickle_records import CURE, Call
from kgdash.formats.pickled_modules import mapping
from kgdash.formats.torch_archive import read_inert, rebuild_tensor

#: tensors of a file; models that are read have less than ten
_MOST_TENSORS = 1_000

#: times that a number of a file may be in tensors that share it
_MOST_SHARED = 2


def read_archive(path: Path, expected: str) -> tuple[Any, dict[str, bytearray]]:
    """Read an archive of ``torch.save`` as records.

    :param expected: what should have been saved, for messages
    """
    try:
        return read_inert(path)
    except KgdashError as error:
        raise KgdashError(str(error).replace(CURE, f"expected {expected}")) from error


def read_state(path: Path) -> dict[str, np.ndarray]:
    """Read what ``torch.save(model.state_dict(), path)`` wrote.

    :return: name → float32 or complex64, of the tensors that hold numbers
    :raises KgdashError: if it holds something else, is damaged, or a number does not fit
    """
    expected = "what torch.save(model.state_dict(), path) writes"
    root, storages = read_archive(path, expected)
    found = mapping(root)
    if found is None:
        raise KgdashError(f"{path}: expected tensors by name, {expected}")
    return tensors(found, storages, str(path))


def tensors(
    found: Mapping[str | int, Any], storages: Mapping[str, bytearray], where: str
) -> dict[str, np.ndarray]:
    """Return the tensors among the items of a record, by name."""
    records = {
        str(name): record
        for name, record in found.items()
        if isinstance(record, Call) and record.name.startswith("torch._utils._rebuild")
    }
    if len(records) > _MOST_TENSORS:
        raise KgdashError(f"{where}: more tensors than any model that is read has")
    views = {name: rebuild_tensor(each, storages, name, where) for name, each in records.items()}
    held = sum(map(len, storages.values()))
    if sum(view.nbytes for view in views.values()) > _MOST_SHARED * held:
        raise KgdashError(f"{where}: tensors share their numbers; save a copy of each (clone)")
    return {
        name: single_precision(numbers(view, f"{where}: {name}"), f"{where}: {name}")
        for name, view in views.items()
    }


def missing_names(state: Mapping[str, object], wanted: tuple[str, ...]) -> list[str]:
    """Return which of some tensors a state lacks."""
    return [name for name in wanted if name not in state]
