"""Graphs and a model that a test can read at a glance: scores are the entries of a tensor."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from hypothesis import strategies as st

from kgdash.graph import KnowledgeGraph
from kgdash.progress import silent
from kgdash.runs import Run
from kgdash.scoring.model_spec import ModelSpec

INF = float("inf")

#: few values, so that ties are the rule; infinities are legal scores (numbers.md#1-ranks)
TIED_SCORES = (-INF, -1.0, 0.0, 0.0, 0.5, 0.5, 1.0, INF)


class FakeScorer:
    """The Scorer protocol over a tensor of shape ``(|E|, |R|, |E|)``.

    With ``heads``, candidates on the head side score by that tensor instead, as those of models
    with inverse relations do. ``asked`` lists (method, number of queries) of every call.
    """

    device = torch.device("cpu")
    form = None

    def __init__(self, tails, heads=None) -> None:
        self.tails = torch.as_tensor(tails, dtype=torch.float32)
        self.heads = self.tails if heads is None else torch.as_tensor(heads, dtype=torch.float32)
        self.num_entities, self.num_relations = self.tails.shape[:2]
        self.asked: list[tuple[str, int]] = []

    def score_tails(self, pairs: torch.Tensor, progress=silent) -> torch.Tensor:
        self.asked.append(("tails", len(pairs)))
        return self.tails[pairs[:, 0], pairs[:, 1]]

    def score_heads(self, pairs: torch.Tensor, progress=silent) -> torch.Tensor:
        self.asked.append(("heads", len(pairs)))
        # A transposed view: scorers need not return contiguous blocks, and PyKEEN's do not.
        return self.heads[:, pairs[:, 0], pairs[:, 1]].T

    def score_relations(self, pairs: torch.Tensor, progress=silent) -> torch.Tensor:
        self.asked.append(("relations", len(pairs)))
        return self.tails[pairs[:, 0], :, pairs[:, 1]]

    def score_triples(
        self, triples: torch.Tensor, side: str = "tail", progress=silent
    ) -> torch.Tensor:
        self.asked.append(("triples", len(triples)))
        scores = self.heads if side == "head" else self.tails
        return scores[triples[:, 0], triples[:, 1], triples[:, 2]]

    def __call__(self, head: int, relation: int, tail: int, side: str = "tail") -> float:
        """Score one triple in plain numbers, for the brute force."""
        return float((self.heads if side == "head" else self.tails)[head, relation, tail])


def random_scorer(entities: int, relations: int, seed: int = 0, inverse: bool = False):
    """Make a scorer without ties; with ``inverse``, other scores on the head side."""
    generator = torch.Generator().manual_seed(seed)
    shape = (entities, relations, entities)
    tails = torch.randn(shape, generator=generator)
    return FakeScorer(tails, torch.randn(shape, generator=generator) if inverse else None)


def make_graph(
    train: Iterable[Sequence[int]],
    valid: Iterable[Sequence[int]] = (),
    test: Iterable[Sequence[int]] = (),
    entities: int | None = None,
    relations: int | None = None,
) -> KnowledgeGraph:
    """Make a graph of ids, with names e0, e1, … and r0, r1, … and labels E0, …, R0, …"""
    splits = {
        name: np.unique(np.array(list(part), dtype=np.int64).reshape(-1, 3), axis=0)
        for name, part in (("train", train), ("valid", valid), ("test", test))
    }
    everything = np.concatenate(list(splits.values()))
    entities = entities or int(everything[:, [0, 2]].max()) + 1
    relations = relations or int(everything[:, 1].max()) + 1
    return KnowledgeGraph(
        name="tiny",
        entities=tuple(f"e{i}" for i in range(entities)),
        relations=tuple(f"r{i}" for i in range(relations)),
        splits=splits,
        entity_labels=tuple(f"E{i}" for i in range(entities)),
        relation_labels=tuple(f"R{i}" for i in range(relations)),
    )


def fake_run(graph: KnowledgeGraph, scorer: FakeScorer) -> Run:
    """Make a Run of a fake scorer, with a digest that follows from its scores."""
    scores = torch.stack([scorer.tails, scorer.heads]).numpy().tobytes()
    digest = hashlib.sha256(scores).hexdigest()
    return Run("fake", graph, scorer, ModelSpec("TransE"), digest)


@st.composite
def worlds(draw, max_entities: int = 4, max_relations: int = 3, splits: int = 3):
    """Draw a scorer full of ties, lists of triples for each split, and some to evaluate.

    The evaluated ones may repeat, may be self loops and need not be in any split.
    """
    entities = draw(st.integers(1, max_entities))
    relations = draw(st.integers(1, max_relations))
    size = entities * relations * entities
    values = st.lists(st.sampled_from(TIED_SCORES), min_size=size, max_size=size)
    tails = torch.tensor(draw(values)).view(entities, relations, entities)
    inverse = draw(st.booleans())
    heads = torch.tensor(draw(values)).view(entities, relations, entities) if inverse else None
    triple = st.tuples(
        st.integers(0, entities - 1), st.integers(0, relations - 1), st.integers(0, entities - 1)
    )
    parts = [draw(st.lists(triple, max_size=12)) for _ in range(splits)]
    evaluated = draw(st.lists(triple, min_size=1, max_size=8))
    return FakeScorer(tails, heads), parts, evaluated


def array(triples: Iterable[Sequence[int]]) -> np.ndarray:
    """Return triples as int64 of shape ``(n, 3)``."""
    return np.array(list(triples), dtype=np.int64).reshape(-1, 3)
