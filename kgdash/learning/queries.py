"""Training triples as queries (entity, relation, ?) with their answers, in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Batch:
    """Queries that are trained together: a row each, with one answer or more.

    ``queries``: entity and relation of each row, int64, ``(b, 2)``; ``sizes``: answers of each row,
    int64, ``(b,)``; ``answers``: entities, row after row, int64, ``(sizes.sum(),)``.
    """

    queries: torch.Tensor
    sizes: torch.Tensor
    answers: torch.Tensor

    @property
    def row(self) -> torch.Tensor:
        """Return the row of each answer."""
        return torch.repeat_interleave(torch.arange(len(self.sizes)), self.sizes)

    @property
    def share(self) -> torch.Tensor:
        """Return which part of the batch's answers each row has, ``(b, 1)``."""
        return (self.sizes / len(self.answers)).unsqueeze(1)

    def split(self, rows: int) -> Iterator[Batch]:
        """Cut the batch into smaller ones, of two rows or more."""
        lengths = _lengths(len(self.sizes), rows)
        sizes = self.sizes.split(lengths)
        answers = self.answers.split([int(each.sum()) for each in sizes])
        return (
            Batch(*part) for part in zip(self.queries.split(lengths), sizes, answers, strict=True)
        )


def _lengths(count: int, rows: int) -> list[int]:
    """Return how many rows parts have: none has one alone, whose batch norm were undefined."""
    lengths = [min(rows, count - start) for start in range(0, count, rows)]
    if len(lengths) > 1 and lengths[-1] == 1:
        lengths[-2:] = [lengths[-2] + 1]
    return lengths


class Queries:
    """All training triples, each as a query for its tail and one for its head."""

    def __init__(self, triples: np.ndarray, num_relations: int, answers: int) -> None:
        """Turn triples around.

        :param triples: int64, ``(n, 3)``
        :param answers: of one query that share a row at most; others get a row of their own
        """
        h, r, t = torch.from_numpy(triples).T
        # PyKEEN interleaves the inverse of relation r as 2r + 1.
        self.triples = torch.cat([torch.stack([h, 2 * r, t], 1), torch.stack([t, 2 * r + 1, h], 1)])
        self._relations, self._answers = 2 * num_relations, answers

    def batches(self, rows: int, random: torch.Generator) -> list[Batch]:
        """Mix the answers of each query, cut them into rows and mix these.

        :param rows: of a batch, 2 or more
        """
        triples, firsts = self._rows(random)
        ends = torch.cat([firsts[1:], torch.tensor([len(triples)])])
        batches = []
        mixed = torch.randperm(len(firsts), generator=random)
        for chosen in mixed.split(_lengths(len(firsts), rows)):
            sizes = ends[chosen] - firsts[chosen]
            shift = torch.cumsum(sizes, 0) - sizes - firsts[chosen]
            places = torch.arange(int(sizes.sum())) - torch.repeat_interleave(shift, sizes)
            batches.append(Batch(triples[firsts[chosen], :2], sizes, triples[places, 2]))
        return batches

    def _rows(self, random: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the triples, query by query, and where rows begin."""
        mixed = self.triples[torch.randperm(len(self.triples), generator=random)]
        query = mixed[:, 0] * self._relations + mixed[:, 1]
        order = torch.argsort(query, stable=True)
        mixed, query = mixed[order], query[order]
        places = torch.arange(len(query))
        is_first = torch.ones(len(query), dtype=torch.bool)
        is_first[1:] = query[1:] != query[:-1]
        start = places[is_first][torch.cumsum(is_first, 0) - 1]
        return mixed, places[(places - start) % self._answers == 0]
