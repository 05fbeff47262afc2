"""The task of OBL2021: the ten best heads and tails of every triple, and what they hit.

Defined in numbers.md#10-obl2021.

Source: Breit, Ott, Agibetov, Samwald, "OpenBioLink: a benchmarking framework for large-scale
biomedical link prediction", Bioinformatics 2020, and the evaluator of openbiolink 0.1.4.
"""

import numpy as np
import torch

from kgdash.engine.memory import block_bytes
from kgdash.errors import KgdashError, check_name
from kgdash.graph import FILTERS, default_filter, triple_array
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring import score_rows

#: entities in a row, and what stands in a row's last places where fewer candidates are left
TOP, NOBODY = 10, -1

#: how equal scores are ordered: by a random key that follows from the seed, or by ascending id.
#: "The true answer first" is no policy of this task.
TIES = ("random", "ordinal")

_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)


def predict(
    run: Run,
    triples: str | np.ndarray = "test",
    ties: str = "random",
    seed: int = 0,
    filter: str | None = None,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the ten best heads and the ten best tails for each triple.

    Candidates are those of `Run.ranks`: known answers other than the triple's own are removed
    (numbers.md#1-ranks). Each distinct query is scored once. Nothing depends on how scores are cut
    into blocks.

    :param triples: "train", "valid" or "test"; or int64 ids, shape ``(n, 3)``, in the order that
        the rows shall have
    :param ties: "random" or "ordinal", see `TIES`
    :param seed: of the random ties, ≥ 0
    :param filter: what counts as known besides the triples themselves: "train+valid+test",
        "train+valid", "train+test" or "none"; default: train+valid on valid, else all three
    :return: ``top10_heads`` and ``top10_tails``: int64, shape ``(n, 10)``, column j the id of the
        entity ranked j + 1; `NOBODY` in the last places of rows with fewer than ten candidates
    :raises KgdashError: on an unknown split, policy or filter, a negative seed, or NaN scores
    """
    check_name("tie policy", ties, TIES, "OBL2021")
    if seed < 0:
        raise KgdashError(f"expected a seed of at least 0; found {seed}")
    chosen = filter or default_filter(triples if isinstance(triples, str) else None)
    check_name("filter", chosen, FILTERS, "kgdash")
    graph = run.graph
    rows = graph.split(triples) if isinstance(triples, str) else triple_array(triples, graph)
    known = None if chosen == "none" else graph.known_with(rows, FILTERS[chosen])
    heads, tails = (
        _top(run, rows, known, side, seed if ties == "random" else None, report)
        for side, report in zip(("head", "tail"), phases(progress, [1.0, 1.0]), strict=True)
    )
    return heads, tails


def _top(
    run: Run,
    triples: np.ndarray,
    known: KnownTriples | None,
    side: str,
    seed: int | None,
    progress: Progress,
) -> np.ndarray:
    """Find the ten best answers on one side: int64, shape ``(n, 10)``."""
    columns, answer = SIDES[side]
    queries, query_of = np.unique(triples[:, columns], axis=0, return_inverse=True)
    order = np.argsort(query_of, kind="stable")
    found = np.empty((len(triples), TOP), dtype=np.int64)
    # The candidates that tie for the tenth place, all of them at worst, take some 40 bytes each.
    step = max(1, block_bytes() // (16 * run.graph.num_entities))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        first, last = np.searchsorted(query_of[order], [start, start + len(block)])
        rows = order[first:last]
        query = query_of[rows] - start
        scores = score_rows(run.scorer, side, block)
        best = _best(scores, _answers(known, block, side), _Keys(seed, side, block))
        own = triples[rows, answer]
        if known is None:
            found[rows] = best.entity[query]
        else:
            where = torch.from_numpy(query).to(scores.device)
            score = scores[where, torch.from_numpy(own).to(scores.device)].cpu().numpy()
            found[rows] = best.with_own(query, own, score)
        progress(start + len(block), len(queries))
    return found


def _answers(
    known: KnownTriples | None, queries: np.ndarray, side: str
) -> tuple[np.ndarray, np.ndarray]:
    """Find the known answers of queries: position of the query, and entity."""
    if known is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    answer = SIDES[side][1]
    return known.known_answers(np.insert(queries, answer, 0, axis=1), side)


class _Keys:
    """What orders candidates of equal score: less comes first."""

    def __init__(self, seed: int | None, side: str, queries: np.ndarray) -> None:
        """Make keys that are random by ``seed``, or the ids if it is None."""
        self._queries = None
        if seed is not None:
            start = np.full(len(queries), seed % 2**64, dtype=np.uint64)
            for part in (np.full(len(queries), side == "head"), queries[:, 0], queries[:, 1]):
                start = _mix(start, part)
            self._queries = start

    def of(self, query: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Return the keys of entities as answers of queries (positions): uint64."""
        if self._queries is None:
            return entity.astype(np.uint64)
        return _mix(self._queries[query], entity)


def _mix(state: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Scramble 64 bits as SplitMix64 does (Steele, Lea and Flood 2014)."""
    mixed = (state ^ value.astype(np.uint64)) + _STEP
    for shift, factor in zip((30, 27), _MIXERS, strict=True):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed ^ (mixed >> np.uint64(31))


class _Best:
    """The ten best candidates of each query that are not known answers, best first."""

    def __init__(self, queries: int, dtype: np.dtype, keys: _Keys) -> None:
        self.entity = np.full((queries, TOP), NOBODY, dtype=np.int64)
        self.score = np.zeros((queries, TOP), dtype=dtype)
        self.key = np.zeros((queries, TOP), dtype=np.uint64)
        self._keys = keys

    def with_own(self, query: np.ndarray, own: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Put each triple's own answer in its place.

        :param query: position of the triple's query, shape ``(n,)``
        :param own: the answer, shape ``(n,)``
        :param score: its score, shape ``(n,)``
        :return: int64, shape ``(n, 10)``
        """
        entity, key = self.entity[query], self._keys.of(query, own)[:, None]
        first = self.key[query] < key
        better = (self.score[query] > score[:, None]) | (
            (self.score[query] == score[:, None]) & first
        )
        place = (better & (entity != NOBODY)).sum(axis=1, keepdims=True)
        column = np.arange(TOP)
        moved = np.concatenate([entity[:, :1], entity[:, :-1]], axis=1)
        return np.where(column < place, entity, np.where(column == place, own[:, None], moved))


def _best(scores: torch.Tensor, known: tuple[np.ndarray, np.ndarray], keys: _Keys) -> _Best:
    """Find the ten best of each row, known answers removed.

    :param scores: shape ``(b, |E|)``, no NaN
    :param known: rows and columns of the answers to remove
    :param keys: order among equal scores
    """
    allowed = torch.ones_like(scores, dtype=torch.bool)
    allowed[tuple(torch.from_numpy(part).to(scores.device) for part in known)] = False
    left = torch.where(allowed, scores, float("-inf"))
    # -inf is a legal score too: where fewer than ten are left, the least is -inf and all pass.
    least = left.topk(min(TOP, left.shape[1]), dim=1).values[:, -1:]
    inside = torch.nonzero(allowed & (scores >= least), as_tuple=True)
    score = scores[inside].cpu().numpy()
    row, entity = (part.cpu().numpy() for part in inside)
    key = keys.of(row, entity)
    order = np.lexsort((key, -score, row))
    row = row[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    kept, best = place < TOP, _Best(len(scores), score.dtype, keys)
    target, source = (row[kept], place[kept]), order[kept]
    best.entity[target], best.score[target] = entity[source], score[source]
    best.key[target] = key[source]
    return best
