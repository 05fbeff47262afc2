"""The cross-entropy of an entity's training facts as a function of its vector, all else fixed.

Defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.special import expit

from kgdash.engine.microkernels import L1
from kgdash.engine.refit_kernels import Panel
from kgdash.graph import KnowledgeGraph
from kgdash.graph.sorted_slices import run_lengths
from kgdash.progress import Beat, unheard
from kgdash.scoring.pykeen_forms import PyKEENForm
from kgdash.studies.explanations.candidate_panels import Panels

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
    and ``rays``: float64, ``(n, D)``, to whose outer products with themselves it adds besides;
    ``bends``: float64, ``(n, D)``, the diagonal that it adds since distances to its ends are
    curved themselves, 0 for inner products. All are empty unless they were asked for.
    """

    losses: np.ndarray
    gradients: np.ndarray
    query: np.ndarray
    curvatures: np.ndarray
    rays: np.ndarray
    bends: np.ndarray

    def curvature(self, weights: np.ndarray) -> np.ndarray:
        """Return the Fisher matrix of some facts, ``(D, D)``; their weights ``(n,)`` are 0 or 1."""
        of_query = np.bincount(self.query, weights, len(self.curvatures))
        rays = self.rays[weights > 0]
        return np.asarray(np.tensordot(of_query, self.curvatures, 1) + rays.T @ rays)

    def bend(self, weights: np.ndarray) -> np.ndarray:
        """Return the diagonal that some facts add to it, ``(D,)``."""
        return np.asarray(weights @ self.bends)


@dataclass(frozen=True)
class _Query:
    """A query that the entity names: its facts, and how x makes its vector x M + c."""

    facts: np.ndarray
    panel: tuple[str, int]
    matrix: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class _Answered:
    """Queries that the entity answers: their vectors, and log Σ exp of the others' scores.

    The entity's vector under the relation is x M + c.
    """

    facts: np.ndarray
    queries: np.ndarray
    others: np.ndarray
    matrix: np.ndarray
    offset: np.ndarray


class EntityLoss:
    """The loss of one entity's facts by its vector x.

    Each fact counts twice: −log p(other end | the query that names the entity), and −log p(entity |
    the query that names the other end), p being the softmax over all entities. The entity itself is
    no candidate of the former.
    """

    def __init__(
        self, form: PyKEENForm, entity: int, facts: np.ndarray, beat: Beat = unheard
    ) -> None:
        """Lay the loss of an entity's facts out.

        :param form: an affine one
        :param facts: int64, ``(n, 3)``, n ≥ 1; no loops
        :param beat: called now and then while the loss is computed; may raise to end that
        """
        self.form, self.entity, self.facts, self._beat = form, entity, facts, beat
        self.trained = form.entities[0][entity].double().cpu().numpy()
        self._panels = Panels(form)

    @property
    def has_kinks(self) -> bool:
        """Tell whether scores are sums of absolute values."""
        return self.form.kind == L1

    def scores(self, side: str, relation: int, x: np.ndarray) -> np.ndarray:
        """Score all candidates of a query that the entity names: float32, ``(|E|,)``.

        Where the entity is a candidate, its vector is x too. A constant may be missing.
        """
        matrix, offset = self._map(side, relation)
        vector = x.astype(np.float32)
        query = vector @ matrix + offset
        own = vector
        if not self._panels.is_product:
            matrix, offset = _role(self.form, side, False, relation)
            own = vector @ matrix + offset
        scores = self._panels.compared(
            query, self._panels.of(self._panels.key(side, relation)).vectors
        )
        scores[self.entity] = self._panels.compared(query, own[None])[0]
        return scores

    def slope(self, side: str, relation: int, answer: int, x: np.ndarray) -> np.ndarray:
        """Return the gradient of an answer's score by x: float64, ``(D,)``."""
        matrix, offset = self._map(side, relation)
        query = x.astype(np.float32) @ matrix + offset
        other = self._panels.of(self._panels.key(side, relation)).vectors[answer]
        return np.asarray(self._panels.slopes(query, other[None])[0] @ matrix.T, dtype=np.float64)

    def linearise(self, x: np.ndarray, curved: bool = False) -> Linearised:
        """Return each fact's loss and gradient at x, ``(D,)``; ``curved``: curvatures too."""
        count, width = len(self.facts), len(x)
        losses, gradients = np.zeros(count), np.zeros((count, width))
        number = np.zeros(count, dtype=np.int64)
        curvatures = np.zeros((len(self._queries) if curved else 0, width, width))
        rays, bends = (np.zeros((count, width if curved else 0)) for _ in range(2))
        vector = x.astype(np.float32)
        for block in self._blocks:
            self._beat()
            panel = self._panels.of(block[0][1].panel)
            asked = np.stack([vector @ each.matrix + each.offset for _, each in block])
            p, totals, means = self._panels.softmax(asked, panel, self.entity)
            for row, (place, query) in enumerate(block):
                facts = query.facts
                answers = panel.vectors[self._answers[facts]]
                number[facts] = place
                losses[facts] = totals[row] - self._panels.compared(asked[row], answers)
                down = means[row] - self._panels.slopes(asked[row], answers)
                gradients[facts] = down @ query.matrix.T
                if curved:
                    curvatures[place] = self._curvature(query, asked[row], panel, p[row])
                    pulls = 1 - p[row, self._answers[facts]]
                    bent = self._panels.bends(asked[row], answers)
                    bends[facts] = pulls[:, None] * (bent @ np.square(query.matrix).T)
        for answered in self._answered:
            self._beat()
            own = vector @ answered.matrix + answered.offset
            lead = (answered.others - self._panels.compared(own, answered.queries)).astype(
                np.float64
            )
            slopes = self._panels.slopes(own, answered.queries) @ answered.matrix.T
            losses[answered.facts] += np.logaddexp(0, lead)
            gradients[answered.facts] -= expit(lead)[:, None] * slopes
            if curved:
                rays[answered.facts] = np.sqrt(expit(lead) * expit(-lead))[:, None] * slopes
                bent = self._panels.bends(own, answered.queries) @ np.square(answered.matrix).T
                bends[answered.facts] += expit(lead)[:, None] * bent
        return Linearised(losses, gradients, number, curvatures, rays, bends)

    def _curvature(
        self, query: _Query, asked: np.ndarray, panel: Panel, p: np.ndarray
    ) -> np.ndarray:
        """Return the covariance of the candidates' slopes, of those that have any probability."""
        kept = np.flatnonzero(p > _NEGLIGIBLE / len(p))
        slopes, p = self._panels.slopes(asked, panel.vectors[kept]), p[kept]
        centred = (slopes - p @ slopes / p.sum()) * np.sqrt(p)[:, None]
        return np.asarray(query.matrix @ (centred.T @ centred) @ query.matrix.T)

    @cached_property
    def _answers(self) -> np.ndarray:
        """The other end of each fact."""
        heads = self.facts[:, 0] == self.entity
        return np.where(heads, self.facts[:, 2], self.facts[:, 0])

    @cached_property
    def _queries(self) -> list[_Query]:
        return [
            _Query(rows, self._panels.key(side, relation), *self._map(side, relation))
            for side, relation, rows in self._roles()
        ]

    @cached_property
    def _answered(self) -> list[_Answered]:
        """Score the queries that the entity answers, once: their vectors do not hang on x."""
        found = []
        for own_side, relation, rows in self._roles():
            self._beat()
            side = "head" if own_side == "tail" else "tail"
            others = torch.from_numpy(self._answers[rows])
            with torch.inference_mode():
                made = self.form.queries(side, others, torch.full_like(others, relation))
            queries = made.cpu().numpy()
            matrix, offset = _role(self.form, side, False, relation)
            if self._panels.is_product:
                queries = queries @ matrix.T
                matrix, offset = (
                    np.eye(len(matrix), dtype=np.float32),
                    np.zeros(len(matrix), offset.dtype),
                )
            panel = self._panels.of(self._panels.key(side, relation))
            parts = np.array_split(queries, -(-len(queries) // self._most))
            totals = np.concatenate(
                [self._panels.softmax(part, panel, self.entity)[1] for part in parts]
            )
            found.append(_Answered(rows, queries, totals, matrix, offset))
        return found

    def _roles(self) -> list[tuple[str, int, np.ndarray]]:
        """List the entity's queries: side, relation, and which facts answer them."""
        found = []
        for side, column in (("tail", 0), ("head", 2)):
            rows = np.flatnonzero(self.facts[:, column] == self.entity)
            relations = self.facts[rows, 1]
            order = np.argsort(relations, kind="stable")
            each, times = run_lengths(relations[order])
            parts = np.split(rows[order], np.cumsum(times)[:-1])
            found += [(side, r, part) for r, part in zip(each.tolist(), parts, strict=False)]
        return found

    def _map(self, side: str, relation: int) -> tuple[np.ndarray, np.ndarray]:
        """Return how x makes the vector that candidates are compared with.

        With inner products the candidates' map is part of it, so that they are as they are.
        """
        matrix, offset = _role(self.form, side, True, relation)
        if self._panels.is_product:
            candidate, _ = _role(self.form, side, False, relation)
            matrix, offset = matrix @ candidate.T, offset @ candidate.T
        return matrix, offset

    @cached_property
    def _blocks(self) -> list[list[tuple[int, _Query]]]:
        """The queries with their places, in blocks that share their candidates' vectors."""
        blocks: list[list[tuple[int, _Query]]] = []
        for place, query in enumerate(self._queries):
            last = blocks[-1] if blocks else []
            if last and last[0][1].panel == query.panel and len(last) < self._most:
                last.append((place, query))
            else:
                blocks.append([(place, query)])
        return blocks

    @property
    def _most(self) -> int:
        """Queries that are scored at once."""
        return max(1, _SCORES // self.form.num_entities)


def _role(
    form: PyKEENForm, side: str, is_query: bool, relation: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return M and c of `PyKEENForm.role`."""
    with torch.inference_mode():
        matrix, offset = form.role(side, is_query, relation)
    return matrix.cpu().numpy(), offset.cpu().numpy()
