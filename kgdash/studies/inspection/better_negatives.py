"""The negatives that score higher than a triple, around its head and around its tail.

What they are is said by numbers.md#4-relik; here they are counted by relation and by the type of
the entity that stands in place of the triple's own.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.files.memory import block_bytes
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_types import EntityTypes
from kgdash.progress import Progress, silent, stretch
from kgdash.runs import Run
from kgdash.scoring import score_rows

#: the group of entities that have no type
UNTYPED = "(no type)"

#: relations that are scored before it is told how many are done
_MOST_RELATIONS = 4_096


@dataclass(frozen=True)
class BetterNegatives:
    """The negatives around one end that score strictly higher than the triple.

    ``side``: the end that they share, "head" or "tail". ``count`` of ``negatives``, the triple
    itself never among them, score higher: `Run.relik`'s rank is one more. ``by_relation``: int64,
    ``(|R|,)``. ``by_entity``: int64, ``(|E|,)``, by the entity at the other end. ``best``: the
    highest of them, best first: ``head, relation, tail`` (ids), ``score``.
    """

    side: str
    count: int
    negatives: int
    by_relation: np.ndarray
    by_entity: np.ndarray
    best: pd.DataFrame

    def relations(self) -> pd.DataFrame:
        """Return the relations that have any, those with most first.

        :return: ``relation`` (int64 id), ``count`` (int64), ``share`` (float64, of all that beat)
        """
        found = np.argsort(-self.by_relation, kind="stable")
        found = found[: np.count_nonzero(self.by_relation)]
        counts = self.by_relation[found]
        return pd.DataFrame({"relation": found, "count": counts, "share": counts / self.count})

    def types(self, types: EntityTypes) -> pd.DataFrame:
        """Return the types that have any, those with most first; an entity counts for each of its.

        :return: ``type`` (str; `UNTYPED` for entities without one), ``count`` (int64), ``share``
            (float64, of all that beat)
        """
        of_type = np.bincount(
            types.types, self.by_entity[types.entities], minlength=len(types.names)
        )
        untyped = np.ones(len(self.by_entity), dtype=bool)
        untyped[types.entities] = False
        table = pd.DataFrame(
            {
                "type": [*types.names, UNTYPED],
                "count": [*of_type.astype(np.int64), self.by_entity[untyped].sum()],
            }
        )
        table = table[table["count"] > 0].assign(share=lambda t: t["count"] / self.count)
        return table.sort_values("count", ascending=False, kind="stable", ignore_index=True)


def better_negatives(
    run: Run, triple: np.ndarray, side: str, k: int = 10, progress: Progress = silent
) -> BetterNegatives:
    """Find the negatives around one end that score higher.

    All |R|·|E| scores around it are computed, a block of relations at a time.

    :param triple: ids of head, relation and tail: int64, shape ``(3,)``; known or not
    :param side: "head" for N⁻(h), "tail" for N⁻(t)
    :param k: how many of the highest are listed
    :raises KgdashError: if a score is NaN
    """
    graph = run.graph
    entities, relations = graph.num_entities, graph.num_relations
    anchor, other = (triple[0], triple[2]) if side == "head" else (triple[2], triple[0])
    _, known = graph.known().triples_with_entity(np.array([anchor]), side)
    by_relation = np.zeros(relations, dtype=np.int64)
    by_entity = np.zeros(entities, dtype=np.int64)
    best = np.empty(0, dtype=np.int64), np.empty(0)
    blocks, own = _blocks(relations, entities), None
    # The triple's own block comes first: some models round by what else is in a call.
    blocks.sort(key=lambda block: triple[1] not in block)
    for done, block in enumerate(blocks):
        report = stretch(progress, done, done + 1, len(blocks))
        scores = _row(run, side, int(anchor), block, report).ravel()
        first = int(block[0]) * entities
        own = scores[int(triple[1]) * entities + other - first] if own is None else own
        beats = scores > own
        beats[known[(known >= first) & (known < first + len(scores))] - first] = False
        at = np.flatnonzero(beats)
        by_relation[block] = np.bincount(at // entities, minlength=len(block))
        by_entity += np.bincount(at % entities, minlength=entities)
        best = _highest(k, *best, at + first, scores[at])
        report(1, 1)
    places, values = best
    found = pd.DataFrame(
        {"head": triple[0], "relation": places // entities, "tail": triple[2]}, dtype=np.int64
    )
    found["tail" if side == "head" else "head"] = places % entities
    count, negatives = int(by_relation.sum()), count_negatives_around(graph, triple, side)
    listed = found.assign(score=values)
    return BetterNegatives(side, count, negatives, by_relation, by_entity, listed)


def count_negatives_around(graph: KnowledgeGraph, triple: np.ndarray, side: str) -> int:
    """Count the negatives that share a triple's head (or tail), the triple itself left out.

    :param triple: ids, int64, shape ``(3,)``
    :param side: "head" or "tail"
    """
    anchor = triple[[0 if side == "head" else 2]]
    around = len(graph.known().triples_with_entity(anchor, side)[0])
    itself = not graph.known().contains(triple[None])[0]
    return graph.num_entities * graph.num_relations - around - int(itself)


def _row(run: Run, side: str, anchor: int, relations: np.ndarray, progress: Progress) -> np.ndarray:
    """Score all triples of an anchor and some relations: ``(b, |E|)``."""
    anchors = np.full_like(relations, anchor)
    # Negatives that share the head differ in the tail, so they score as tail candidates do.
    candidates, queries = "tail", np.stack([anchors, relations], axis=1)
    if side == "tail":
        candidates, queries = "head", queries[:, ::-1]
    return score_rows(run.scorer, candidates, queries, progress).cpu().numpy()


def _blocks(relations: int, entities: int) -> list[np.ndarray]:
    rows = min(max(1, block_bytes() // (4 * entities)), _MOST_RELATIONS)
    return [np.arange(start, min(start + rows, relations)) for start in range(0, relations, rows)]


def _highest(
    k: int, places: np.ndarray, values: np.ndarray, more: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keep the k highest of two lists, equal ones in the order of their places."""
    if len(scores) > k:
        kept = np.flatnonzero(scores >= np.partition(scores, -k)[-k]) if k else np.arange(0)
        more, scores = more[kept], scores[kept]
    places, values = np.concatenate([places, more]), np.concatenate([values, scores])
    order = np.lexsort((places, -values))[:k]
    return places[order], values[order]
