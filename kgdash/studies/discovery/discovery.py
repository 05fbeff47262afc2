"""The best of all triples that are not known, by probability or by score.

Defined in numbers.md#29-new-facts. Each relation is searched apart, for what reaches the best so
far: in any order, and by several helpers at once, what is best of all is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.files.event_log import Stopwatch
from kgdash.files.memory import memory_budget
from kgdash.files.table_cache import cached_table, drop_table, replace_table, stored_table
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.helpers import each_part
from kgdash.studies.discovery.best import Best
from kgdash.studies.discovery.one_relation import BYTES_EACH, Found, RelationSearch, search_relation
from kgdash.studies.discovery.relation_scores import UnknownScores
from kgdash.studies.probability.calibration import FITTED, Calibration, fit_calibration

#: what triples are ordered by
BY = {
    "probability": "the smaller of its probabilities as tail and as head",
    "score": "the model's score, as a tail",
}

#: which entities may be ends
TYPES = {
    "any": "all entities",
    "seen": "entities that a known triple of the relation has on that side",
}

#: seconds between two times that what was found so far is kept
_EVERY = 5.0

#: raise when the meaning of a stored table changes
_VERSION = 1


@dataclass(frozen=True)
class DiscoverySetting:
    """Which triples are looked for.

    ``k``: how many, ≥ 1; ``by``: of `BY`; ``types``: of `TYPES`; ``per_relation``: most of one
    relation (None: any number); ``relations``: names or labels of the only ones (empty: all);
    ``known``: the splits whose triples are no candidates; ``loops``: whether triples of an entity
    with itself are.
    """

    k: int = 1000
    by: str = "probability"
    types: str = "any"
    per_relation: int | None = None
    relations: tuple[str, ...] = ()
    known: tuple[str, ...] = SPLITS
    loops: bool = True

    def __post_init__(self) -> None:
        """Check all that does not depend on a graph.

        :raises KgdashError: if a choice is unknown or a number out of range
        """
        check_name("order", self.by, BY, "kgdash")
        check_name("choice of types", self.types, TYPES, "kgdash")
        for split in self.known:
            check_name("split", split, SPLITS, "the known triples")
        most = memory_budget() // BYTES_EACH
        for name, value in (("k", self.k), ("triples per relation", self.per_relation)):
            if value is not None and not 1 <= value <= most:
                raise KgdashError(
                    f"expected {name} between 1 and {most:,} (what $KGDASH_MEMORY holds); found "
                    f"{value:,}"
                )


def discover(run: Run, setting: DiscoverySetting, progress: Progress = silent) -> pd.DataFrame:
    """Find the best triples that are not known; kept on disk.

    :return: best first, equal ones by the ids of head, relation and tail: ``head, relation, tail``
        (int64 ids), ``score`` (float64, as a candidate for the tail); by probability also
        ``softmax`` (float64 in [0, 1], the smaller of both sides') and ``probability`` (the same,
        by the isotonic map); fewer than ``k`` where there are no more
    :raises KgdashError: on an unknown relation; on NaN; by probability also on infinite scores, and
        without validation triples
    """
    graph = run.graph
    relations = sorted({graph.relation_id(name) for name in setting.relations})
    chosen = relations or list(range(graph.num_relations))
    first, second = phases(progress, [1.0, 9.0] if setting.by == "probability" else [0.0, 1.0])
    fitted = fit_calibration(run, progress=first) if setting.by == "probability" else None
    known = tuple(split for split in SPLITS if split in setting.known)
    key = {"kind": "discovery", "discovery": _VERSION, **FITTED, **run.table_key()}
    key |= asdict(setting) | {"relations": relations, "known": known}
    about = run.table_about("discovery", filter="+".join(known))
    kept = _SoFar(key | {"part": "so far"}, about)
    search = _Search(run, setting, fitted, known)
    table = cached_table(key, lambda: search.table(chosen, kept, second), about, second)
    kept.drop()
    return table


class _SoFar:
    """The best of the relations that were searched, kept on disk while the others are."""

    def __init__(self, key: dict[str, Any], about: dict[str, Any]) -> None:
        self._key, self._about, self._watch = key, about, Stopwatch()
        self._is_there, self._last = False, 0.0

    def begin(self, best: Best, left: set[int]) -> None:
        """Take up what an interrupted search had."""
        table = stored_table(self._key)
        if table is not None:
            self._is_there = True
            is_done = table["is_done"].to_numpy()
            left.difference_update(table["key"][is_done].tolist())
            best.add(*(table[name][~is_done].to_numpy() for name in ("value", "key", "score")))

    def keep(self, best: Best, done: set[int]) -> None:
        """Keep what was found, now and then."""
        if self._watch.seconds - self._last > _EVERY:
            value, key, score = best.result()
            parts = [
                pd.DataFrame({"value": value, "key": key, "score": score, "is_done": False}),
                pd.DataFrame({"value": 0.0, "key": sorted(done), "score": 0.0, "is_done": True}),
            ]
            table = pd.concat([part for part in parts if len(part)], ignore_index=True)
            replace_table(self._key, table, {**self._about, "seconds": self._watch.seconds})
            self._is_there, self._last = True, self._watch.seconds

    def drop(self) -> None:
        """Forget it: all is found."""
        if self._is_there:
            drop_table(self._key)


@dataclass(frozen=True)
class _Search:
    run: Run
    setting: DiscoverySetting
    fitted: Calibration | None
    known: tuple[str, ...]

    def table(self, relations: Sequence[int], kept: _SoFar, progress: Progress) -> pd.DataFrame:
        best, left = Best(self.setting.k), set(relations)
        kept.begin(best, left)
        done = set(relations) - left
        relations = [relation for relation in relations if relation in left]
        scores = UnknownScores(self.run.scorer, self.run.graph.known(self.known))

        def here(run: Run, part: RelationSearch, progress: Progress) -> Found:
            return part.best_of(scores, run.graph, progress)

        work = here if self.run.helpers is None else search_relation
        ends = self._ends(relations)
        total = float(sum(len(heads) for heads, _ in ends))
        parts = self._parts(relations, ends, best)
        for part, found in each_part(self.run, work, parts, total, progress):
            if part.relation in left:
                best.add(*found)
                left.remove(part.relation)
                done.add(part.relation)
                kept.keep(best, done)
        return self._named(*best.result())

    def _ends(self, relations: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Return the only heads and tails under each relation; None: all entities."""
        graph = self.run.graph
        if self.setting.types == "seen":
            seen = seen_ends(graph, graph.known(self.known))
            return [seen[relation] for relation in relations]
        return [(np.arange(graph.num_entities), None)] * len(relations)

    def _parts(
        self,
        relations: Sequence[int],
        ends: list[tuple[np.ndarray, np.ndarray | None]],
        best: Best,
    ) -> Iterator[RelationSearch]:
        """Yield the search under each relation, for what reaches the best when it is asked for."""
        most = min(self.setting.k, self.setting.per_relation or self.setting.k)
        for relation, (heads, tails) in zip(relations, ends, strict=True):
            if len(heads):
                wanted = (most, best.least, self.setting.loops)
                yield RelationSearch(relation, heads, tails, self.known, self.fitted, *wanted)

    def _named(self, value: np.ndarray, key: np.ndarray, score: np.ndarray) -> pd.DataFrame:
        pair, tail = np.divmod(key, self.run.graph.num_entities)
        head, relation = np.divmod(pair, self.run.graph.num_relations)
        table = pd.DataFrame({"head": head, "relation": relation, "tail": tail, "score": score})
        if self.fitted is not None:
            value = np.minimum(value, 0.0)
            table["softmax"], table["probability"] = np.exp(value), self.fitted.isotonic(value)
        return table


def seen_ends(graph: KnowledgeGraph, known: KnownTriples) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each relation, the heads and the tails of its known triples, ascending."""
    triples = known.triples()
    order = np.argsort(triples[:, 1], kind="stable")
    cuts = np.searchsorted(triples[order, 1], np.arange(1, graph.num_relations))
    parts = np.split(triples[order], cuts)
    return [(np.unique(part[:, 0]), np.unique(part[:, 2])) for part in parts]
