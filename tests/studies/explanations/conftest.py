"""Small trained-looking models, and the loss of an entity's facts written out in full."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kgdash.runs.loading import assemble
from kgdash.scoring.build_model import scoring_state
from kgdash.scoring.model_spec import ModelSpec
from tests.support.fakes import make_graph

KINDS = {
    "DistMult": ({"embedding_dim": 6}, False),
    "ComplEx": ({"embedding_dim": 3}, True),
    "TransE": ({"embedding_dim": 6, "scoring_fct_norm": 2}, False),
    "RotatE": ({"embedding_dim": 3}, False),
}


def small_graph():
    """Make a graph of 14 entities, with few rules: some facts follow from others."""
    rng = np.random.default_rng(2)
    facts = {tuple(row) for row in rng.integers(0, (14, 3, 14), (70, 3)).tolist()}
    facts |= {(t, 3, h) for h, r, t in sorted(facts) if r == 0}
    facts |= {(i, r, (i + 1) % 14) for i in range(14) for r in (1, 4)}
    held = sorted(fact for fact in facts if fact[0] != fact[2])[::9]
    return make_graph(sorted(facts - set(held)), test=held, entities=14, relations=5)


class Written:
    """A model of random weights, as a run; scores come from PyKEEN."""

    def __init__(self, name: str, kwargs: dict, inverse: bool) -> None:
        from pykeen.models import model_resolver
        from pykeen.triples import TriplesFactory

        self.graph = small_graph()
        factory = TriplesFactory(
            torch.from_numpy(self.graph.split("train")),
            {e: i for i, e in enumerate(self.graph.entities)},
            {r: i for i, r in enumerate(self.graph.relations)},
            create_inverse_triples=inverse,
        )
        self.model = model_resolver.make(
            name, kwargs, triples_factory=factory, random_seed=3
        ).eval()
        spec = ModelSpec(name, kwargs, inverse)
        self.run = assemble(name, self.graph, spec, scoring_state(self.model), {}, {})

    def weights(self) -> torch.Tensor:
        (embedding,) = (p for p in self.model.entity_representations[0].parameters())
        return embedding.data

    def rows(self, entity: int, x: np.ndarray, side: str, queries: np.ndarray) -> torch.Tensor:
        """Score queries, ``(n, 2)``, with another vector of an entity."""
        weights = self.weights()
        before = weights[entity].clone()
        weights[entity] = torch.from_numpy(x).float().reshape(before.shape)
        score = self.model.predict_t if side == "tail" else self.model.predict_h
        found = score(torch.from_numpy(np.ascontiguousarray(queries))).detach().double()
        weights[entity] = before
        return found

    def losses(self, entity: int, facts: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return both terms of each fact, summed, by their definition."""
        found = []
        for fact in facts:
            h, r, t = fact.tolist()
            own = "tail" if h == entity else "head"
            total = 0.0
            for side, query, answer in (("tail", (h, r), t), ("head", (r, t), h)):
                scores = self.rows(entity, x, side, np.array([query]))[0]
                if side == own:
                    scores[entity] = -torch.inf
                total -= float(torch.log_softmax(scores, 0)[answer])
            found.append(total)
        return np.array(found)


@pytest.fixture(scope="session")
def written():
    made: dict[str, Written] = {}

    def make(name: str) -> Written:
        if name not in made:
            made[name] = Written(name, *KINDS[name])
        return made[name]

    return make
