"""The candidates' vectors of an entity's queries, and their softmax.

Vectors are float32. A score is φ(q, v) of a query's vector q and a candidate's v: q·v or minus a
distance.
"""

from __future__ import annotations

import numpy as np
import torch

from kgdash.engine.microkernels import DOT, L1, L2, L2_SQUARED
from kgdash.engine.refit_kernels import Panel, distance_softmax
from kgdash.scoring.pykeen_forms import PyKEENForm

#: differences of less than this share of the mean entry are taken as so large in `Panels.bends`
_NEAR = 0.01

#: numbers of candidates' vectors that are kept
_KEPT = 2**25


class Panels:
    """The candidates' vectors of a form, side by side and relation by relation."""

    def __init__(self, form: PyKEENForm) -> None:
        """Begin with none."""
        self.form, self.kind = form, form.kind
        self._least = max(_NEAR * float(form.entities[0].abs().mean()), 1e-12)
        self._kept: dict[tuple[str, int], Panel] = {}

    @property
    def is_product(self) -> bool:
        """Tell whether scores are inner products; then candidates are entities as they are."""
        return self.kind == DOT

    def key(self, side: str, relation: int) -> tuple[str, int]:
        """Return what candidates' vectors depend on: side and relation, or less."""
        if self.is_product:
            return "", 0
        return (side, 0) if self.form.is_fixed(side) else (side, relation)

    def of(self, key: tuple[str, int]) -> Panel:
        """Return the vectors of all candidates, by `key`."""
        if key in self._kept:
            return self._kept[key]
        side, relation = key
        vectors = self.form.entities[0]
        if side:
            every = torch.arange(self.form.num_entities, device=self.form.device)
            with torch.inference_mode():
                vectors = self.form.vectors(side, every, torch.full_like(every, relation))
        rows = np.ascontiguousarray(vectors.cpu().numpy(), dtype=np.float32)
        panel = Panel(rows, rows if self.is_product else np.ascontiguousarray(rows.T))
        if (len(self._kept) + 1) * 2 * rows.size <= _KEPT:
            self._kept[key] = panel
        return panel

    def softmax(
        self, asked: np.ndarray, panel: Panel, left_out: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return p of each candidate, log Σ exp of the scores, and the mean slope by the query.

        :param asked: queries' vectors, ``(g, K)``
        :param left_out: an entity that is no candidate
        :return: ``(g, |E|)``, ``(g,)``, ``(g, K)``
        """
        if not self.is_product:
            p = np.empty((len(asked), len(panel.vectors)), np.float32)
            totals, means = np.empty(len(asked)), np.empty(asked.shape)
            for row, query in enumerate(asked):
                out = p[row], means[row]
                totals[row] = distance_softmax(self.kind, query, panel, left_out, *out)
            return p, totals, means
        p = asked @ panel.vectors.T
        p[:, left_out] = -np.inf
        high = p.max(axis=1, keepdims=True)
        np.exp(np.subtract(p, high, out=p), out=p)
        sums = p.sum(axis=1, keepdims=True)
        p /= sums
        return p, (np.log(sums) + high)[:, 0], p @ panel.vectors

    def slopes(self, query: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return the gradients of a query's scores by it: ``(K,)``, ``(n, K)`` → ``(n, K)``."""
        if self.is_product:
            return vectors
        difference = vectors - query
        if self.kind == L1:
            return np.sign(difference)
        if self.kind == L2:
            lengths = np.sqrt(np.square(difference).sum(axis=1, keepdims=True))
            return np.asarray(difference / np.maximum(lengths, np.float32(1e-12)))
        return 2 * difference

    def compared(self, query: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return the scores of a query: ``(K,)``, ``(n, K)`` → ``(n,)``."""
        if self.is_product:
            return vectors @ query
        if self.kind == L1:
            return -np.abs(vectors - query).sum(axis=1)
        squares = np.square(vectors - query).sum(axis=1)
        return -np.sqrt(squares) if self.kind == L2 else -squares

    def bends(self, query: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return the diagonals of parabolas that touch distances from above: as `slopes`.

        ‖d‖² / 2c + c/2 touches ‖d‖ where ‖d‖ = c; the sum of |dₖ| likewise, term by term
        (iteratively reweighted least squares).
        """
        if self.is_product:
            return np.zeros_like(vectors)
        if self.kind == L1:
            sizes = np.abs(vectors - query)
        else:
            sizes = np.sqrt(np.square(vectors - query).sum(axis=1, keepdims=True))
        if self.kind == L2_SQUARED:
            return np.full_like(vectors, 2)
        return np.asarray(np.broadcast_to(1 / np.maximum(sizes, self._least), vectors.shape))
