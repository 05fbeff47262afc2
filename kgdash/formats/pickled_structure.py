"""What of a model has a part in scoring besides its weights, and whether two models agree in it."""

import io
import pickle
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from pykeen.models import Model

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import CURE, Call, Global, brief, parse
from kgdash.formats.pickled_modules import (
    MAX_LETTERS,
    MAX_NODES,
    is_module,
    mapping,
    own_tensors,
    walk_modules,
)
from kgdash.scoring.build_model import is_train_only

#: of a module's state, what is described for itself
_PARTS = ("_modules", "_parameters", "_buffers")

#: attributes of modules that have no part in scoring: bookkeeping of torch, and PyKEEN's caches
_IGNORED = frozenset(
    {
        "training",
        "_is_full_backward_hook",
        "_non_persistent_buffers_set",
        "_random_seed",
        "enriched_embeddings",
        "enriched_representations",
    }
)
_IGNORED_ENDINGS = ("initializer", "initializer_kwargs", "constrainer")


def describe_model(model: Model) -> dict[str, str]:
    """Describe a real model as :func:`describe` describes a file: by reading its own pickle."""
    buffer = io.BytesIO()
    _TensorlessPickler(buffer, protocol=5).dump(model)
    where = f"the rebuilt {type(model).__name__}"
    root = parse(buffer.getvalue(), lambda pid: Global("tensor"), where)
    return describe(list(walk_modules(root, where)), where)


class _TensorlessPickler(pickle.Pickler):
    """Pickles everything but tensors, for which it writes a persistent id."""

    def persistent_id(self, obj: object) -> str | None:
        """Return the id that stands for a tensor."""
        return "tensor" if isinstance(obj, torch.Tensor) else None


def describe(modules: list[tuple[str, Call]], where: str) -> dict[str, str]:
    """Describe everything that has a part in scoring except the weights: path → value."""
    out = _Description(where)
    for prefix, module in modules:
        if module.name.startswith("torch.nn.modules.dropout."):
            continue
        children = mapping(module.state["_modules"]) or {}
        is_called_in_order = module.name.startswith("torch.nn.modules.container.")
        order = f" of {', '.join(map(str, children))}" if is_called_in_order else ""
        out.said[prefix.rstrip(".")] = f"{module.name}{order}"
        for name, value in own_tensors(module):
            out.said[f"{prefix}{name}"] = "None" if value is None else "tensor"
        others = ((name, value) for name, value in children.items() if not is_module(value))
        for name, value in chain(others, module.state.items()):
            path = f"{prefix}{name}"
            out.count(path)
            if name not in _PARTS and not _is_ignored(str(name), value, path):
                _flatten(value, path, out)
    return out.said


class _Description:
    """What is said of a model by path, of no more than `MAX_NODES` values wherever they stand."""

    def __init__(self, where: str) -> None:
        self.said: dict[str, str] = {}
        self._where, self._nodes, self._letters = where, MAX_NODES, MAX_LETTERS

    def count(self, path: str) -> None:
        """Count a value, whether it is said or not: two may have one path."""
        self._nodes -= 1
        self._letters -= len(path)
        if min(self._nodes, self._letters) < 0:
            raise KgdashError(f"{self._where}: more attributes than any model has; {CURE}")


def _is_ignored(name: str, value: object, path: str) -> bool:
    """Tell whether an attribute has no part in scoring."""
    if "hooks" in name:
        return mapping(value) == {}
    dropout = "drop" in name and (value is None or isinstance(value, int | float))
    return (
        dropout or name in _IGNORED or name.endswith(_IGNORED_ENDINGS) or is_train_only(f"{path}.*")
    )


def _flatten(value: object, path: str, out: _Description) -> None:
    """Describe one value, whatever is nested in it."""
    out.count(path)
    inner: dict[Any, Any] = {}
    if isinstance(value, Call) and not value.name.startswith("torch._utils._rebuild_"):
        inner = {"args": value.args, "kwargs": value.kwargs, "state": value.state} | value.items
    elif isinstance(value, dict):
        inner = value
    elif isinstance(value, list | tuple):
        inner = dict(enumerate(value))
    said = brief(value)
    out.said[path] = "tensor" if said.startswith("torch._utils._rebuild_") else said
    for key, item in inner.items():
        _flatten(item, f"{path}.{key}", out)


def check_same(file: dict[str, str], rebuilt: dict[str, str], name: str, path: Path) -> None:
    """Refuse a model that would be rebuilt differently."""
    different: list[str] = []
    for key in sorted(
        key for key in file.keys() | rebuilt.keys() if file.get(key) != rebuilt.get(key)
    ):
        if not different or not key.startswith(f"{different[-1]}."):
            different.append(key)
    if different:
        shown = [
            f"{k or 'class'}: file {file.get(k, 'nothing')}, rebuilt {rebuilt.get(k, 'nothing')}"
            for k in different[:3]
        ]
        raise KgdashError(
            f"{path}: this {name} cannot be rebuilt exactly: {'; '.join(shown)}"
            f"{'; …' if len(different) > 3 else ''}. It was trained with a setting that a "
            "configuration here cannot express, or with another version of PyKEEN or torch"
        )
