"""The cross-entropy of an entity's training facts as a function of its vector, all else fixed.

Defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from scipy.special import expit

from kgdash.engine.microkernels import L1
from kgdash.engine.refit_kernels import Panel
from kgdash.graph import KnowledgeGraph
from kgdash.graph.sorted_slices import run_lengths
from kgdash.progress import Beat, unheard
from kgdash.scoring.pykeen_forms import PyKEENForm
from kgdash.studies.explanations.affine_maps import AffineMap
from kgdash.studies.explanations.candidate_panels import Panels
from kgdash.studies.explanations.linearised import Linearised, add_scaled

#: scores that are held at once
_SCORES = 2**24

#: numbers of vectors of queries that are made at once
_ASKED = 2**22

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
class _Query:
    """A query that the entity names: its facts, and how x makes its vector."""

    facts: np.ndarray
    panel: tuple[str, int]
    map: AffineMap


@dataclass(frozen=True)
class _Answered:
    """Queries that the entity answers: their vectors, and log Σ exp of the others' scores.

    ``map``: how x makes the vector that they are compared with; None: it is x itself.
    """

    facts: np.ndarray
    queries: np.ndarray
    others: np.ndarray
    map: AffineMap | None


#: queries with their places among all, whose candidates have the same vectors
_Block = list[tuple[int, _Query]]


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
        self._maps: dict[tuple[str, int], AffineMap] = {}
        self._own: dict[tuple[str, int], AffineMap] = {}

    @property
    def has_kinks(self) -> bool:
        """Tell whether scores are sums of absolute values."""
        return self.form.kind == L1

    def scores(self, side: str, relation: int, x: np.ndarray) -> np.ndarray:
        """Score all candidates of a query that the entity names: float32, ``(|E|,)``.

        Where the entity is a candidate, its vector is x too. A constant may be missing.
        """
        vector = x.astype(np.float32)
        query, own = self._map(side, relation)(vector), vector
        if not self._panels.is_product:
            own = self._own_map(side, relation)(vector)
        scores = self._panels.compared(
            query, self._panels.of(self._panels.key(side, relation)).vectors
        )
        scores[self.entity] = self._panels.compared(query, own[None])[0]
        return scores

    def slope(self, side: str, relation: int, answer: int, x: np.ndarray) -> np.ndarray:
        """Return the gradient of an answer's score by x: float64, ``(D,)``."""
        made = self._map(side, relation)
        query = made(x.astype(np.float32))
        other = self._panels.of(self._panels.key(side, relation)).vectors[answer]
        return made.back(self._panels.slopes(query, other[None]))[0].astype(np.float64)

    def linearise(self, x: np.ndarray, weights: np.ndarray | None = None) -> Linearised:
        """Return each fact's loss and gradient at x, ``(D,)``.

        :param weights: of facts, ``(n,)``: curvatures too, of all queries together with these
        """
        count, width, curved = len(self.facts), len(x), weights is not None
        losses, gradients = np.zeros(count), np.zeros((count, width))
        number = np.zeros(count, dtype=np.int64)
        weights = np.zeros(count) if weights is None else weights
        total = np.zeros((width, width) if curved else (0, 0))
        rays, bends = (np.zeros((count, width if curved else 0)) for _ in range(2))
        vector = x.astype(np.float32)
        for block in self._blocks:
            self._beat()
            panel, asked, p, totals, means = self._compared(vector, block)
            for row, (place, query) in enumerate(block):
                facts = query.facts
                answers = panel.vectors[self._answers[facts]]
                number[facts] = place
                losses[facts] = totals[row] - self._panels.compared(asked[row], answers)
                down = means[row] - self._panels.slopes(asked[row], answers)
                gradients[facts] = query.map.back(down)
                if not curved:
                    continue
                self._beat()
                part = self._curvature(query, asked[row], panel, p[row])
                add_scaled(total, part, weights[facts].sum())
                if not self._panels.is_product:
                    pulls = 1 - p[row, self._answers[facts]]
                    bent = self._panels.bends(asked[row], answers)
                    bends[facts] = pulls[:, None] * query.map.diagonals_back(bent)
        for answered in self._answered:
            self._beat()
            own = vector if answered.map is None else answered.map(vector)
            lead = (answered.others - self._panels.compared(own, answered.queries)).astype(
                np.float64
            )
            slopes = self._panels.slopes(own, answered.queries)
            slopes = slopes if answered.map is None else answered.map.back(slopes)
            losses[answered.facts] += np.logaddexp(0, lead)
            gradients[answered.facts] -= expit(lead)[:, None] * slopes
            if curved:
                rays[answered.facts] = np.sqrt(expit(lead) * expit(-lead))[:, None] * slopes
            if curved and answered.map is not None:
                bent = answered.map.diagonals_back(self._panels.bends(own, answered.queries))
                bends[answered.facts] += expit(lead)[:, None] * bent
        return Linearised(
            losses, gradients, number, weights, total, partial(self._part, vector), rays, bends
        )

    def _compared(
        self, vector: np.ndarray, block: _Block
    ) -> tuple[Panel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the candidates of some queries, the queries' vectors, and `Panels.softmax`."""
        panel = self._panels.of(block[0][1].panel)
        asked = np.stack([query.map(vector) for _, query in block])
        return panel, asked, *self._panels.softmax(asked, panel, self.entity)

    def _part(self, vector: np.ndarray, place: int) -> np.ndarray:
        """Return what each fact of one query adds to the Fisher matrix, made anew."""
        self._beat()
        block = next(each for each in self._blocks if each[0][0] <= place <= each[-1][0])
        row = place - block[0][0]
        if not self._panels.is_product:  # inner products of many round otherwise than of one
            block, row = block[row : row + 1], 0
        panel, asked, p, _, _ = self._compared(vector, block)
        return self._curvature(block[row][1], asked[row], panel, p[row])

    def _curvature(
        self, query: _Query, asked: np.ndarray, panel: Panel, p: np.ndarray
    ) -> np.ndarray:
        """Return the covariance of the candidates' slopes, of those that have any probability."""
        kept = np.flatnonzero(p > _NEGLIGIBLE / len(p))
        slopes, p = self._panels.slopes(asked, panel.vectors[kept]), p[kept]
        centred = (slopes - p @ slopes / p.sum()) * np.sqrt(p)[:, None]
        return query.map.outer_back(centred, len(panel.vectors) < len(self.trained))

    @cached_property
    def _answers(self) -> np.ndarray:
        """The other end of each fact."""
        heads = self.facts[:, 0] == self.entity
        return np.where(heads, self.facts[:, 2], self.facts[:, 0])

    @cached_property
    def _queries(self) -> list[_Query]:
        return [
            _Query(rows, self._panels.key(side, relation), self._map(side, relation))
            for side, relation, rows in self._roles()
        ]

    @cached_property
    def _answered(self) -> list[_Answered]:
        """Score the queries that the entity answers, once: their vectors do not hang on x."""
        found = []
        for own_side, relation, rows in self._roles():
            self._beat()
            side = "head" if own_side == "tail" else "tail"
            queries, own = self._asked(side, relation, rows), self._own_map(side, relation)
            if self._panels.is_product:
                queries = own.back(queries)
            panel = self._panels.of(self._panels.key(side, relation))
            parts = np.array_split(queries, -(-len(queries) // self._most))
            totals = np.concatenate(
                [self._panels.softmax(part, panel, self.entity)[1] for part in parts]
            )
            found.append(_Answered(rows, queries, totals, None if self._panels.is_product else own))
        return found

    def _asked(self, side: str, relation: int, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of queries that name the other ends of facts: ``(n, K)``."""
        parts = []
        for part in np.array_split(rows, -(-len(rows) * len(self.trained) // _ASKED)):
            self._beat()
            others = torch.from_numpy(self._answers[part])
            with torch.inference_mode():
                made = self.form.queries(side, others, torch.full_like(others, relation))
            parts.append(made.cpu().numpy())
        return np.concatenate(parts)

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

    def _map(self, side: str, relation: int) -> AffineMap:
        """Return how x makes the vector that candidates are compared with.

        With inner products the candidates' map is part of it, so that they are as they are.
        """
        if (side, relation) not in self._maps:
            self._beat()
            made = AffineMap.of(self.form, side, True, relation)
            if self._panels.is_product:
                made = made.before(self._own_map(side, relation))
            self._maps[side, relation] = made
        return self._maps[side, relation]

    def _own_map(self, side: str, relation: int) -> AffineMap:
        """Return how x makes the entity's vector as a candidate."""
        fixed = self.form.is_fixed(side)
        key = side, 0 if fixed else relation
        if key in self._own:
            return self._own[key]
        made = AffineMap.of(self.form, side, False, relation)
        # With inner products it becomes part of others, once or twice: they would be two matrices.
        if fixed or not self._panels.is_product:
            self._own[key] = made
        return made

    @cached_property
    def _blocks(self) -> list[_Block]:
        """The queries with their places, in blocks that share their candidates' vectors."""
        blocks: list[_Block] = []
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
