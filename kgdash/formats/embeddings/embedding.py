"""An embedding as it lies in files: matrices with a name per row, and what scores them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.interactions import check_interaction, layers_of
from kgdash.formats.embeddings.matrices import check_finite
from kgdash.formats.embeddings.name_lists import check_distinct, check_length, rows_of
from kgdash.formats.embeddings.parts import Parts
from kgdash.graph import KnowledgeGraph
from kgdash.scoring.model_spec import ModelSpec


@dataclass(frozen=True)
class Source:
    """Where an embedding and its names are: files, for messages."""

    folder: str
    entities: str = "entities"
    relations: str = "relations"


@dataclass(frozen=True)
class Embedding:
    """What was read of a library's files, in its own order.

    ``parts.entities`` has a row for each of ``entity_names``, ``parts.relations`` one for each of
    ``relation_names``; ``inverse``, if given, are the vectors by which heads are scored, of the
    inverse relations in the same order. ``reported`` holds metrics that the library found on test.
    ``vocabulary`` tells that the names are a vocabulary, more than a graph's.
    """

    interaction: str
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]
    parts: Parts
    source: Source
    inverse: np.ndarray | None = None
    reported: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    vocabulary: bool = False


def fit_to(
    embedding: Embedding, graph: KnowledgeGraph, drop_unknown: bool = False
) -> tuple[ModelSpec, dict[str, torch.Tensor], tuple[str, ...]]:
    """Return the model of an embedding on a graph, its rows in the order of the graph's ids.

    :param drop_unknown: leave out rows of names that no training triple of the graph holds
    :return: configuration, weights as `kgdash.scoring.build_model.scoring_state` has them, notes
    :raises KgdashError: if names do not match, shapes do not fit the interaction, or numbers are
        not finite
    """
    _check(embedding)
    parts, source = embedding.parts, embedding.source
    drop_unknown = drop_unknown or embedding.vocabulary
    rows, notes = rows_of(
        "entities", embedding.entity_names, graph.entities, source.entities, drop_unknown
    )
    chosen = {"entities": parts.entities[rows]}
    inverse = embedding.inverse
    if parts.relations is not None:
        kept, more = rows_of(
            "relations", embedding.relation_names, graph.relations, source.relations, drop_unknown
        )
        notes += more
        chosen["relations"] = parts.relations[kept]
        inverse = None if inverse is None else inverse[kept]
    layers = layers_of(embedding.interaction, replace(parts, **chosen))
    relations = layers.relations
    if inverse is not None:
        others = layers_of(
            embedding.interaction, replace(parts, **(chosen | {"relations": inverse}))
        )
        relations = [_interleaved(*both) for both in zip(relations, others.relations, strict=True)]
    state = {
        f"{side}_representations.{number}._embeddings.weight": _weights(values)
        for side, each in (("entity", layers.entities), ("relation", relations))
        for number, values in enumerate(each)
    } | {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in layers.others.items()}
    spec = ModelSpec(layers.model, layers.arguments, create_inverse_triples=inverse is not None)
    return spec, state, (*embedding.notes, *layers.notes, *notes)


def _check(embedding: Embedding) -> None:
    check_interaction(embedding.interaction, embedding.source.folder)
    parts, source = embedding.parts, embedding.source
    for kind, names, where in (
        ("entities", embedding.entity_names, source.entities),
        ("relations", embedding.relation_names, source.relations),
    ):
        values = getattr(parts, kind)
        if values is None:
            continue
        if values.ndim < 2 or not values.size:
            raise KgdashError(
                f"{where}: expected a row of numbers for each name; found shape {values.shape}"
            )
        check_length(names, len(values), f"the list of {kind}", where)
        check_distinct(names, f"{where}, row")
        check_finite(values, names, where)
    if embedding.inverse is not None:
        check_finite(embedding.inverse, embedding.relation_names, f"{source.relations}, inverse")
    if parts.core is not None:
        check_finite(parts.core, (), f"{source.folder}, core")


def _interleaved(forward: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Put the inverse of relation r after it, as PyKEEN numbers them: 2r and 2r + 1."""
    return np.stack([forward, inverse], axis=1).reshape(-1, *forward.shape[1:])


def _weights(values: np.ndarray) -> torch.Tensor:
    flat = np.ascontiguousarray(values.reshape(len(values), -1))
    return torch.from_numpy(flat.view(np.float32) if flat.dtype == np.complex64 else flat)
