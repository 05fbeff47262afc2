"""Read the ``trained_model.pkl`` of a PyKEEN directory without unpickling it.

The file becomes a tree of inert records. From it come the weights and, by reading what the modules
say about themselves, the configuration. Then a model is built from that configuration and its own
description compared with the file's: what is imported scores exactly as the original, or is
refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import CURE, Call, brief
from kgdash.formats.pickled_modules import is_module, mapping, own_tensors, walk_modules
from kgdash.formats.pickled_structure import CACHES, check_same, describe, describe_model
from kgdash.formats.torch_archive import damage_refused, read_inert, rebuild_tensor
from kgdash.scoring.build_model import is_train_only, skeleton
from kgdash.scoring.model_spec import ModelSpec, Scalar, constructor_arguments, model_class

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

#: bytes that weights may share with others, whatever they are
_SHARED = 2**24

_ABSENT = object()


@dataclass(frozen=True)
class PickledModel:
    """What a pickled model holds.

    ``state`` maps names to CPU tensors (views of the file's storages), train-only ones left out;
    ``num_relations`` does not count inverse relations; ``kept``: vectors that PyKEEN made of the
    weights, and scores by, by the names of their module and attribute, see `kept_vectors`.
    """

    spec: ModelSpec
    state: Mapping[str, torch.Tensor]
    num_entities: int
    num_relations: int
    kept: Mapping[tuple[str, str], tuple[torch.Tensor, ...]]


def read_pickled_model(path: Path) -> PickledModel:
    """Read a model that PyKEEN pickled.

    :param path: ``trained_model.pkl``
    :return: configuration, weights and counts; give them to :func:`build_model`
    :raises KgdashError: if the file is damaged, names code that no model needs, is no PyKEEN model
        or holds one that cannot be rebuilt exactly
    """
    path = Path(path)
    with damage_refused(path):
        root, storages = read_inert(path)
        _check_root(root, path)
        modules = list(walk_modules(root, str(path)))
        state = {
            f"{prefix}{name}": rebuild_tensor(record, storages, f"{prefix}{name}", str(path))
            for prefix, module in modules
            for name, record in own_tensors(module)
            if record is not None and not is_train_only(f"{prefix}{name}")
        }
        _check_own(state, path)
        entities, relations, inverse = _counts(root, state, path)
        spec = ModelSpec(root.name.rpartition(".")[2], _deduce(root, modules, str(path)), inverse)
        # One triple that says nothing: edges are weights here and come from the file.
        triples = np.zeros((1, 3), dtype=np.int64)
        rebuilt = skeleton(spec, triples, entities, relations, str(path))
        check_same(describe(modules, str(path)), describe_model(rebuilt), spec.name, path)
        kept = {
            (prefix.rstrip("."), name): tuple(
                rebuild_tensor(each, storages, f"{prefix}{name}", str(path))
                for each in several(module.state[name])
            )
            for prefix, module in modules
            for name in sorted(CACHES & module.state.keys())
            if module.state[name] is not None
        }
    return PickledModel(spec, state, entities, relations, kept)


def _check_root(root: object, path: Path) -> None:
    """Refuse a file that holds something else than a model."""
    if isinstance(root, Call) and root.name.startswith("pykeen.models.") and is_module(root):
        return
    found = brief(root)
    if isinstance(root, dict) or found == "collections.OrderedDict":
        found = "a dictionary (bare weights or a checkpoint), which lacks the configuration"
    raise KgdashError(f"{path}: expected a PyKEEN model, found {found}; {CURE}")


def _check_own(state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Refuse weights of which most are the same numbers: built, a small file would be gigabytes."""
    named = sum(tensor.nbytes for tensor in state.values())
    storages = [tensor.untyped_storage() for tensor in state.values()]
    held = sum({each.data_ptr(): each.nbytes() for each in storages}.values())
    if named > 2 * held + _SHARED:
        raise KgdashError(
            f"{path}: its weights are {named:,} bytes, of which the file has {held:,}: the rest "
            "are the same numbers again; save a model whose parts are each its own"
        )


def several(value: Any) -> tuple[Any, ...]:
    """Return what PyKEEN kept under a name as a tuple, be it one or several."""
    return value if isinstance(value, tuple) else (value,)


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
        if isinstance(record, Call) and mapping(record) is None:
            children = mapping(record.state["_modules"]) if is_module(record) else None
            record = children if children and step in children else record.state
        record = (mapping(record) or {}).get(step, _ABSENT)
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
        return len(mapping(found.state["_modules"]) or ()) if is_module(found) else _ABSENT
    # CP's entities are matrices of rank rows.
    special = {("CP", "embedding_dim"): ("entity_representations.0.shape.1",)}
    for path in special.get((name, argument), _VALUES.get(argument, _CLASSES.get(argument, ()))):
        found = _find(root, path)
        if found is not _ABSENT:
            by_class = argument in _CLASSES and isinstance(found, Call)
            return found.name.rpartition(".")[2] if by_class else found
    return _ABSENT
