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
    PARTS,
    mapping,
    own_tensors,
    walk_modules,
)
from kgdash.scoring.build_model import is_train_only

#: vectors that PyKEEN keeps once they are made of the weights, and scores by from then on
CACHES = frozenset({"enriched_embeddings", "enriched_representations"})

#: attributes of modules that have no part in scoring: bookkeeping of torch
_IGNORED = frozenset(
    {
        "training",
        "_is_full_backward_hook",
        "_non_persistent_buffers_set",
        "_random_seed",
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
    """Describe everything that has a part in scoring except weights and `CACHES`: path → value."""
    out = _Description(where)
    for prefix, module in modules:
        is_dropout = module.name.startswith("torch.nn.modules.dropout.")
        children = mapping(module.state["_modules"]) or {}
        is_called_in_order = module.name.startswith("torch.nn.modules.container.")
        order = f" of {', '.join(map(str, children))}" if is_called_in_order else ""
        if not is_dropout:
            out.said[prefix.rstrip(".")] = f"{module.name}{order}"
        for name, value in own_tensors(module):
            out.said[f"{prefix}{name}"] = "None" if value is None else "tensor"
        absent = ((name, None) for name, value in children.items() if value is None)
        for name, value in chain(absent, module.state.items()):
            path = f"{prefix}{name}"
            out.count(path)
            of_dropout = is_dropout and name in ("p", "inplace") and isinstance(value, int | float)
            if name not in PARTS and not of_dropout and not _is_ignored(str(name), value, path):
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
    absent = value is None and is_train_only(f"{path}.*")
    return dropout or absent or name in _IGNORED | CACHES or name.endswith(_IGNORED_ENDINGS)


def _flatten(value: object, path: str, out: _Description) -> None:
    """Describe one value, whatever is nested in it."""
    out.count(path)
    inner: dict[Any, Any] = {}
    if isinstance(value, Call) and not value.name.startswith("torch._utils._rebuild_"):
        inner = {"args": value.args, "state": value.state, "items": value.items}
    elif isinstance(value, dict):
        inner = value
    elif isinstance(value, list | tuple):
        inner = dict(enumerate(value))
    elif isinstance(value, set):
        inner = dict.fromkeys(sorted(value))
    said = brief(value)
    out.said[path] = "tensor" if said.startswith("torch._utils._rebuild_") else said
    for key, item in inner.items():
        plain = type(key) is int or key.isidentifier()
        _flatten(item, f"{path}.{key if plain else repr(key)}", out)


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
