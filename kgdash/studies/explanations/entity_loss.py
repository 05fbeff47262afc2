"""The cross-entropy of an entity's training facts as a function of its vector, all else fixed.

Defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from kgdash.engine.device import pairwise
from kgdash.engine.microkernels import DOT, L1, L2
from kgdash.graph import KnowledgeGraph
from kgdash.scoring.pykeen_forms import PyKEENForm

#: scores that are held at once
_SCORES = 2**24

#: in curvatures, candidates of less than this share of an even probability are left out
_NEGLIGIBLE = 0.3


def facts_around(graph: KnowledgeGraph, entity: int, loops: bool = False) -> np.ndarray:
    """Return an entity's training facts, each once: int64 ids, ``(n, 3)``.

    :param loops: with those that it is both ends of
    """
    train, parts = graph.known(("train",)), []
    for side, column in (("head", 0), ("tail", 2)):
        _, codes = train.triples_with_entity(np.array([entity]), side)
        relations, others = np.divmod(codes, graph.num_entities)
        rows = np.full((len(codes), 3), entity)
        rows[:, 1], rows[:, 2 - column] = relations, others
        parts.append(rows if loops and side == "head" else rows[others != entity])
    return np.concatenate(parts)


@dataclass(frozen=True)
class Linearised:
    """The loss at one vector x, fact by fact.

    ``losses``: float64, ``(n,)``; ``gradients``: float64, ``(n, D)``; ``curvatures``: float64,
    ``(g, D, D)``, what each fact of a query adds (``query``: int64, ``(n,)``, which one it is of),
    and ``rays``: float64, ``(n, D)``, to whose outer products with themselves it adds besides. Both
    are empty unless they were asked for.
    """

    losses: np.ndarray
    gradients: np.ndarray
    query: np.ndarray
    curvatures: np.ndarray
    rays: np.ndarray

    def curvature(self, weights: np.ndarray) -> np.ndarray:
        """Return the Fisher matrix of some facts, ``(D, D)``; their weights ``(n,)`` are 0 or 1."""
        of_query = np.bincount(self.query, weights, len(self.curvatures))
        rays = self.rays[weights > 0]
        return np.asarray(np.tensordot(of_query, self.curvatures, 1) + rays.T @ rays)


@dataclass(frozen=True)
class _Query:
    """A query that the entity names: its answers, and how x makes its vector."""

    side: str
    relation: int
    facts: np.ndarray
    answers: torch.Tensor
    matrix: torch.Tensor
    offset: torch.Tensor


@dataclass(frozen=True)
class _Answered:
    """Queries that the entity answers: their vectors, and log Σ exp of the others' scores."""

    facts: np.ndarray
    queries: torch.Tensor
    others: torch.Tensor
    matrix: torch.Tensor
    offset: torch.Tensor


class EntityLoss:
    """The loss of one entity's facts by its vector x.

    Each fact counts twice: −log p(other end | the query that names the entity), and −log p(entity |
    the query that names the other end), p being the softmax over all entities. The entity itself is
    no candidate of the former.
    """

    def __init__(self, form: PyKEENForm, entity: int, facts: np.ndarray) -> None:
        """Lay the loss of an entity's facts out.

        :param form: an affine one
        :param facts: int64, ``(n, 3)``, n ≥ 1; no loops
        """
        self.form, self.entity, self.facts = form, entity, facts
        self.trained = _numpy(form.entities[0][entity])

    @torch.inference_mode()
    def scores(self, side: str, relation: int, x: np.ndarray) -> np.ndarray:
        """Score all candidates of a query that the entity names: float32, ``(|E|,)``.

        Where the entity is a candidate, its vector is x too. A constant may be missing.
        """
        matrix, offset = self._map(side, relation)
        vector = torch.from_numpy(x).to(matrix)
        query = vector @ matrix + offset
        scores = pairwise(self.form.kind, query[None], self._panel(side, relation))[0]
        own = vector if self._is_product else _applied(self.form, side, relation, vector)
        scores[self.entity] = pairwise(self.form.kind, query[None], own[None])[0, 0]
        return np.asarray(scores.cpu().numpy())

    @torch.inference_mode()
    def slope(self, side: str, relation: int, answer: int, x: np.ndarray) -> np.ndarray:
        """Return the gradient of an answer's score by x: float64, ``(D,)``."""
        matrix, offset = self._map(side, relation)
        query = torch.from_numpy(x).to(matrix) @ matrix + offset
        slopes = self._slopes(query, self._panel(side, relation)[answer][None])
        return _numpy(slopes[0] @ matrix.T)

    @torch.inference_mode()
    def linearise(self, x: np.ndarray, curved: bool = False) -> Linearised:
        """Return each fact's loss and gradient at x, ``(D,)``; ``curved``: curvatures too."""
        count, width = len(self.facts), len(x)
        losses, gradients = np.zeros(count), np.zeros((count, width))
        query = np.zeros(count, dtype=np.int64)
        curvatures = np.zeros((len(self._queries) if curved else 0, width, width))
        rays = np.zeros((count, width if curved else 0))
        vector = torch.from_numpy(x).to(self.form.entities[0])
        for block in self._blocks():
            panel = self._panel(block[0][1].side, block[0][1].relation)
            asked = torch.stack([vector @ each.matrix + each.offset for _, each in block])
            scores = pairwise(self.form.kind, asked, panel)
            scores[:, self.entity] = -torch.inf
            p, total = torch.softmax(scores, 1), torch.logsumexp(scores, 1)
            means = p @ panel if self._is_product else None
            for row, (number, each) in enumerate(block):
                mean = p[row] @ self._slopes(asked[row], panel) if means is None else means[row]
                own = self._slopes(asked[row], panel[each.answers])
                losses[each.facts] = _numpy(total[row] - scores[row, each.answers])
                gradients[each.facts] = _numpy((mean - own) @ each.matrix.T)
                query[each.facts] = number
                if curved:
                    curvatures[number] = self._curvature(each, asked[row], panel, p[row])
        for answered in self._answered:
            own = vector @ answered.matrix + answered.offset
            scores = self._paired(own, answered.queries)
            p = torch.sigmoid(scores - answered.others)
            slopes = self._slopes(own, answered.queries) @ answered.matrix.T
            losses[answered.facts] += _numpy(torch.nn.functional.softplus(answered.others - scores))
            gradients[answered.facts] -= _numpy((1 - p)[:, None] * slopes)
            if curved:
                rays[answered.facts] = _numpy(torch.sqrt(p * (1 - p))[:, None] * slopes)
        return Linearised(losses, gradients, query, curvatures, rays)

    def _curvature(
        self, each: _Query, asked: torch.Tensor, panel: torch.Tensor, p: torch.Tensor
    ) -> np.ndarray:
        """Return the covariance of the candidates' slopes, of those that have any probability."""
        kept = torch.nonzero(p > _NEGLIGIBLE / len(p)).squeeze(1)
        slopes, p = self._slopes(asked, panel[kept]), p[kept]
        centred = (slopes - p @ slopes / p.sum()) * torch.sqrt(p)[:, None]
        return _numpy(each.matrix @ (centred.T @ centred) @ each.matrix.T)

    @property
    def _is_product(self) -> bool:
        return self.form.kind == DOT

    @cached_property
    def _queries(self) -> list[_Query]:
        found = []
        for side, relation, rows in self._roles():
            answers = self.facts[rows, 2 if side == "tail" else 0]
            maps = self._map(side, relation)
            found.append(_Query(side, relation, rows, torch.from_numpy(answers), *maps))
        return found

    @cached_property
    @torch.inference_mode()
    def _answered(self) -> list[_Answered]:
        """Score the queries that the entity answers, once: their vectors do not hang on x."""
        found = []
        for own_side, relation, rows in self._roles():
            side, column = ("head", 2) if own_side == "tail" else ("tail", 0)
            others = torch.from_numpy(np.ascontiguousarray(self.facts[rows, column]))
            queries = self.form.queries(side, others, torch.full_like(others, relation))
            matrix, offset = self.form.role(side, False, relation)
            if self._is_product:
                queries = queries @ matrix.T
                matrix, offset = torch.eye(len(matrix)).to(matrix), torch.zeros_like(offset)
            panel = self._panel(side, relation)
            totals = []
            for part in queries.split(max(1, _SCORES // len(panel))):
                scores = pairwise(self.form.kind, part, panel)
                scores[:, self.entity] = -torch.inf
                totals.append(torch.logsumexp(scores, 1))
            found.append(_Answered(rows, queries, torch.cat(totals), matrix, offset))
        return found

    def _roles(self) -> Iterator[tuple[str, int, np.ndarray]]:
        """Yield the entity's queries: side, relation, and which facts answer them."""
        for side, column in (("tail", 0), ("head", 2)):
            rows = np.flatnonzero(self.facts[:, column] == self.entity)
            for relation in np.unique(self.facts[rows, 1]).tolist():
                yield side, relation, rows[self.facts[rows, 1] == relation]

    def _blocks(self) -> Iterator[list[tuple[int, _Query]]]:
        """Cut the queries into blocks that share their candidates' vectors."""
        every = list(enumerate(self._queries))
        most = max(1, _SCORES // self.form.num_entities)
        for side in ("tail", "head"):
            chosen = [(number, query) for number, query in every if query.side == side]
            shared = self._is_product or self.form.is_fixed(side)
            step = most if shared else 1
            yield from (chosen[i : i + step] for i in range(0, len(chosen), step))

    def _map(self, side: str, relation: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how x makes the vector that candidates are compared with.

        With inner products the candidates' map is part of it, so that they are as they are.
        """
        matrix, offset = self.form.role(side, True, relation)
        if self._is_product:
            candidate, _ = self.form.role(side, False, relation)
            matrix, offset = matrix @ candidate.T, offset @ candidate.T
        return matrix, offset

    def _panel(self, side: str, relation: int) -> torch.Tensor:
        """Return the vectors of all candidates: ``(|E|, K)``."""
        if self._is_product:
            return self.form.entities[0]
        every = torch.arange(self.form.num_entities, device=self.form.device)
        return self.form.vectors(side, every, torch.full_like(every, relation))

    def _slopes(self, vector: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the gradients of a vector's scores with others by it: ``(K,)``, ``(n, K)``."""
        if self._is_product:
            return others
        difference = others - vector
        if self.form.kind == L1:
            return torch.sign(difference)
        if self.form.kind == L2:
            return torch.nn.functional.normalize(difference, dim=1)
        return 2 * difference

    def _paired(self, vector: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
        return pairwise(self.form.kind, vector[None], queries)[0]


def _applied(form: PyKEENForm, side: str, relation: int, vector: torch.Tensor) -> torch.Tensor:
    matrix, offset = form.role(side, False, relation)
    return vector @ matrix + offset


def _numpy(values: torch.Tensor) -> np.ndarray:
    return np.asarray(values.double().cpu().numpy())
