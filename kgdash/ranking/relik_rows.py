"""Negatives counted out of rows of scores, for models whose form the engine does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from kgdash.engine.row_counting import count_above_thresholds
from kgdash.files.memory import block_bytes
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.sorted_slices import expand_slices
from kgdash.progress import Progress, stretch
from kgdash.scoring import Scorer, score_rows


class _Members(NamedTuple):
    """The triples of a block of anchors: the anchor's row, ascending, and where each stands in it.

    ``position`` is ``relation * |E| + other entity``; int64, ``(n,)`` each.
    """

    row: np.ndarray
    position: np.ndarray


def count_in_rows(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, side: str, progress: Progress
) -> np.ndarray:
    """Count as `relik_exact.count_negatives`, out of rows of scores that the scorer gives.

    Of all scores around an anchor, those of the known triples are subtracted.

    :return: int64, shape ``(n, 2)``: negatives that score higher, and as high
    """
    anchor_of, other_of = (triples[:, 0], triples[:, 2])[:: 1 if side == "head" else -1]
    num_entities, num_relations = scorer.num_entities, scorer.num_relations
    anchors, group = np.unique(anchor_of, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    counts = np.zeros((len(triples), 2), dtype=np.int64)
    position = triples[:, 1] * num_entities + other_of
    for block in _anchor_blocks(len(anchors), num_entities * num_relations):
        rows = order[slice(*np.searchsorted(ordered, [block.start, block.stop]))]
        members = _Members(group[rows] - block.start, position[rows])
        excluded = known.triples_with_entity(anchors[block], side)
        report = stretch(progress, block.start, block.stop, len(anchors))
        around = _AnchorScores(scorer, side, anchors[block], report)
        own = around.own(members)
        for first, scores in around.blocks():
            counts[rows] += count_above_thresholds(scores, own, members.row)
            counts[rows] -= _count_excluded(scores, first, own, members, excluded)
        report(1, 1)
    return counts


def _anchor_blocks(anchors: int, scores_per_anchor: int) -> Iterator[slice]:
    size = max(1, block_bytes() // (4 * scores_per_anchor))
    for start in range(0, anchors, size):
        yield slice(start, min(start + size, anchors))


class _AnchorScores:
    """The scores of all (relation, entity) around some anchors, in blocks of relations.

    The blocks are cut alike each time, so that a score is the same number whenever it is read; the
    latest block is kept, so that what fits into one block is scored once.
    """

    def __init__(self, scorer: Scorer, side: str, anchors: np.ndarray, progress: Progress) -> None:
        self.scorer, self.side, self.anchors = scorer, side, anchors
        self.size = max(1, block_bytes() // (4 * scorer.num_entities * len(anchors)))
        blocks = -(-scorer.num_relations // self.size)
        self._progress, self._scored = progress, 0
        # Of several, each is scored for the triples' own scores, and to count in.
        self._total = blocks if blocks == 1 else 2 * blocks
        self._latest: tuple[int, torch.Tensor] = (-1, torch.empty(0))

    def blocks(self, only: np.ndarray | None = None) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield the position of a block's first candidate and its scores ``(anchors, candidates)``.

        :param only: skip blocks that hold none of these positions, ``relation * |E| + entity``
        """
        width = self.scorer.num_entities
        for start in range(0, self.scorer.num_relations, self.size):
            first, last = start * width, (start + self.size) * width
            if only is None or ((only >= first) & (only < last)).any():
                yield first, self._scores(start)

    def _scores(self, start: int) -> torch.Tensor:
        if self._latest[0] != start:
            relations = np.arange(start, min(start + self.size, self.scorer.num_relations))
            anchor = np.repeat(self.anchors, len(relations))
            relation = np.tile(relations, len(self.anchors))
            columns = (anchor, relation) if self.side == "head" else (relation, anchor)
            candidates = "tail" if self.side == "head" else "head"
            report = stretch(self._progress, self._scored, self._scored + 1, self._total)
            scores = score_rows(self.scorer, candidates, np.stack(columns, axis=1), report)
            self._scored += 1
            self._latest = start, scores.reshape(len(self.anchors), -1)
        return self._latest[1]

    def own(self, members: _Members) -> torch.Tensor:
        """Read each triple's score out of the very block that its negatives are counted in."""
        parts, where, position = [], [], members.position
        for first, scores in self.blocks(only=position):
            inside = np.flatnonzero((position >= first) & (position < first + scores.shape[1]))
            row = torch.from_numpy(members.row[inside]).to(scores.device)
            column = torch.from_numpy(position[inside] - first).to(scores.device)
            parts.append(scores[row, column])
            where.append(inside)
        order = torch.from_numpy(np.argsort(np.concatenate(where)))
        return torch.cat(parts)[order.to(parts[0].device)]


def _count_excluded(
    scores: torch.Tensor,
    first: int,
    own: torch.Tensor,
    members: _Members,
    excluded: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Count what the known triples, and the triple itself, added to a block: int64 ``(n, 2)``.

    :param first: position of the block's first column
    :param own: each member's score
    :param excluded: the anchor's row of each known triple, ascending, and its position
    """
    (owner, taken), (row, position) = excluded, members
    starts = np.searchsorted(owner, np.arange(scores.shape[0] + 1))
    triple, place = expand_slices(starts[row], np.diff(starts)[row])
    known = taken[place]
    other = known != position[triple]
    triple = np.concatenate([triple[other], np.arange(len(row))])
    column = np.concatenate([known[other], position]) - first
    inside = (column >= 0) & (column < scores.shape[1])
    triple, column = triple[inside], column[inside]
    values = scores[
        torch.from_numpy(row[triple]).to(scores.device),
        torch.from_numpy(column).to(scores.device),
    ]
    thresholds = own[torch.from_numpy(triple).to(scores.device)]
    hits = ((values > thresholds).cpu().numpy(), (values == thresholds).cpu().numpy())
    return np.stack([np.bincount(triple[h], minlength=len(row)) for h in hits], axis=1)
