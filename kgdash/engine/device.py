"""The engine's counting in PyTorch operations, for accelerators.

Tiles are matrix products or distances of all candidates under one relation. They are computed
twice, cut alike: first for the triples' own scores, so that these are the very numbers of the rows,
then for the counts. What is exact on the CPU is exact here; the two may round differently.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import torch

from kgdash.engine.form import InteractionForm, candidate_vectors, query_tensor
from kgdash.engine.microkernels import DOT, L1, L2
from kgdash.engine.tasks import Asked
from kgdash.files.memory import memory_budget
from kgdash.progress import Progress

#: the part of the memory budget that a tile may take, and that its comparisons may
_PART = 8


def pairwise(kind: int, queries: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Score all queries against all vectors: ``(n, K)``, ``(m, K)`` → ``(n, m)``."""
    if kind == DOT:
        return queries @ vectors.T
    if kind == L1:
        return -torch.cdist(queries, vectors, p=1.0)
    # The product form of the Euclidean distance cancels where vectors are close.
    distance = torch.cdist(queries, vectors, 2.0, "donot_use_mm_for_euclid_dist")
    return -distance if kind == L2 else -(distance * distance)


@torch.inference_mode()
def count_rows_on_device(
    form: InteractionForm, asked: Asked, groups: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Count, for each triple, the scores of its group that exceed and that equal its own.

    :param groups: the group of each row, int64, ``(rows,)``; one has a row per relation at most
    :return: int64, ``(n,)`` each
    """
    queries = query_tensor(form, asked.side, asked.anchors, asked.relations)
    relations, masks, entities = asked.relations, asked.masks, asked.entities
    place = asked.answer if entities is None else np.searchsorted(entities, asked.answer)
    device = form.device
    columns = form.num_entities if entities is None else len(entities)
    rows = max(1, memory_budget() // _PART // (4 * columns))
    tasks = list(_tasks(relations, rows))
    own = torch.empty(len(asked.row), dtype=torch.float32, device=device)
    order = np.argsort(asked.row, kind="stable")
    ordered = asked.row[order]
    # All goes to the device at once: it waits for each copy.
    triple, row, column = (_put(each, device) for each in (order, ordered, place[order]))
    for number, (first, last) in enumerate(tasks):
        inside = slice(*np.searchsorted(ordered, [first, last]))
        if inside.start < inside.stop:
            vectors = candidate_vectors(form, asked.side, int(relations[first]), entities)
            scores = pairwise(form.kind, queries[first:last], vectors)
            own[triple[inside]] = scores[row[inside] - first, column[inside]]
        progress(number + 1, 2 * len(tasks))
    total = torch.zeros((len(asked.row), 2), dtype=torch.int64, device=device)
    by_group, starts, counts = _members(groups, groups[asked.row])
    ends = np.concatenate([[0], np.cumsum(counts)])
    triples, shift, each = (_put(part, device) for part in (by_group, starts - ends[:-1], counts))
    masked_row = _put(np.repeat(np.arange(len(relations)), np.diff(masks.starts)), device)
    masked_column = _put(masks.columns, device)
    for number, (first, last) in enumerate(tasks):
        vectors = candidate_vectors(form, asked.side, int(relations[first]), entities)
        scores = pairwise(form.kind, queries[first:last], vectors)
        left_out = slice(masks.starts[first], masks.starts[last])
        # NaN exceeds nothing and equals nothing.
        scores[masked_row[left_out] - first, masked_column[left_out]] = float("nan")
        here, begin, end = slice(first, last), int(ends[first]), int(ends[last])
        row = torch.arange(last - first, device=device)
        row = row.repeat_interleave(each[here], output_size=end - begin)
        triple = triples[torch.arange(begin, end, device=device) + shift[here][row]]
        for start in range(0, end - begin, rows):
            part = triple[start : start + rows]
            theirs, threshold = scores[row[start : start + rows]], own[part, None]
            total[part, 0] += (theirs > threshold).sum(dim=1)
            total[part, 1] += (theirs == threshold).sum(dim=1)
        progress(len(tasks) + number + 1, 2 * len(tasks))
    counts = total.cpu().numpy()
    return counts[:, 0], counts[:, 1]


def _members(
    groups: np.ndarray, of_triple: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort triples by their groups.

    :return: int64: the triples, ``(n,)``, and, for each row, where those of its group start among
        them and how many they are, ``(rows,)``
    """
    by_group = np.argsort(of_triple, kind="stable")
    starts = np.searchsorted(of_triple[by_group], np.arange(groups.max(initial=-1) + 2))
    return by_group, starts[groups], starts[groups + 1] - starts[groups]


def _tasks(relations: np.ndarray, rows: int) -> Iterator[tuple[int, int]]:
    """Cut rows into parts of one relation each."""
    cuts = [*np.flatnonzero(np.diff(relations, prepend=-1)).tolist(), len(relations)]
    for start, stop in itertools.pairwise(cuts):
        for first in range(start, stop, rows):
            yield first, min(first + rows, stop)


def _put(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
