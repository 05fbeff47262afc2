"""Gradients that are written out, against those that torch derives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgdash.learning.queries import Batch
from kgdash.learning.softmax import by_distances, by_products

ENTITIES, WIDTH = 9, 4


def batch_of(random: torch.Generator, rows: int) -> Batch:
    sizes = torch.randint(1, 4, (rows,), generator=random)
    answers = torch.randint(0, ENTITIES, (int(sizes.sum()),), generator=random)
    return Batch(torch.zeros(rows, 2, dtype=torch.long), sizes, answers)


@pytest.mark.parametrize("kind", ["products", "distances", "weighted distances"])
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 5), share=st.sampled_from([1.0, 0.25]))
def test_gradients(kind, seed, rows, share):
    random = torch.Generator().manual_seed(seed)
    batch = batch_of(random, rows)

    def drawn(count):
        numbers = torch.randn(count, WIDTH, dtype=torch.float64, generator=random)
        return numbers.requires_grad_()

    query, entities, weights = drawn(rows), drawn(ENTITIES), drawn(rows)
    if kind == "products":
        scores = query @ entities.T
    else:
        used = weights if kind == "weighted distances" else torch.ones_like(weights)
        scores = -(query[:, None] - used[:, None] * entities).norm(dim=-1)
    loss = share * torch.nn.functional.cross_entropy(scores[batch.row], batch.answers)
    loss.backward()

    by_entity = torch.full_like(entities, 3.0)
    plain = (query.detach(), entities.detach(), batch, by_entity, share)
    if kind == "products":
        found, by_query = by_products(*plain)
    else:
        scale = weights.detach() if kind == "weighted distances" else None
        found, by_query, by_scale = by_distances(plain[0], scale, *plain[1:])
        if scale is not None:
            torch.testing.assert_close(by_scale, weights.grad)
    assert found == pytest.approx(loss.item())
    torch.testing.assert_close(by_query, query.grad)
    torch.testing.assert_close(by_entity - 3, entities.grad)


def test_a_distance_of_nothing_is_no_nan():
    vector = torch.ones(1, 2)
    batch = Batch(torch.zeros(1, 2, dtype=torch.long), torch.tensor([1]), torch.tensor([0]))
    for weights in (None, torch.ones(1, 2)):
        by_entity = torch.zeros(1, 2)
        loss, by_query, _ = by_distances(vector, weights, vector, batch, by_entity, 1.0)
        assert loss == pytest.approx(0)
        assert by_query.isfinite().all()
        assert by_entity.isfinite().all()
