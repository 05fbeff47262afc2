"""What the engine asks of a model: vectors whose inner product, or distance, is the score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import torch

from kgdash.engine.microkernels import LANES, ROW_STEP
from kgdash.engine.scoring_kernels import pack, points, score_block
from kgdash.engine.workers import run_in_threads
from kgdash.errors import KgdashError
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import silent

#: triples whose vectors are made at once, and numbers in these: some copies are there at a time
_PART, _NUMBERS = 2**16, 2**24
#: numbers of candidates' vectors that a thread lays out at once
LAID_OUT = 2**21
#: with entities' weights up to 1e8, scores of up to ten thousand dimensions stay finite
_LARGEST_QUERY = 1e26


@dataclass(frozen=True)
class Turn:
    """How relations make candidates' vectors of one vector per entity.

    ``kind``: see `kgdash.engine.turned_kernels`; ``entities``: float32, ``(|E|, K)``;
    ``relations``: float32, ``(|R|, K)``, contiguous.
    """

    kind: int
    entities: torch.Tensor
    relations: np.ndarray


class InteractionForm(Protocol):
    """A model as s(h, r, t) = φ(query vector, candidate's vector).

    φ is an inner product or a negative distance (see `kgdash.engine.microkernels`). With side
    "tail" the query is (h, r) and the candidates are tails; with "head" it is (r, t) and the
    candidates are heads. All tensors are float32 on one device; the kernels need the CPU.
    """

    @property
    def kind(self) -> int:
        """Return DOT, L1, L2 or L2_SQUARED."""

    @property
    def dimension(self) -> int:
        """Return K, the length of all vectors."""

    @property
    def num_entities(self) -> int:
        """Return |E|."""

    @property
    def num_relations(self) -> int:
        """Return |R|."""

    @property
    def device(self) -> torch.device:
        """Return where the vectors are."""

    @property
    def name(self) -> str:
        """Return the interaction's name."""

    @property
    def elementwise(self) -> bool:
        """Tell whether query vectors are cheap, and the same bits whatever else is in the batch."""

    @property
    def one_function(self) -> bool:
        """Tell whether s(h, r, t) is the same number on both sides, in every batch."""

    def queries(self, side: str, anchors: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the query vectors of (anchor entity, relation) pairs: ``(n,)`` → ``(n, K)``."""

    def vectors(self, side: str, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return candidates' vectors under their relations: ``(n,)`` → ``(n, K)``."""

    def is_fixed(self, side: str) -> bool:
        """Tell whether a candidate's vector is the same under every relation."""

    def turn(self, side: str) -> Turn | None:
        """Return how the kernels can make the bits of `vectors`; None if they can not."""


@dataclass(frozen=True)
class Panels:
    """All entities' vectors, laid out for the kernels."""

    blocks: np.ndarray
    count: int

    @classmethod
    def of(cls, vectors: np.ndarray) -> Panels:
        """Lay out ``(n, K)`` float32."""
        count, dimension = vectors.shape
        blocks = np.empty((-(-count // LANES), dimension, LANES), dtype=np.float32)
        pack(np.ascontiguousarray(vectors), blocks)
        return cls(blocks, count)


@torch.inference_mode()
def candidate_panels(
    form: InteractionForm, side: str, relation: int, entities: np.ndarray | None = None
) -> Panels:
    """Lay out candidates under a relation: all entities, or the given ones."""
    return Panels.of(candidate_vectors(form, side, relation, entities).numpy())


def candidate_vectors(
    form: InteractionForm, side: str, relation: int, entities: np.ndarray | None = None
) -> torch.Tensor:
    """Return candidates' vectors under a relation, ``(n, K)``, on the form's device."""
    if entities is None:
        chosen = torch.arange(form.num_entities, device=form.device)
    else:
        chosen = torch.from_numpy(entities).to(form.device)
    return form.vectors(side, chosen, torch.full_like(chosen, relation))


def query_vectors(
    form: InteractionForm, side: str, anchors: np.ndarray, relations: np.ndarray
) -> np.ndarray:
    """Return query vectors, float32, padded with zero rows to what the kernels need."""
    return padded(query_tensor(form, side, anchors, relations).numpy())


@torch.inference_mode()
def query_tensor(
    form: InteractionForm, side: str, anchors: np.ndarray, relations: np.ndarray
) -> torch.Tensor:
    """Return query vectors on the form's device, ``(n, K)``.

    :raises KgdashError: if a network gave such that their scores could overflow
    """
    pairs = (torch.from_numpy(np.ascontiguousarray(ids)) for ids in (anchors, relations))
    found = form.queries(side, *(ids.to(form.device) for ids in pairs))
    # Maps without a network were judged by the weights, when the form was recognised.
    if not form.elementwise and len(found) and not bool(found.abs().max() < _LARGEST_QUERY):
        raise KgdashError(
            f"{form.name} gives query vectors that are NaN, infinite or beyond {_LARGEST_QUERY:g}; "
            "such scores can not be ranked. Check the weights: training has probably diverged"
        )
    return found


def padded(queries: np.ndarray) -> np.ndarray:
    """Append zero rows, so that the kernels may take as many at once from any row on."""
    missing = -len(queries) % ROW_STEP + ROW_STEP
    return np.concatenate([queries, np.zeros((missing, queries.shape[1]), dtype=np.float32)])


@torch.inference_mode()
def own_scores(
    form: InteractionForm,
    side: str,
    queries: np.ndarray,
    rows: np.ndarray,
    entities: np.ndarray,
    relations: np.ndarray,
) -> np.ndarray:
    """Score queries against one candidate each: float32, ``(n,)``.

    :param queries: float32, ``(m, K)``
    :param rows: of the queries, int64, ``(n,)``, as are ``entities`` and ``relations``
    """
    out = np.empty(len(entities), dtype=np.float32)
    # Vectors are gathered and made a part at a time: they are no more than the part needs.
    for part in _parts(form, len(entities)):
        vectors = form.vectors(
            side,
            torch.from_numpy(np.ascontiguousarray(entities[part])),
            torch.from_numpy(np.ascontiguousarray(relations[part])),
        ).numpy()
        points(
            form.kind,
            np.ascontiguousarray(queries[rows[part]]),
            np.ascontiguousarray(vectors),
            out[part],
        )
    return out


def _parts(form: InteractionForm, count: int) -> list[slice]:
    """Cut triples so that the vectors of a part take little."""
    step = max(1, min(_PART, _NUMBERS // form.dimension))
    return [slice(start, start + step) for start in range(0, count, step)]


def score_triples(form: InteractionForm, side: str, triples: np.ndarray) -> np.ndarray:
    """Score triples, int64 ``(n, 3)``, as a side's candidates score: float32, ``(n,)``."""
    anchor, other = (0, 2) if side == "tail" else (2, 0)
    parts = []
    for part in (triples[cut] for cut in _parts(form, len(triples))):
        pairs, rows = part[:, [anchor, 1]], np.arange(len(part))
        if not form.elementwise:
            pairs, _, rows, _ = distinct_rows(pairs)
        queries = query_vectors(form, side, *pairs.T)
        parts.append(own_scores(form, side, queries, rows, part[:, other], part[:, 1]))
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def score_all(
    form: InteractionForm, side: str, anchors: np.ndarray, relations: np.ndarray
) -> np.ndarray:
    """Score all candidates of (anchor, relation) queries: float32, ``(n, |E|)``."""
    out = np.empty((len(anchors), form.num_entities), dtype=np.float32)
    queries = query_vectors(form, side, anchors, relations)[: len(anchors)]
    fixed = form.is_fixed(side)
    groups = np.zeros_like(relations) if fixed else relations
    names, sizes = np.unique(groups, return_counts=True)
    places = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    step = max(LANES, LAID_OUT // form.dimension)

    def score(part: tuple[tuple[int, np.ndarray], int], _: None) -> float:
        (relation, rows), start = part
        entities = np.arange(start, min(start + step, form.num_entities))
        panels = candidate_panels(form, side, relation, entities)
        found = np.empty((len(rows), len(entities)), dtype=np.float32)
        score_block(
            form.kind, padded(queries[rows]), len(found), panels.blocks, panels.count, found
        )
        out[rows, start : start + step] = found
        return float(found.size)

    each = zip(names.tolist(), places, strict=False)
    parts = [*product(each, range(0, form.num_entities, step))]
    threads = min(len(parts), torch.get_num_threads())
    run_in_threads(parts, score, lambda: None, float(out.size), silent, threads)
    return out
