"""Read the ``trained_model.pkl`` of a PyKEEN directory without unpickling it.

The file becomes a tree of inert records. From it come the weights and, by reading what the modules
say about themselves, the configuration. Then a model is built from that configuration and its own
description compared with the file's: what is imported scores exactly as the original, or is
refused.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen.models import Model

from kgdash.errors import KgdashError
from kgdash.inert_pickle import CURE, Call, Global, brief, parse
from kgdash.model_spec import ModelSpec, Scalar, constructor_arguments, model_class
from kgdash.models import is_train_only, skeleton
from kgdash.torch_archive import damage_refused, read_inert, rebuild_tensor

MAX_NODES = 50_000

#: argument -> where the modules keep it; the first place that exists counts
_VALUES: dict[str, tuple[str, ...]] = {
    "embedding_dim": ("entity_representations.0.shape.0",),
    "relation_dim": ("relation_representations.0.shape.0",),
    "rank": ("entity_representations.0.shape.0",),
    "num_slices": ("relation_representations.0.shape.0",),
    "num_tokens": ("entity_representations.0.base.0.shape.0",),
    "num_filters": ("interaction.num_filters",),
    "hidden_dim": ("interaction.hidden.out_features", "interaction.mlp.1.out_features"),
    # Not input_channels: PyKEEN's ConvE refuses all three and derives the missing one.
    "output_channels": ("interaction.shape_info.output_channels",),
    "embedding_height": ("interaction.shape_info.image_height",),
    "embedding_width": ("interaction.shape_info.image_width",),
    "kernel_height": ("interaction.shape_info.kernel_height",),
    "kernel_width": ("interaction.shape_info.kernel_width",),
    "scoring_fct_norm": ("interaction.p",),
    "p": ("interaction.p",),
    "power_norm": ("interaction.power_norm",),
    "tanh_map": ("interaction.tanh_map",),
    "clamp_score": ("interaction.clamp_score.1", "interaction.clamp_score"),
    "predict_with_sigmoid": ("predict_with_sigmoid",),
}
#: argument -> the module whose class it names
_CLASSES: dict[str, tuple[str, ...]] = {
    "activation": ("entity_representations.0.layers.0.activation", "interaction.activation"),
    "non_linearity": ("interaction.activation",),
    "inner_non_linearity": ("interaction.inner_activation",),
    "combination_activation": ("interaction.activation",),
    "dist_similarity": ("interaction.similarity",),
    "interaction": ("interaction",),
    "edge_weighting": ("entity_representations.0.edge_weighting",),
    "decomposition": ("entity_representations.0.layers.0.fwd",),
}
#: argument -> the list of modules whose length it is
_LENGTHS = {
    "num_components": "entity_representations",
    "num_layers": "entity_representations.0.layers",
}

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
_ABSENT = object()


@dataclass(frozen=True)
class PickledModel:
    """What a pickled model holds.

    ``state`` maps names to CPU tensors (views of the file's storages), train-only ones left out;
    ``num_relations`` does not count inverse relations.
    """

    spec: ModelSpec
    state: Mapping[str, torch.Tensor]
    num_entities: int
    num_relations: int


def read_pickled_model(path: Path) -> PickledModel:
    """Read a model that PyKEEN pickled.

    :param path: ``trained_model.pkl``
    :return: configuration, weights and counts; give them to :func:`kgdash.models.build_model`
    :raises KgdashError: if the file is damaged, names code that no model needs, is no PyKEEN model
        or holds one that cannot be rebuilt exactly
    """
    path = Path(path)
    with damage_refused(path):
        root, storages = read_inert(path)
        _check_root(root, path)
        modules = list(_modules(root, str(path)))
        state = {
            f"{prefix}{name}": rebuild_tensor(record, storages, f"{prefix}{name}", str(path))
            for prefix, module in modules
            for name, record in _own_tensors(module)
            if record is not None and not is_train_only(f"{prefix}{name}")
        }
        entities, relations, inverse = _counts(root, state, path)
        spec = ModelSpec(root.name.rpartition(".")[2], _deduce(root, modules, str(path)), inverse)
        # One triple that says nothing: edges are weights here and come from the file.
        triples = np.zeros((1, 3), dtype=np.int64)
        rebuilt = skeleton(spec, triples, entities, relations, str(path))
        _check_same(_describe(modules, str(path)), _describe_model(rebuilt), spec.name, path)
    return PickledModel(spec, state, entities, relations)


def _check_root(root: object, path: Path) -> None:
    """Refuse a file that holds something else than a model."""
    if isinstance(root, Call) and root.name.startswith("pykeen.models.") and _is_module(root):
        return
    found = brief(root)
    if isinstance(root, dict) or found == "collections.OrderedDict":
        found = "a dictionary (bare weights or a checkpoint), which lacks the configuration"
    raise KgdashError(f"{path}: expected a PyKEEN model, found {found}; {CURE}")


def _is_module(record: object) -> bool:
    """Tell whether a record is that of a torch module."""
    parts = ("_modules", "_parameters", "_buffers")
    return (
        isinstance(record, Call)
        and isinstance(record.state, dict)
        and all(_mapping(record.state.get(part)) is not None for part in parts)
    )


def _mapping(record: object) -> dict[str | int, Any] | None:
    """Return the items of a plain or ordered dictionary."""
    if isinstance(record, Call) and record.name == "collections.OrderedDict":
        return record.items
    return record if isinstance(record, dict) else None


def _modules(root: Call, where: str) -> Iterator[tuple[str, Call]]:
    """Go through a model's modules as (path, record), without those that serve training only."""
    pending, seen = [("", root)], 0
    while pending:
        prefix, module = pending.pop()
        seen += 1
        if seen > MAX_NODES:
            raise KgdashError(f"{where}: more modules than any model has; {CURE}")
        yield prefix, module
        for name, child in _mapping(module.state["_modules"]).items():  # type: ignore[union-attr]
            child_path = f"{prefix}{name}."
            if _is_module(child) and not is_train_only(f"{child_path}*"):
                pending.append((child_path, child))


def _own_tensors(module: Call) -> Iterator[tuple[str | int, object]]:
    """Go through the parameters and buffers of one module, absent ones (None) included."""
    for part in ("_parameters", "_buffers"):
        yield from (_mapping(module.state[part]) or {}).items()


def _counts(root: Call, state: Mapping[str, torch.Tensor], path: Path) -> tuple[int, int, bool]:
    """Return |E|, |R| without inverse relations, and whether there are inverse relations."""
    names = ("num_entities", "num_relations", "use_inverse_triples")
    entities, relations, inverse = (root.state.get(name) for name in names)
    limit = max(1_000_000, sum(tensor.numel() for tensor in state.values()))
    whole = all(type(n) is int and 1 <= n <= limit for n in (entities, relations))
    if not whole or type(inverse) is not bool or (inverse and relations % 2):
        found = ", ".join(f"{n}={brief(root.state.get(n))}" for n in names)
        raise KgdashError(f"{path}: these counts cannot be: {found}")
    return entities, relations // 2 if inverse else relations, inverse


def _find(record: object, path: str) -> Any:
    """Follow a dotted path through modules, states, lists and dictionaries."""
    for step in path.split("."):
        if isinstance(record, list | tuple):
            record = record[int(step)] if step.isdigit() and int(step) < len(record) else _ABSENT
            continue
        if isinstance(record, Call) and _mapping(record) is None:
            children = _mapping(record.state["_modules"]) if _is_module(record) else None
            record = children if children and step in children else record.state
        record = (_mapping(record) or {}).get(step, _ABSENT)
    return record


def _deduce(root: Call, modules: list[tuple[str, Call]], where: str) -> dict[str, Scalar]:
    """Read the constructor's arguments off the modules; those not found keep their default."""
    name = root.name.rpartition(".")[2]
    kwargs: dict[str, Scalar] = {}
    for argument in sorted(constructor_arguments(model_class(name, where))):
        value = _deduce_one(name, argument, root, modules)
        if isinstance(value, Scalar):
            kwargs[argument] = value
    return kwargs


def _deduce_one(name: str, argument: str, root: Call, modules: list[tuple[str, Call]]) -> Any:
    """Read one constructor argument off the modules."""
    if argument == "apply_batch_normalization":
        return any(p.startswith("interaction.") and ".BatchNorm" in m.name for p, m in modules)
    if argument == "use_bias":
        bias = _find(root, "entity_representations.0.layers.0.self_loop._parameters.bias")
        return bias is not None
    if argument in _LENGTHS:
        found = _find(root, _LENGTHS[argument])
        return len(_mapping(found.state["_modules"]) or ()) if _is_module(found) else _ABSENT
    # CP's entities are matrices of rank rows.
    special = {("CP", "embedding_dim"): ("entity_representations.0.shape.1",)}
    for path in special.get((name, argument), _VALUES.get(argument, _CLASSES.get(argument, ()))):
        found = _find(root, path)
        if found is not _ABSENT:
            by_class = argument in _CLASSES and isinstance(found, Call)
            return found.name.rpartition(".")[2] if by_class else found
    return _ABSENT


def _describe_model(model: Model) -> dict[str, str]:
    """Describe a real model as :func:`_describe` describes a file: by reading its own pickle."""
    buffer = io.BytesIO()
    _TensorlessPickler(buffer, protocol=5).dump(model)
    where = f"the rebuilt {type(model).__name__}"
    root = parse(buffer.getvalue(), lambda pid: Global("tensor"), where)
    return _describe(list(_modules(root, where)), where)


class _TensorlessPickler(pickle.Pickler):
    """Pickles everything but tensors, for which it writes a persistent id."""

    def persistent_id(self, obj: object) -> str | None:
        """Return the id that stands for a tensor."""
        return "tensor" if isinstance(obj, torch.Tensor) else None


def _describe(modules: list[tuple[str, Call]], where: str) -> dict[str, str]:
    """Describe everything that has a part in scoring except the weights: path → value."""
    out: dict[str, str] = {}
    for prefix, module in modules:
        if module.name.startswith("torch.nn.modules.dropout."):
            continue
        out[prefix.rstrip(".")] = module.name
        attributes = {k: v for k, v in module.state.items() if k not in ("_parameters", "_buffers")}
        children = _mapping(attributes.pop("_modules")) or {}
        for name, value in _own_tensors(module):
            out[f"{prefix}{name}"] = "None" if value is None else "tensor"
        others = {k: v for k, v in children.items() if not _is_module(v)}
        for name, value in {**others, **attributes}.items():
            if not _is_ignored(str(name), value, f"{prefix}{name}"):
                _flatten(value, f"{prefix}{name}", out, where)
    return out


def _is_ignored(name: str, value: object, path: str) -> bool:
    """Tell whether an attribute has no part in scoring."""
    if "hooks" in name:
        return _mapping(value) == {}
    dropout = "drop" in name and (value is None or isinstance(value, int | float))
    return (
        dropout or name in _IGNORED or name.endswith(_IGNORED_ENDINGS) or is_train_only(f"{path}.*")
    )


def _flatten(value: object, path: str, out: dict[str, str], where: str) -> None:
    """Describe one value, whatever is nested in it."""
    if len(out) > MAX_NODES:
        raise KgdashError(f"{where}: more attributes than any model has; {CURE}")
    inner: dict[Any, Any] = {}
    if isinstance(value, Call) and not value.name.startswith("torch._utils._rebuild_"):
        inner = {"args": value.args, "kwargs": value.kwargs, "state": value.state} | value.items
    elif isinstance(value, dict):
        inner = value
    elif isinstance(value, list | tuple):
        inner = dict(enumerate(value))
    out[path] = "tensor" if brief(value).startswith("torch._utils._rebuild_") else brief(value)
    for key, item in inner.items():
        _flatten(item, f"{path}.{key}", out, where)


def _check_same(file: dict[str, str], rebuilt: dict[str, str], name: str, path: Path) -> None:
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
