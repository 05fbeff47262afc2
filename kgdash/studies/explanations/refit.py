"""One entity's vector fitted anew to its training facts, or to some of them, all else fixed.

The idea is Kelpie's (Rossi et al., "Explaining link prediction systems based on knowledge graph
embeddings", SIGMOD 2022); defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, optimize

from kgdash.studies.explanations.entity_loss import EntityLoss
from kgdash.studies.explanations.linearised import Linearised

#: steps at most, and the decrease of the loss that a further one must promise
_STEPS, _ENOUGH = 40, 1e-4

#: steps and evaluations of L-BFGS, where scores have kinks
_KINKED = {"maxiter": 15, "maxfun": 40}

#: a matrix is kept while each step promises so many times less than the one before; the shortest
#: part of a step that is tried
_SLOW, _SHORTEST = 2, 1e-3

#: least ridge, as a share of the curvature
_LEAST = 1e-3


@dataclass(frozen=True)
class EntityRefit:
    """Fits of one entity's vector, all with the same ridge and from the same start."""

    loss: EntityLoss

    @cached_property
    def ridge(self) -> float:
        """Return λ: with it the length of the trained vector is where the loss is stationary.

        At least a thousandth of the mean curvature.
        """
        x, at = self.loss.trained, self._start
        least = _LEAST * float(np.trace(at.curvature(self._weights([])))) / len(x)
        length = float(x @ x)
        radial = -float(at.gradients.sum(axis=0) @ x) / length if length > 0 else 0.0
        return max(radial, least, 1e-12)

    @cached_property
    def whole(self) -> np.ndarray:
        """Return the vector fitted to all facts, from the trained one: float64, ``(D,)``."""
        _ = self.ridge  # of the same start, which is as large as the vector's square, and goes
        return self._minimum(self._weights([]), self.loss.trained, self.__dict__.pop("_start"))

    def without(self, facts: Sequence[int]) -> np.ndarray:
        """Return the vector fitted to all facts but some, by their positions: ``(D,)``.

        It starts from `whole`.
        """
        return self._minimum(self._weights(facts), self.whole, self._at_whole)

    def influences(
        self, slope: np.ndarray, x: np.ndarray, without: Sequence[int] = ()
    ) -> np.ndarray:
        """Return by how much leaving out each fact lowers a score, to first order: ``(n,)``.

        :param slope: the score's gradient by the vector at x, ``(D,)``
        :param x: the vector fitted to all facts but those that are left out already
        """
        weights = self._weights(without)
        at = self._at_whole if x is self.whole else self.loss.linearise(x, weights)
        return np.asarray(-at.gradients @ self._solver(at, weights)(slope))

    @cached_property
    def _start(self) -> Linearised:
        return self.loss.linearise(self.loss.trained, self._weights([]))

    @cached_property
    def _at_whole(self) -> Linearised:
        return self.loss.linearise(self.whole, self._weights([]))

    def _weights(self, without: Sequence[int]) -> np.ndarray:
        weights = np.ones(len(self.loss.facts))
        weights[list(without)] = 0
        return weights

    def _solver(self, at: Linearised, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        matrix = at.curvature(weights)
        matrix[np.diag_indices_from(matrix)] += self.ridge + at.bend(weights)
        factor = linalg.cho_factor(matrix)
        return lambda right: np.asarray(linalg.cho_solve(factor, right))

    def _value(self, at: Linearised, weights: np.ndarray, x: np.ndarray) -> float:
        return float(weights @ at.losses + self.ridge / 2 * (x @ x))

    def _gradient(self, at: Linearised, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(weights @ at.gradients + self.ridge * x)

    def _minimum(self, weights: np.ndarray, x: np.ndarray, at: Linearised) -> np.ndarray:
        """Minimise by Newton's steps with the Fisher matrix, halved until the loss falls.

        With sums of absolute values they end early at kinks: there, by L-BFGS.

        :param at: of x, with curvatures
        """
        if self.loss.has_kinks:
            return self._minimum_with_kinks(weights, x)
        solve, before, share = self._solver(at, weights), np.inf, 1.0
        for _ in range(_STEPS):
            gradient = self._gradient(at, weights, x)
            step = solve(gradient)
            promised = float(gradient @ step)
            if promised < _ENOUGH:
                break
            if promised > before / _SLOW:
                # The matrix of an earlier vector leads too slowly: it goes before another is made.
                del solve
                solve = self._solver(self.loss.linearise(x, weights), weights)
                step = solve(gradient)
                promised = float(gradient @ step)
            # Where whole steps fail, the next tries twice the part that did not.
            moved = self._descent(weights, (x, at), step, promised, min(1.0, 2 * share))
            if moved is None:
                break
            (x, at, share), before = moved, promised
        return x

    def _minimum_with_kinks(self, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        def value(x: np.ndarray) -> tuple[float, np.ndarray]:
            at = self.loss.linearise(x)
            return self._value(at, weights, x), self._gradient(at, weights, x)

        found = optimize.minimize(value, start, jac=True, method="L-BFGS-B", options=_KINKED)
        return np.asarray(found.x)

    def _descent(
        self,
        weights: np.ndarray,
        start: tuple[np.ndarray, Linearised],
        step: np.ndarray,
        promised: float,
        share: float,
    ) -> tuple[np.ndarray, Linearised, float] | None:
        """Go along that part of a step, or less, by which the loss falls; None where it does not.

        :return: where that leads, and the part that was gone
        """
        x, at = start
        value = self._value(at, weights, x)
        while share > _SHORTEST:
            there = x - share * step
            found = self.loss.linearise(there)
            if self._value(found, weights, there) <= value - 1e-4 * share * promised:
                return there, found, share
            share /= 2
        return None
