"""Triples become rows of queries with their answers, each once in both directions."""

import numpy as np
import torch

from kgdash.learning.queries import Batch, Queries

TRIPLES = np.array([[0, 0, e] for e in range(1, 8)] + [[1, 1, 0], [2, 1, 0]])


def pairs(batches: list[Batch]) -> list[tuple[int, ...]]:
    return sorted(
        (*batch.queries[row].tolist(), answer)
        for batch in batches
        for row, answer in zip(batch.row.tolist(), batch.answers.tolist(), strict=True)
    )


def test_each_triple_once_in_both_directions():
    batches = Queries(TRIPLES, 2, 3).batches(4, torch.Generator().manual_seed(0))
    both = [(h, 2 * r, t) for h, r, t in TRIPLES.tolist()]
    both += [(t, 2 * r + 1, h) for h, r, t in TRIPLES.tolist()]
    assert pairs(batches) == sorted(both)
    assert [len(batch.sizes) for batch in batches] == [4, 4, 5]
    # Seven answers of one query take three rows, two take one; all others have one.
    sizes = sorted(int(size) for batch in batches for size in batch.sizes)
    assert sizes == [1] * 10 + [2, 3, 3]


def test_another_epoch_another_order():
    queries, random = Queries(TRIPLES, 2, 3), torch.Generator().manual_seed(0)
    first, second = (queries.batches(4, random) for _ in range(2))
    assert pairs(first) == pairs(second)
    assert not torch.equal(first[0].queries, second[0].queries)


def test_parts_of_a_batch_are_the_batch():
    (batch,) = Queries(TRIPLES, 2, 3).batches(100, torch.Generator().manual_seed(0))
    assert [len(part.sizes) for part in batch.split(12)] == [13]
    parts = list(batch.split(4))
    assert [len(part.sizes) for part in parts] == [4, 4, 5]
    assert pairs(parts) == pairs([batch])
    assert (batch.share[:, 0] * len(batch.answers)).round().long().equal(batch.sizes)
