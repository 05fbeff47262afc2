"""A model in the engine's form whose scores are exact, so that ties are known: a fake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgdash.engine.form import Turn
from kgdash.engine.microkernels import DOT
from kgdash.engine.turned_kernels import PRODUCT, SUM
from tests.support.fakes import FakeScorer
from tests.support.plain_counts import integers, reference


@dataclass(frozen=True)
class WholeNumbers:
    """Vectors of small whole numbers: the left one is e + r, the right one is e or e · r'.

    With ``inverse``, heads are scored through other relation vectors and change places with tails.
    """

    kind: int
    entities: torch.Tensor
    relations: torch.Tensor
    right_relations: torch.Tensor | None = None
    inverse: torch.Tensor | None = None
    #: how the model tells that its vectors are cheap and do not depend on the batch
    elementwise: bool = True
    #: the model tells how relations turn candidates
    turns: bool = True
    name = "Fake"
    device = torch.device("cpu")

    @classmethod
    def of(
        cls,
        kind: int,
        entities: int,
        relations: int,
        seed: int,
        fixed: bool = True,
        inverse: bool = False,
        dimension: int = 2,
        elementwise: bool = True,
        turns: bool = True,
    ) -> WholeNumbers:
        vectors = (
            torch.from_numpy(integers((n, dimension), seed + i))
            for i, n in enumerate((entities, relations, relations, relations))
        )
        entity, relation, right, inverted = vectors
        return cls(
            *(kind, entity, relation, None if fixed else right),
            *(inverted if inverse else None, elementwise, turns),
        )

    @property
    def dimension(self) -> int:
        return self.entities.shape[1]

    @property
    def num_entities(self) -> int:
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        return len(self.relations)

    @property
    def one_function(self) -> bool:
        return self.inverse is None and self.elementwise

    def is_fixed(self, side: str) -> bool:
        return self.right_relations is None and (side == "tail" or self.inverse is not None)

    def turn(self, side: str) -> Turn | None:
        if not self.turns or self.is_fixed(side):
            return None
        if side == "tail" or self.inverse is not None:
            return Turn(PRODUCT, self.entities, self.right_relations.numpy())
        return Turn(SUM, self.entities, self.relations.numpy())

    def _left(self, side: str, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        inverted = self.inverse is not None and side == "head"
        return self.entities[entities] + (self.inverse if inverted else self.relations)[relations]

    def _right(self, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        found = self.entities[entities]
        return found if self.right_relations is None else found * self.right_relations[relations]

    def queries(self, side: str, anchors: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        if side == "tail" or self.inverse is not None:
            return self._left(side, anchors, relations)
        return self._right(anchors, relations)

    def vectors(self, side: str, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        if side == "tail" or self.inverse is not None:
            return self._right(entities, relations)
        return self._left(side, entities, relations)

    def scorer(self) -> FakeScorer:
        """Return all scores, computed otherwise, as a table ``(|E|, |R|, |E|)`` per side."""
        everyone = torch.arange(self.num_entities)
        tails, heads = (
            np.empty((len(everyone), self.num_relations, len(everyone)), np.float32)
            for _ in range(2)
        )
        for number in range(self.num_relations):
            relation = torch.full_like(everyone, number)
            right = self._right(everyone, relation).numpy()
            tails[:, number] = reference(
                self.kind, self._left("tail", everyone, relation).numpy(), right
            )
            # With inverses the candidate heads stand on the right.
            heads[:, number] = reference(
                self.kind, self._left("head", everyone, relation).numpy(), right
            ).T
        return FakeScorer(tails, heads if self.inverse is not None else None)


#: one of each shape that a form can have: (kind, candidates fixed, heads through inverses)
SHAPES = [
    (kind, fixed, inverse)
    for kind in (DOT, 1, 2, 3)
    for fixed, inverse in ((True, False), (False, False), (True, True), (False, True))
]
