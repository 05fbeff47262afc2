"""A model's own geometry: its entities as real vectors, and how far they are from one another."""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from pykeen.nn import modules

from kgdash.scoring.protocol import Scorer


@dataclass(frozen=True)
class EntityVectors:
    """One real vector per entity: float32, ``(|E|, K)``.

    ``distance``: "L1" or "L2" where the model scores by that norm, else "cosine" (one minus the
    cosine), as inner products compare directions.
    """

    values: np.ndarray
    distance: str

    def distances_from(self, entity: int) -> np.ndarray:
        """Return how far all entities are from one: float64, ``(|E|,)``, ≥ 0.

        A zero vector has no direction: its cosine with any other counts as 0.
        """
        values = self.values
        if self.distance == "cosine":
            lengths = np.linalg.norm(values, axis=1).astype(np.float64)
            product = (values @ values[entity]).astype(np.float64)
            scale = lengths * lengths[entity]
            cosine = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
            return np.clip(1 - cosine, 0, 2)
        difference = values - values[entity]
        order = 1 if self.distance == "L1" else 2
        return np.linalg.norm(difference, order, axis=1).astype(np.float64)


@torch.inference_mode()
def entity_vectors(scorer: Scorer) -> EntityVectors | None:
    """Return a model's entities as vectors, or None if it has none that could be compared.

    Complex numbers are taken as two reals. Where an entity has several vectors, as for head and
    tail, they stand one after another; biases, and what `own_columns` leaves out, do not.
    """
    model = getattr(scorer, "model", None)
    parts = []
    for representation in getattr(model, "entity_representations", ()):
        values = representation(None).detach().cpu()
        values = torch.view_as_real(values) if values.is_complex() else values
        values = values.reshape(len(values), -1)
        if values.shape[1] > 1:
            parts.append(values.to(torch.float32))
    if not parts or len(parts[0]) != scorer.num_entities:
        return None
    together = torch.cat(parts, dim=1).numpy()
    if not np.isfinite(together).all():
        return None
    if len(own := own_columns(together)):
        together = together[:, own]
    return EntityVectors(together, _distance(getattr(model, "interaction", None)))


def own_columns(values: np.ndarray) -> list[int]:
    """Return which columns are neither the same number for all nor another one once more.

    Models that are read as CP have such: a bias's 1, an entity's vector as head and as tail.

    :param values: float, ``(n, K)``
    """
    if len(values) < 2:
        return list(range(values.shape[1]))
    own: dict[bytes, int] = {}  # by digest: many may begin alike
    for at, column in enumerate(values.T):
        if (column != column[0]).any():
            own.setdefault(hashlib.sha256(column.tobytes()).digest(), at)
    return list(own.values())


def _distance(interaction: object) -> str:
    """Name the distance of a norm-based interaction; those on a torus are compared by direction."""
    if isinstance(interaction, modules.RotatEInteraction):
        return "L2"  # whatever p says, as PyKEEN scores it
    if isinstance(interaction, modules.TorusEInteraction):
        return "cosine"
    if isinstance(interaction, modules.NormBasedInteraction):
        return "L1" if interaction.p == 1 else "L2"
    return "cosine"
