"""Query instances sampled from the graph: hard true answers, and false ones beside them (§8)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.known import KnownTriples
from kgdash.progress import Progress, silent
from kgdash.studies.instances import Instances, make_instances
from kgdash.studies.query_paths import Adjacency, paths

#: query type -> number of relations; "p": one after another, "i": side by side
QUERY_TYPES = {"1p": 1, "2p": 2, "3p": 3, "2i": 2, "3i": 3}

#: meaning of "hard" -> splits on which a hard answer does not hold
HARD: dict[str, tuple[str, ...]] = {
    "outside train": ("train",),
    "outside train+valid": ("train", "valid"),
}

#: draws in a row that bring no new query, and draws at all, after which the search ends
_FRUITLESS, _DRAWS = 10, 100


@dataclass(frozen=True)
class _World:
    """The graph as the sampler sees it."""

    outgoing: Adjacency
    incoming: Adjacency
    easy: Adjacency
    easy_known: KnownTriples
    held_out: np.ndarray
    ranges: list[np.ndarray]
    num_entities: int
    max_paths: int

    @classmethod
    def of(cls, graph: KnowledgeGraph, hard: str, max_paths: int) -> _World:
        facts, count = graph.all_triples, graph.num_relations
        known = graph.known(HARD[hard])
        easy = np.concatenate([graph.splits[s] for s in HARD[hard]])
        held_out = facts[~known.contains(facts)]
        if not len(held_out):
            others = " or ".join(s for s in SPLITS if s not in HARD[hard])
            raise KgdashError(
                f"no answer is hard in graph {graph.name}: its split {others} holds no triple "
                f"{hard}; choose another meaning of hard or a dataset with held-out triples"
            )
        return cls(
            Adjacency.of(facts, count),
            Adjacency.of(facts, count, by="tail"),
            Adjacency.of(np.unique(easy, axis=0), count),
            known,
            held_out,
            [np.unique(facts[facts[:, 1] == r, 2]) for r in range(count)],
            graph.num_entities,
            max_paths,
        )


#: a query, a hard answer, that answer's chains, a false answer and its chains; chains are arrays
#: of triples of shape (chains, k, 3)
_Found = tuple[tuple, int, np.ndarray, int, np.ndarray]


def sample_queries(
    graph: KnowledgeGraph,
    types: Sequence[str] = tuple(QUERY_TYPES),
    per_type: int = 50,
    hard: str = "outside train",
    seed: int = 0,
    max_chains: int = 10,
    max_paths: int = 1000,
    progress: Progress = silent,
) -> Instances:
    """Sample queries, each with one hard true answer and one false one (§8).

    A query grows around a random held-out triple, put at a random step or branch, and is completed
    by random facts of F. The true answer holds in F but not on the graph named by ``hard``. The
    false one does not hold in F; it is drawn from the range of the last relation (i-types: of all
    branches' relations, else of any), else from all entities. Queries are distinct, and the anchors
    of an i-type are distinct entities.

    Chains of a true answer of a p-type: the paths to it that hold in F. Those of a false one: paths
    that hold in F but for the last triple, through intermediates from which the last relation leads
    somewhere; at most as many as the true answer has, so that "best" is no best of more.
    An i-type's only chain is its branches.

    :param graph: F is all its splits
    :param types: any of "1p", "2p", "3p", "2i", "3i"
    :param per_type: queries per type, ≥ 1; fewer where the graph has no more (see ``notes``)
    :param hard: "outside train" or "outside train+valid"
    :param seed: same seed, same queries; a type's queries do not depend on the others asked for
    :param max_chains: chains kept per answer, a random choice of them
    :param max_paths: queries that reach more paths than this at any step, or more entities at any
        branch, are left out, so that answer sets stay sensible
    :param progress: called with (done, total)
    :return: groups are the types; two instances per query
    :raises KgdashError: if no triple is held out, or an argument is out of range
    """
    for kind in types:
        if kind not in QUERY_TYPES:
            raise unknown_name("query type", kind, list(QUERY_TYPES), "kgdash")
    if hard not in HARD:
        raise unknown_name("meaning of hard", hard, list(HARD), "kgdash")
    if min(per_type, max_chains, max_paths) < 1 or not types:
        raise KgdashError("expected at least one type, query, chain and path")
    world = _World.of(graph, hard, max_paths)
    found: dict[str, list[_Found]] = {}
    for done, kind in enumerate(dict.fromkeys(types)):
        rng = np.random.default_rng([seed, list(QUERY_TYPES).index(kind)])
        draw = _draw_paths if kind.endswith("p") else _draw_branches
        found[kind] = _collect(world, draw, QUERY_TYPES[kind], per_type, max_chains, rng)
        progress(done + 1, len(types))
    notes = [
        f"{kind}: {len(pairs)} of {per_type} queries found; the graph has few with an answer {hard}"
        for kind, pairs in found.items()
        if len(pairs) < per_type
    ]
    return _instances(graph, found, [f"hard means {hard}", *notes])


_Draw = Callable[[_World, int, int, int, Container, np.random.Generator], Iterable[_Found]]


def _collect(
    world: _World, draw: _Draw, size: int, wanted: int, max_chains: int, rng: np.random.Generator
) -> list[_Found]:
    found: dict[tuple, _Found] = {}
    fruitless = 0
    for _ in range(_DRAWS):
        before = len(found)
        batch = max(64, 2 * (wanted - before))
        for pair in draw(world, size, batch, max_chains, found, rng):
            found[pair[0]] = pair
            if len(found) == wanted:
                return list(found.values())
        fruitless = 0 if len(found) > before else fruitless + 1
        if fruitless == _FRUITLESS:
            break
    return list(found.values())


def _draw_paths(
    world: _World, size: int, batch: int, max_chains: int, seen: Container, rng: np.random.Generator
) -> Iterable[_Found]:
    """Draw queries of type 1p, 2p or 3p that hold up and were not seen before."""
    entities, relations = _grow(world, size, batch, rng)
    anchors, answers = entities[:, 0], entities[:, -1]
    query, reached, given_up = paths(world.outgoing, anchors, relations, world.max_paths)
    easy_query, easy_reached, _ = paths(world.easy, anchors, relations, world.max_paths)
    easy_hit = easy_reached[:, -1] == answers[easy_query]
    good = ~given_up & ~np.isin(np.arange(len(anchors)), easy_query[easy_hit])
    starts = np.searchsorted(query, np.arange(len(anchors) + 1))
    for number in np.flatnonzero(good):
        asked = (int(anchors[number]), *relations[number].tolist())
        if asked in seen:
            continue
        own, last = reached[starts[number] : starts[number + 1]], relations[number, -1]
        false = _false_answer(world, np.unique(own[:, -1]), [last], rng)
        if false is None:
            continue
        true_paths = _choose(own[own[:, -1] == answers[number]], max_chains, rng)
        prefixes = _choose(np.unique(own[:, :-1], axis=0), len(true_paths), rng)
        false_paths = np.column_stack([prefixes, np.full(len(prefixes), false)])
        yield (
            asked,
            int(answers[number]),
            _path_triples(true_paths, relations[number]),
            false,
            _path_triples(false_paths, relations[number]),
        )


def _grow(
    world: _World, size: int, batch: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Grow paths of facts around held-out triples: entities ``(n, size + 1)``, relations."""
    held_out = world.held_out[rng.integers(len(world.held_out), size=batch)]
    place = rng.integers(size, size=batch)
    rows = np.arange(batch)
    entities = np.zeros((batch, size + 1), dtype=np.int64)
    relations = np.zeros((batch, size), dtype=np.int64)
    entities[rows, place], relations[rows, place], entities[rows, place + 1] = held_out.T
    whole = np.ones(batch, dtype=bool)
    for reach in range(1, size):
        before, after = rows[place >= reach], rows[place + reach < size]
        at = place[before] - reach
        drawn = world.incoming.draw(entities[before, at + 1], rng)
        relations[before, at], entities[before, at] = drawn[:2]
        whole[before] &= drawn[2]
        at = place[after] + reach
        drawn = world.outgoing.draw(entities[after, at], rng)
        relations[after, at], entities[after, at + 1] = drawn[:2]
        whole[after] &= drawn[2]
    return entities[whole], relations[whole]


def _draw_branches(
    world: _World, size: int, batch: int, max_chains: int, seen: Container, rng: np.random.Generator
) -> Iterable[_Found]:
    """Draw queries of type 2i or 3i that hold up and were not seen before."""
    held_out = world.held_out[rng.integers(len(world.held_out), size=batch)]
    answers = held_out[:, 2]
    branches = [held_out[:, :2]]
    for _ in range(1, size):
        relation, head, _ = world.incoming.draw(answers, rng)
        branches.append(np.column_stack([head, relation]))
    for answer, drawn in zip(answers.tolist(), np.stack(branches, axis=1), strict=True):
        query = tuple(sorted((int(a), int(r)) for a, r in drawn))
        if query in seen or len({anchor for anchor, _ in query}) < size:
            continue
        true = np.array([(anchor, relation, answer) for anchor, relation in query])
        reached = [world.outgoing.reached(*branch) for branch in query]
        if max(map(len, reached)) > world.max_paths or world.easy_known.contains(true).all():
            continue
        relations = [relation for _, relation in query]
        false = _false_answer(world, reduce(np.intersect1d, reached), relations, rng)
        if false is not None:
            wrong = true.copy()
            wrong[:, 2] = false
            yield query, answer, true[None], false, wrong[None]


def _false_answer(
    world: _World, answers: np.ndarray, relations: list[int], rng: np.random.Generator
) -> int | None:
    """Draw an entity that is no answer, from the nearest of three circles that has one."""
    ranges = [world.ranges[r] for r in relations]
    for circle in (
        lambda: reduce(np.intersect1d, ranges),
        lambda: reduce(np.union1d, ranges),
        lambda: np.arange(world.num_entities),
    ):
        left = np.setdiff1d(circle(), answers, assume_unique=True)
        if len(left):
            return int(left[rng.integers(len(left))])
    return None


def _choose(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    if len(rows) <= most:
        return rows
    return rows[np.sort(rng.choice(len(rows), most, replace=False))]


def _path_triples(entities: np.ndarray, relations: np.ndarray) -> np.ndarray:
    """Cut paths of entities ``(n, k + 1)`` into triples ``(n, k, 3)``."""
    columns = (entities[:, :-1], np.broadcast_to(relations, entities[:, 1:].shape), entities[:, 1:])
    return np.stack(columns, axis=2)


def _instances(
    graph: KnowledgeGraph, found: dict[str, list[_Found]], notes: list[str]
) -> Instances:
    parts: list[tuple] = []
    described: list[tuple[int, str, str]] = []
    for kind, pairs in found.items():
        for query, true, true_chains, false, false_chains in pairs:
            question = _question(graph, query)
            for label, answer, chains in ((True, true, true_chains), (False, false, false_chains)):
                number = len(described)
                count, size, _ = chains.shape
                is_head = np.arange(size) == size - 1 if kind.endswith("p") else np.ones(size, bool)
                chain = np.repeat(np.arange(count), size)
                parts.append((kind, number, chain, label, chains, np.tile(is_head, count)))
                described.append((number, question, graph.entity_labels[answer]))
    lengths = [len(part[2]) for part in parts]
    triples = np.concatenate([np.empty((0, 3), np.int64), *(p[4].reshape(-1, 3) for p in parts)])
    columns = {
        "group": np.repeat(np.array([p[0] for p in parts], dtype=object), lengths),
        "instance": np.repeat([p[1] for p in parts], lengths),
        "chain": np.concatenate([np.empty(0, np.int64), *(p[2] for p in parts)]),
        "label": np.repeat([p[3] for p in parts], lengths),
        "head": triples[:, 0],
        "relation": triples[:, 1],
        "tail": triples[:, 2],
        "is_head": np.concatenate([np.empty(0, bool), *(p[5] for p in parts)]),
    }
    described_table = pd.DataFrame(described, columns=["instance", "question", "answer"])
    return make_instances(pd.DataFrame(columns), described_table, notes)


def _question(graph: KnowledgeGraph, query: tuple) -> str:
    """Write a query in labels: ``treats(aspirin, x) ∧ symptom of(x, ?)``."""
    entity, relation = graph.entity_labels, graph.relation_labels
    if isinstance(query[0], tuple):
        return " ∧ ".join(f"{relation[r]}({entity[anchor]}, ?)" for anchor, r in query)
    names = [entity[query[0]], *"xy"[: len(query) - 2], "?"]
    return " ∧ ".join(f"{relation[r]}({names[i]}, {names[i + 1]})" for i, r in enumerate(query[1:]))
