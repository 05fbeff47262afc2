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
from kgdash.graph.sorted_slices import expand_slices
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
    triple_row, triple_group = asked.row, groups[asked.row]
    device = form.device
    columns = form.num_entities if entities is None else len(entities)
    rows = max(1, memory_budget() // _PART // (4 * columns))
    tasks = list(_tasks(relations, rows))
    own = torch.empty(len(triple_row), dtype=torch.float32, device=device)
    order = np.argsort(triple_row, kind="stable")
    ordered = triple_row[order]
    for number, (first, last) in enumerate(tasks):
        inside = order[slice(*np.searchsorted(ordered, [first, last]))]
        if len(inside):
            vectors = candidate_vectors(form, asked.side, int(relations[first]), entities)
            scores = pairwise(form.kind, queries[first:last], vectors)
            own[_put(inside, device)] = scores[
                _put(triple_row[inside] - first, device), _put(place[inside], device)
            ]
        progress(number + 1, 2 * len(tasks))
    total = torch.zeros((len(triple_row), 2), dtype=torch.int64, device=device)
    by_group = np.argsort(triple_group, kind="stable")
    starts = np.searchsorted(triple_group[by_group], np.arange(groups.max(initial=-1) + 2))
    for number, (first, last) in enumerate(tasks):
        vectors = candidate_vectors(form, asked.side, int(relations[first]), entities)
        scores = pairwise(form.kind, queries[first:last], vectors)
        left_out = slice(masks.starts[first], masks.starts[last])
        lengths = np.diff(masks.starts[first : last + 1])
        row = np.repeat(np.arange(last - first), lengths)
        # NaN exceeds nothing and equals nothing.
        scores[_put(row, device), _put(masks.columns[left_out], device)] = float("nan")
        here = groups[first:last]
        row, member = expand_slices(starts[here], starts[here + 1] - starts[here])
        triples = by_group[member]
        for start in range(0, len(triples), rows):
            part = _put(triples[start : start + rows], device)
            theirs = scores[_put(row[start : start + rows], device)]
            threshold = own[part, None]
            total[part, 0] += (theirs > threshold).sum(dim=1)
            total[part, 1] += (theirs == threshold).sum(dim=1)
        progress(len(tasks) + number + 1, 2 * len(tasks))
    counts = total.cpu().numpy()
    return counts[:, 0], counts[:, 1]


def _tasks(relations: np.ndarray, rows: int) -> Iterator[tuple[int, int]]:
    """Cut rows into parts of one relation each."""
    cuts = [*np.flatnonzero(np.diff(relations, prepend=-1)).tolist(), len(relations)]
    for start, stop in itertools.pairwise(cuts):
        for first in range(start, stop, rows):
            yield first, min(first + rows, stop)


def _put(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
