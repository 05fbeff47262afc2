"""Rebuild a model from its configuration and its weights, or refuse them.

Both may come from a stranger: every tensor is checked against a skeleton that holds no data before
anything is allocated.
"""

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from pykeen.models import Model
from pykeen.nn.message_passing import RGCNRepresentation
from pykeen.triples import CoreTriplesFactory
from pykeen.utils import NoRandomSeedNecessary

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor
from kgdash.scoring.form_parts import within
from kgdash.scoring.model_spec import ModelSpec, OwnWeights, check_arguments
from kgdash.scoring.reckoned_memory import check_made
from kgdash.scoring.without_data import without_data

__all__ = ["ModelSpec", "build_model", "is_train_only", "scoring_state", "skeleton"]

#: numbers that any entities' vectors may be together, and how many times as many as the weights
_MOST_FLOATS, _DENSEST = 2**30, 50

#: both of what a server opens for its visitors: others' pages need memory, too
_MOST_SERVED, _DENSEST_SERVED = 2**27, 4

#: bytes of a tensor from which on it stays where it is, such as mapped from its file
_LARGE = 2**26

#: tensors of edges
_EDGES = ("sources", "targets", "edge_index", "edge_types", "edge_type")


def is_train_only(name: str) -> bool:
    """Tell whether a tensor of this name serves training only and is left out on both sides.

    These are: everything below ``loss``, everything below a module called ``regularizer`` or
    ``weight_regularizers``, and ``dummy``, the parameter that PyKEEN's FixedModel never reads.
    """
    parts = name.split(".")
    return (
        parts[0] == "loss"
        or name == "dummy"
        or any(part in ("regularizer", "weight_regularizers") for part in parts[:-1])
    )


def scoring_state(model: Model) -> dict[str, torch.Tensor]:
    """Return the tensors that a model needs to score, ready for safetensors.

    :return: name → contiguous CPU tensor that shares memory with nothing
    """
    return {
        name: tensor.detach().to("cpu", copy=True).contiguous()
        for name, tensor in model.state_dict().items()
        if not is_train_only(name)
    }


def skeleton(
    spec: ModelSpec, training_triples: np.ndarray, num_entities: int, num_relations: int, where: str
) -> Model:
    """Build a model whose weights have shapes and types but no data (device "meta").

    :param training_triples: int64, shape ``(n, 3)``; some models pass messages along them
    :raises KgdashError: if the configuration is not one that PyKEEN can build
    """
    kind = check_arguments(spec, where)
    with _random_states_kept():
        # Constructors are PyKEEN's and raise whatever they please on a bad combination.
        try:
            factory = CoreTriplesFactory(
                torch.as_tensor(training_triples, dtype=torch.long),
                num_entities=num_entities,
                num_relations=num_relations,
                create_inverse_triples=spec.create_inverse_triples,
            )
            return without_data(
                kind, triples_factory=factory, random_seed=NoRandomSeedNecessary, **spec.kwargs
            )
        except Exception as error:
            arguments = ", ".join(f"{k}={v!r}" for k, v in spec.kwargs.items())
            inverse = "with" if spec.create_inverse_triples else "without"
            raise KgdashError(
                f"{where}: PyKEEN cannot build {spec.name}({arguments}) {inverse} inverse "
                f"relations: {str(error) or type(error).__name__}"
            ) from error


def build_model(
    spec: ModelSpec,
    training_triples: np.ndarray,
    num_entities: int,
    num_relations: int,
    state: Mapping[str, torch.Tensor],
    where: str,
) -> Model:
    """Rebuild a model for scoring.

    :param training_triples: int64, shape ``(n, 3)``
    :param num_relations: |R| of the graph, inverse relations not counted
    :param state: name → tensor, as :func:`scoring_state` gives them; copied, but for large ones
        that are nobody else's
    :param where: named in messages, e.g. the path of the run
    :return: the model in evaluation mode on the CPU, no parameter requiring a gradient
    :raises KgdashError: if configuration, weights and graph do not fit, or weights are not finite
    """
    model = skeleton(spec, training_triples, num_entities, num_relations, where)
    wanted = model.state_dict()
    # In a digest of all weights NUL stands between a tensor's name and what follows.
    if odd := sorted(name for name in state if "\0" in name):
        raise KgdashError(f"{where}: the weights hold a tensor of the name {odd[0]!r:.80}")
    given = {name: tensor for name, tensor in state.items() if not is_train_only(name)}
    _check_names({name for name in wanted if not is_train_only(name)}, set(given), where)
    for name, tensor in given.items():
        _check_tensor(name, tensor, wanted[name], model, where)
    _check_rows(model, given, where)
    check_made(model, where)
    _check_aliases(model, given, where)
    _check_indices(model, given, where)
    filled = {
        name: given[name].detach().to("cpu", copy=not _stays(given[name], state)).contiguous()
        if name in given
        else torch.zeros(tensor.shape, dtype=tensor.dtype)
        for name, tensor in wanted.items()
    }
    # Assigning skips the random initialisation, which is slow and would draw random numbers.
    model.load_state_dict(filled, strict=True, assign=True)
    _weigh_edges(model)
    return model.eval().requires_grad_(False)


def _stays(tensor: torch.Tensor, state: Mapping[str, torch.Tensor]) -> bool:
    return isinstance(state, OwnWeights) and tensor.nbytes > _LARGE


@contextmanager
def _random_states_kept() -> Iterator[None]:
    """Leave the global random states of torch, NumPy and Python as they were."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)


def _check_names(wanted: set[str], given: set[str], where: str) -> None:
    """Refuse weights with tensors missing or left over."""
    missing, unexpected = sorted(wanted - given), sorted(given - wanted)
    if missing or unexpected:
        parts = [
            f"{len(names)} {label} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
            for label, names in (("missing", missing), ("unexpected", unexpected))
            if names
        ]
        raise KgdashError(
            f"{where}: the weights do not fit the model's configuration: "
            f"tensors {' and '.join(parts)}"
        )


def _check_tensor(
    name: str, found: torch.Tensor, wanted: torch.Tensor, model: Model, where: str
) -> None:
    """Refuse one tensor of another layout, type or shape, or with values that are not finite."""
    if not isinstance(found, torch.Tensor):
        raise KgdashError(f"{where}: {name}: expected a tensor, found {type(found).__name__}")
    if found.layout is not torch.strided or found.is_nested or found.is_quantized or found.is_meta:
        kind = "data-less" if found.is_meta else "sparse, nested or quantized"
        raise KgdashError(f"{where}: {name}: expected a plain (strided) tensor, found a {kind} one")
    if found.dtype != wanted.dtype:
        raise KgdashError(f"{where}: {name}: expected {wanted.dtype}, found {found.dtype}")
    if found.shape != wanted.shape:
        raise KgdashError(f"{where}: {name}: {_shape_difference(name, found, wanted, model)}")
    if found.is_floating_point() or found.is_complex():
        if within(math.inf, found):  # many: nothing as large is made of them
            return
        nan, finite = int(found.isnan().sum()), int(found.isfinite().sum())
        if finite < found.numel():
            raise KgdashError(
                f"{where}: {name}: of {found.numel():,} weights {nan:,} are NaN and "
                f"{found.numel() - nan - finite:,} infinite; the training diverged, train again"
            )


def _shape_difference(name: str, found: torch.Tensor, wanted: torch.Tensor, model: Model) -> str:
    """Say what a wrong shape means."""
    text = f"expected shape {tuple(wanted.shape)}, found {tuple(found.shape)}"
    if found.ndim != wanted.ndim or not found.ndim or found.shape[1:] != wanted.shape[1:]:
        return text
    counts = {"entity": model.num_entities, "relation": model.num_relations}
    for side, plural in (("entity", "entities"), ("relation", "relations")):
        if name.startswith(f"{side}_representations.") and wanted.shape[0] == counts[side]:
            note = ", inverse ones included" * (side == "relation" and model.use_inverse_triples)
            return (
                f"the weights are for {found.shape[0]:,} {plural}, "
                f"the graph has {counts[side]:,}{note} ({text})"
            )
    return text


def _check_rows(model: Model, given: Mapping[str, torch.Tensor], where: str) -> None:
    """Refuse few weights of which scoring would make vectors that fill the memory (NodePiece)."""
    tokens = sum(t.shape[-1] for name, t in given.items() if name.endswith(".assignment"))
    kept = getattr(model, "entity_representations", ())
    times = tokens + 2 if tokens else 1  # what is made, its tokens, and what both are checked by
    floats = sum(each.max_id * math.prod(each.shape) for each in kept) * times
    weights = sum(tensor.numel() for tensor in given.values())
    most, densest = _MOST_FLOATS, _DENSEST
    if not visitor().is_local:
        most, densest = min(most, _MOST_SERVED), min(densest, _DENSEST_SERVED)
    if floats > max(most, densest * weights):
        raise KgdashError(
            f"{where}: {weights:,} weights would become {floats:,} numbers of "
            f"{model.num_entities:,} entities; take fewer dimensions"
        )


def _check_aliases(model: Model, given: Mapping[str, torch.Tensor], where: str) -> None:
    """Refuse weights that differ under two names of what is one tensor in the model."""
    first: dict[int, str] = {}
    tensors = [
        *model.named_parameters(remove_duplicate=False),
        *model.named_buffers(remove_duplicate=False),
    ]
    for name, tensor in tensors:
        other = first.setdefault(id(tensor), name)
        both = other != name and name in given and other in given
        if both and not torch.equal(given[name], given[other]):
            raise KgdashError(
                f"{where}: {other} and {name} are one tensor in the model but differ in the weights"
            )


def _check_indices(model: Model, given: Mapping[str, torch.Tensor], where: str) -> None:
    """Refuse index tensors (edges, tokens) that point outside the graph.

    PyKEEN's RGCN hands them to sparse tensors that torch does not check: memory would be at stake.
    """
    limits = {
        name: model.num_relations if "type" in name else model.num_entities for name in _EDGES
    }
    for name, tensor in given.items():
        if (
            tensor.is_floating_point()
            or tensor.is_complex()
            or not tensor.numel()
            or not tensor.ndim
        ):
            continue
        parent, _, attribute = name.rpartition(".")
        limit = limits.get(attribute, 0)
        if attribute == "assignment":
            limit = model.get_submodule(parent).vocabulary.max_id
        low, high = int(tensor.min()), int(tensor.max())
        if low < 0 or high >= limit:
            raise KgdashError(
                f"{where}: {name}: expected indices from 0 to {limit - 1:,}, "
                f"found {low:,} to {high:,}"
            )


def _weigh_edges(model: Model) -> None:
    """Weigh an RGCN's edges at once: PyKEEN looks through all of them for each relation."""
    for each in model.modules():
        weighting = getattr(each, "edge_weighting", None)
        if not isinstance(each, RGCNRepresentation) or weighting is None or weighting.needs_message:
            continue
        # Weights count edges of one end; of one relation too, where both are one number.
        relation = each.edge_types * model.num_entities
        weights = weighting(each.sources + relation, each.targets + relation)
        each.edge_weighting = None
        for layer in each.layers:
            layer.register_forward_pre_hook(partial(_weighed, weights), with_kwargs=True)


def _weighed(
    weights: torch.Tensor, layer: torch.nn.Module, given: tuple, named: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """Give a layer the weights of its edges."""
    return given, named | {"edge_weights": weights.to(named["source"].device)}
