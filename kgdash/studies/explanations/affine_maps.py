"""How an entity's vector x makes its query and candidate vectors: x M + c."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgdash.engine.microkernels import DOT
from kgdash.engine.turned_kernels import PRODUCT, SUM
from kgdash.scoring.form_parts import Turning
from kgdash.scoring.pykeen_forms import PyKEENForm


@dataclass(frozen=True)
class AffineMap:
    """A map x → x M + c. Of a diagonal M only the diagonal is kept: it gives the same bits.

    ``matrix``: float32, ``(D, K)``, or the diagonal, ``(D,)``; ``offset``: float32, ``(K,)``.
    """

    matrix: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(cls, form: PyKEENForm, side: str, is_query: bool, relation: int) -> AffineMap:
        """Take the map of `PyKEENForm.role`."""
        with torch.inference_mode():
            matrix, offset = form.role(side, is_query, relation)
        return cls(_thin(matrix.cpu().numpy()), offset.cpu().numpy())

    @property
    def is_diagonal(self) -> bool:
        """Tell whether each number of the vector makes one number."""
        return self.matrix.ndim == 1

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Make the vector: ``(D,)`` → ``(K,)``."""
        made = vector * self.matrix if self.is_diagonal else vector @ self.matrix
        return np.asarray(made + self.offset)

    def back(self, slopes: np.ndarray) -> np.ndarray:
        """Turn gradients by the vector that is made into those by x: ``(n, K)`` → ``(n, D)``."""
        return np.asarray(slopes * self.matrix if self.is_diagonal else slopes @ self.matrix.T)

    def diagonals_back(self, bends: np.ndarray) -> np.ndarray:
        """Turn diagonals of second derivatives likewise, to the diagonal: ``(n, K)`` → ``(n, D)``.

        Products of two numbers of x are left out.
        """
        squares = np.square(self.matrix)
        return np.asarray(bends * squares if self.is_diagonal else bends @ squares.T)

    def outer_back(self, rows: np.ndarray, few: bool) -> np.ndarray:
        """Return M rowsᵀ rows Mᵀ, ``(n, K)`` → ``(D, D)``; ``few``: of M rowsᵀ, as of few rows."""
        if few:
            turned = self.back(rows)
            return np.asarray(turned.T @ turned)
        outer = rows.T @ rows
        if not self.is_diagonal:
            return np.asarray(self.matrix @ outer @ self.matrix.T)
        outer *= self.matrix[:, None]
        outer *= self.matrix
        return np.asarray(outer)

    def before(self, candidates: AffineMap) -> AffineMap:
        """Return the map to what entities' own vectors are compared with, by inner products.

        :param candidates: how entities make the vectors that this one's are compared with
        """
        offset = candidates.back(self.offset[None])[0]
        if candidates.is_diagonal:
            return AffineMap(self.matrix * candidates.matrix, offset)
        if self.is_diagonal:
            turned = np.multiply(self.matrix[:, None], candidates.matrix.T, order="C")
        else:
            turned = self.matrix @ candidates.matrix.T
        return AffineMap(_thin(turned), offset)


def maps_kept(form: PyKEENForm) -> int:
    """Return how many matrices a query that an entity names may ask for, at most."""
    thin = [
        isinstance(use, Turning) and use.kind in (PRODUCT, SUM) for use in (form.left, form.right)
    ]
    if form.kind == DOT or form.right_fixed or form.left_fixed:
        return int(not all(thin[:1] if form.right_fixed else thin))
    return len(thin) - sum(thin)


def _thin(matrix: np.ndarray) -> np.ndarray:
    """Return a square matrix's diagonal if there is nothing beside it, else the matrix."""
    diagonal = np.diagonal(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    # Row by row: most matrices that are none are told by the first.
    if any(np.count_nonzero(row) > int(row[k] != 0) for k, row in enumerate(matrix)):
        return matrix
    return diagonal.copy()
