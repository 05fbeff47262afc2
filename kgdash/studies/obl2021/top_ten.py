"""The task of OBL2021: the ten best heads and tails of every triple, and what they hit.

Defined in numbers.md#10-obl2021.

Source: Breit, Ott, Agibetov, Samwald, "OpenBioLink: a benchmarking framework for large-scale
biomedical link prediction", Bioinformatics 2020, and the evaluator of openbiolink 0.1.4.
"""

import numpy as np
import pandas as pd
import torch

from kgdash.engine.kernels import Masks
from kgdash.engine.tasks import no_masks, sorted_masks
from kgdash.engine.top_kernels import best_of_rows, scrambled
from kgdash.engine.workers import run_in_threads
from kgdash.errors import KgdashError, check_name
from kgdash.files.memory import block_bytes
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS, default_filter, triple_array
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent, stretch
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES, score_rows

#: entities in a row, and what stands in a row's last places where fewer candidates are left
TOP, NOBODY = 10, -1

#: how equal scores are ordered: by a random key that follows from the seed, or by ascending id.
#: "The true answer first" is no policy of this task.
TIES = ("random", "ordinal")

#: rows of scores that a thread looks through at once
_ROWS = 64


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
    into blocks. What was found is kept on disk.

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
    drawn = seed if ties == "random" else None
    key = {"kind": "ten best", "stored": 1, "filter": chosen, "seed": drawn}

    def find() -> pd.DataFrame:
        known = None if chosen == "none" else graph.known_with(rows, FILTERS[chosen])
        reports = phases(progress, [1.0, 1.0])
        return pd.concat(
            [
                pd.DataFrame(_top(run, rows, known, side, drawn, report)).add_prefix(f"{side} ")
                for side, report in zip(ENTITY_SIDES, reports, strict=True)
            ],
            axis=1,
        )

    about = run.table_about("ranks", rows, method="ten best", filter=chosen)
    table = cached_table(key | run.table_key(rows), find, about, progress)
    heads, tails = np.hsplit(np.ascontiguousarray(table.to_numpy()), 2)
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
    queries, _, query_of, _ = distinct_rows(triples[:, columns])
    order = np.argsort(query_of, kind="stable")
    found = np.empty((len(triples), TOP), dtype=np.int64)
    step = max(1, block_bytes() // (4 * run.graph.num_entities))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        first, last = np.searchsorted(query_of[order], [start, start + len(block)])
        rows = order[first:last]
        query = query_of[rows] - start
        report = stretch(progress, start, start + len(block), len(queries))
        scores = _numbers(score_rows(run.scorer, side, block, report))
        best = _best(scores, _answers(known, block, side), _Keys(seed, side, block))
        own = triples[rows, answer]
        is_known = known is not None
        found[rows] = (
            best.with_own(query, own, scores[query, own]) if is_known else best.entity[query]
        )
        report(1, 1)
    return found


def _numbers(scores: torch.Tensor) -> np.ndarray:
    """Return scores as the kernels take them; half precision is made float32."""
    exact = scores if scores.dtype in (torch.float32, torch.float64) else scores.float()
    return np.ascontiguousarray(exact.cpu().numpy())


def _answers(known: KnownTriples | None, queries: np.ndarray, side: str) -> Masks:
    """Find the known answers of queries."""
    if known is None:
        return no_masks(len(queries))
    answer = SIDES[side][1]
    owner, entity = known.known_answers(np.insert(queries, answer, 0, axis=1), side)
    return sorted_masks(owner, entity, len(queries))


class _Keys:
    """What orders candidates of equal score: less comes first."""

    def __init__(self, seed: int | None, side: str, queries: np.ndarray) -> None:
        """Make keys that are random by ``seed``, or the ids if it is None."""
        self.is_random = seed is not None
        self.start = np.full(len(queries), (seed or 0) % 2**64, dtype=np.uint64)
        for part in (np.full(len(queries), side == "head"), queries[:, 0], queries[:, 1]):
            self.start = scrambled(self.start, part.astype(np.uint64))

    def of(self, query: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Return the keys of entities as answers of queries (positions): uint64."""
        keys = entity.astype(np.uint64)
        return scrambled(self.start[query], keys) if self.is_random else keys


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


def _best(scores: np.ndarray, known: Masks, keys: _Keys) -> _Best:
    """Find the ten best of each row, known answers removed.

    :param scores: shape ``(b, |E|)``, no NaN
    :param known: the answers to remove
    :param keys: order among equal scores
    """
    best = _Best(len(scores), scores.dtype, keys)

    def work(start: int, _: None) -> float:
        rows = slice(start, start + _ROWS)
        best_of_rows(
            scores[rows],
            Masks(known.starts[start : start + _ROWS + 1], known.columns),
            keys.start[rows] if keys.is_random else keys.start[:0],
            best.entity[rows],
            best.score[rows],
            best.key[rows],
        )
        return 1.0

    run_in_threads(range(0, len(scores), _ROWS), work, lambda: None, 1.0, silent)
    return best
