"""The most and the least reliable regions of a graph, found by a scan.

Defined in numbers.md#18-reliability-map.

Groups of entities are grown from every entity along known triples, without looking at ReliK. The
scan statistic of each says by how much the ReliK inside differs from that elsewhere; its p-value
compares with the greatest statistic anywhere after a permutation of ReliK under the null model, so
that looking at all groups is accounted for (family-wise error). Kulldorff 1997; for continuous
values Huang, Tiwari, Zou, Kulldorff and Feuer 2009, whose likelihood ratio orders groups as |z|
does here; Tango and Takahashi 2005.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from kgdash.engine.region_kernels import grow_groups, scan_groups, shuffle_within
from kgdash.engine.workers import run_in_threads
from kgdash.errors import KgdashError, check_name
from kgdash.files.memory import memory_budget
from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import describe_members
from kgdash.progress import Progress, phases, silent
from kgdash.studies.reliability.region_scan_units import Units, entity_units, triple_units
from kgdash.studies.reliability.reliability_map import ReliabilityMap

#: what is exchanged under the null hypothesis
NULL_MODELS = ("entities", "triples")

#: permutations at most, and those scanned at once: what is inside is found out once for them all
_MOST, _TOGETHER = 1_000_000, 64

#: seeds per task of a thread, fewer where one may take long: steps of a task, a second or less
_SEEDS, _STEPS = 256, 2**29


@dataclass(frozen=True)
class RegionScan:
    """What is looked for, and what it is compared with.

    ``null_model``: what permutations exchange: "entities" (their own reliability, see
    `entity_units`, among entities of like degree) or "triples" (their ReliK, among those of the
    same relation). ``smallest`` ≥ 2 and ``largest``: entities of a region, at most half of all
    (Kulldorff's rule). ``permutations``, 1 to a million, so that p is at least
    1 / (permutations + 1), and their ``seed`` ≥ 0. ``most``: regions listed of each kind.

    :raises KgdashError: on an unknown choice, or a number out of range
    """

    null_model: str = "entities"
    smallest: int = 5
    largest: int = 100
    permutations: int = 200
    most: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        check_name("null model", self.null_model, NULL_MODELS, "the scan")
        numbers = 2 <= self.smallest <= self.largest and 1 <= self.permutations <= _MOST
        if not numbers or self.most < 1 or self.seed < 0:
            raise KgdashError(
                f"expected 2 ≤ smallest ≤ largest, 1 to {_MOST:,} permutations, at least 1 region, "
                f"and a seed ≥ 0; found {self.smallest}, {self.largest}, {self.permutations}, "
                f"{self.most} and {self.seed}"
            )


@dataclass(frozen=True)
class ScannedRegions:
    """Regions that do not overlap, those that differ the most first.

    ``table``: ``region`` (int64), ``kind`` ("low" or "high"), ``seed_entity`` (id), ``entities``,
    ``triples`` (int64: with both ends inside), ``relik`` (mean inside), ``typical`` (geometric
    mean inside), ``expected`` (that of as many triples of the same relations, anywhere in the
    graph), ``outside`` (mean of the other triples), ``z``, ``p`` (family-wise), ``mrr`` (of the
    test triples inside, NaN without; float64), ``evaluated`` (int64: how many these are),
    ``label``, ``relations`` (str: of `kgdash.graph.communities.Community`), ``central`` (str: the
    most central entity's name).
    ``members``: ids of each region's entities, as they were reached. ``baseline``: float64
    ``(permutations,)``: the greatest |z| of each permutation.
    """

    table: pd.DataFrame
    members: list[np.ndarray]
    baseline: np.ndarray


def scan_regions(
    map_: ReliabilityMap, scan: RegionScan = RegionScan(), progress: Progress = silent
) -> ScannedRegions:
    """Find connected regions of lower or higher ReliK than by chance; kept on disk.

    :raises KgdashError: if regions are to be larger than the graph is, or than there is memory for
    """
    run, graph, size = map_.run, map_.run.graph, map_.run.graph.num_entities
    scan = replace(scan, largest=min(scan.largest, max(min(scan.smallest, size), size // 2)))
    most = max(RegionScan.largest, memory_budget() // (16 * max(1, size)))
    if scan.largest > most:
        raise KgdashError(f"$KGDASH_MEMORY holds regions of {most:,}, not of {scan.largest:,}")
    key = {"kind": "relik", "part": "regions", "method": map_.method, **asdict(scan)}
    table = cached_table(
        {**key, **run.table_key()},
        lambda: _scanned(map_, scan, progress),
        run.table_about("relik", method="regions"),
        progress,
    )
    found = table[table["what"] != "baseline"]
    # Again, since reading how all groups grew would take longer.
    grown = _grown(graph, found["seed_entity"].to_numpy(), scan.largest)
    members = [group[:size] for group, size in zip(grown, found["entities"], strict=True)]
    usual = _usual(map_)
    about = pd.DataFrame([_inside(map_, own, usual) for own in members], columns=list(_INSIDE))
    shown = found.drop(columns="what").reset_index(drop=True)
    shown.insert(0, "region", np.arange(len(shown)))
    shown.insert(1, "kind", found["what"].to_numpy())
    for place, column in enumerate(_INSIDE[:5], start=4):
        shown.insert(place, column, about[column])
    shown = shown.assign(**{c: about[c] for c in _INSIDE[5:]})
    baseline = table.loc[table["what"] == "baseline", "z"].to_numpy()
    return ScannedRegions(shown, members, baseline)


def grown_groups(graph: KnowledgeGraph, largest: int, progress: Progress = silent) -> np.ndarray:
    """Grow a group from each entity along known triples, by `grow_groups`; kept on disk.

    :param largest: members
    :return: int64, ``(|E|, largest)``, −1 where the entity's component holds no more
    """

    def grow() -> pd.DataFrame:
        seeds = np.arange(graph.num_entities)
        return pd.DataFrame({"member": _grown(graph, seeds, largest, progress).ravel()})

    key = {"kind": "regions", "graph": graph.digest, "grown": largest, "version": 1}
    about = {"kind": "comparison", "graph": graph.name, "method": "grown regions"}
    table = cached_table(key, grow, about, progress)
    return table["member"].to_numpy().reshape(graph.num_entities, largest)


def _grown(
    graph: KnowledgeGraph, seeds: np.ndarray, largest: int, progress: Progress = silent
) -> np.ndarray:
    """Grow a group of at most ``largest`` from each of some entities: a row each."""
    starts, neighbours, times = _neighbours(graph)
    degrees = np.add.reduceat(np.concatenate([times, [0.0]]), starts[:-1])
    degrees[np.diff(starts) == 0] = 0.0
    order = np.empty((len(seeds), largest), dtype=np.int64)

    def work(block: slice, _: None) -> float:
        grow_groups(starts, neighbours, times, degrees, seeds[block], order[block])
        return float(len(order[block]))

    blocks = _blocks(len(seeds), largest * graph.num_entities)
    run_in_threads(blocks, work, lambda: None, float(len(seeds)), progress)
    return order


def greatest_of_permutations(
    order: np.ndarray,
    units: Units,
    smallest: int,
    permutations: int,
    seed: int,
    progress: Progress = silent,
) -> np.ndarray:
    """Return the greatest |z| of any group after values were permuted within strata.

    :param order: of `grown_groups`
    :return: float64, ``(permutations,)``; 0 where no group holds a unit
    """
    members = np.argsort(units.strata, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(units.strata))]).astype(np.int64)
    states = np.random.SeedSequence((seed, 17)).generate_state(permutations, np.uint64)
    values, greatest = units.values.astype(np.float32), []
    reports = phases(progress, [1.0] * -(-permutations // _TOGETHER))
    for number, report in enumerate(reports):
        own = states[number * _TOGETHER : (number + 1) * _TOGETHER]
        shuffled = np.empty((len(own), len(values)), dtype=np.float32)
        for row, state in enumerate(own):
            shuffle_within(values, members, bounds, state, shuffled[row])
        scores, _ = scan_values(order, units, np.ascontiguousarray(shuffled.T), smallest, report)
        greatest.append(np.nan_to_num(np.abs(scores)).max(axis=(0, 1)))
    return np.concatenate(greatest)


def scan_values(
    order: np.ndarray, units: Units, values: np.ndarray, smallest: int, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Return highest and lowest z, and their sizes, over the groups that grew from each entity.

    :param order: of `grown_groups`
    :param values: float32, ``(units, columns)``
    :return: `scan_groups`' scores and sizes, ``(|E|, 2, columns)``
    """
    incidence = units.incidence(len(order))
    shape = (len(order), 2, values.shape[1])
    scores, sizes = np.empty(shape), np.empty(shape, dtype=np.int64)

    def work(block: slice, _: None) -> float:
        scan_groups(order[block], incidence, smallest, values, scores[block], sizes[block])
        return float(block.stop - block.start)

    widest = int(np.diff(incidence.starts).max(initial=0))
    blocks = _blocks(len(order), values.shape[1] * max(widest, order.shape[1]))
    run_in_threads(blocks, work, lambda: None, float(len(order)), progress)
    return scores, sizes


def _scanned(map_: ReliabilityMap, scan: RegionScan, progress: Progress) -> pd.DataFrame:
    """Return regions and, in the same columns, the permutations: ``what`` "low", … "baseline"."""
    graph = map_.run.graph
    first, second = phases(progress, [0.2, 0.8])
    order = grown_groups(graph, scan.largest, first)
    units = (entity_units if scan.null_model == "entities" else triple_units)(graph, map_.relik)
    values = units.values.astype(np.float32)[:, None]
    scores, sizes = scan_values(order, units, values, scan.smallest)
    baseline = greatest_of_permutations(
        order, units, scan.smallest, scan.permutations, scan.seed, second
    )
    rows = []
    for kind, entity, size, z in _apart(order, scores[..., 0], sizes[..., 0], scan.most):
        p = (1 + int((baseline >= abs(z)).sum())) / (scan.permutations + 1)
        rows.append({"what": kind, "seed_entity": entity, "entities": size, "z": z, "p": p})
    columns = {"what": "str", "seed_entity": "int64", "entities": "int64"}
    regions = pd.DataFrame(rows, columns=[*columns, "z", "p"]).astype(columns)
    permuted = {"what": "baseline", "seed_entity": -1, "entities": 0, "z": baseline, "p": np.nan}
    return pd.concat([regions, pd.DataFrame(permuted).astype(columns)], ignore_index=True)


def _apart(
    order: np.ndarray, scores: np.ndarray, sizes: np.ndarray, most: int
) -> Iterator[tuple[str, int, int, float]]:
    """Yield the groups with the greatest |z| that share no entity: kind, seed, size, z."""
    taken = np.zeros(len(order), dtype=bool)
    left = {"high": most, "low": most}
    sizes = np.where(np.isnan(scores), 0, sizes)
    strength = np.where(sizes > 0, np.abs(scores), -1.0)
    for flat in np.argsort(-strength, axis=None, kind="stable"):
        entity, side = divmod(int(flat), 2)
        size, z = int(sizes[entity, side]), float(scores[entity, side])
        kind = "low" if side else "high"
        members = order[entity, :size]
        # The highest z of a row may be below 0: that is no region of high ReliK.
        if not size or (z < 0) != bool(side) or not left[kind] or taken[members].any():
            continue
        taken[members] = True
        left[kind] -= 1
        yield kind, entity, size, z


#: columns of `_inside`
_INSIDE = (
    *("triples", "relik", "typical", "expected", "outside", "mrr", "evaluated"),
    *("label", "central", "relations"),
)


def _usual(map_: ReliabilityMap) -> np.ndarray:
    """Return the mean log ReliK of each triple's relation, ``(triples,)``."""
    relations = map_.relik["relation"].to_numpy()
    logs = np.log(map_.relik["relik"].to_numpy())
    return (np.bincount(relations, logs) / np.maximum(np.bincount(relations), 1))[relations]


def _inside(map_: ReliabilityMap, members: np.ndarray, usual: np.ndarray) -> tuple:
    """Return a region's values, as `_INSIDE` names them.

    :param usual: of `_usual`
    """
    graph = map_.run.graph
    chosen = np.zeros(graph.num_entities, dtype=bool)
    chosen[members] = True
    relik = map_.relik["relik"].to_numpy()
    inside = chosen[map_.relik["head"]] & chosen[map_.relik["tail"]]
    tested = chosen[map_.test[:, 0]] & chosen[map_.test[:, 2]]
    outside = relik[~inside].mean() if not inside.all() else np.nan
    mrr = map_.reciprocal[tested].mean() if tested.any() else np.nan
    own, about = relik[inside], describe_members(graph, members)
    typical, expected = np.exp(np.log(own).mean()), np.exp(usual[inside].mean())
    named = about.label, graph.entities[about.central[0]], about.relations
    return len(own), own.mean(), typical, expected, outside, mrr, int(tested.sum()), *named


def _neighbours(graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return who neighbours whom, and by how many triples: starts, neighbours, times."""
    joined = graph.adjacency("either")
    starts, neighbours = joined.indptr.astype(np.int64), joined.indices.astype(np.int64)
    return starts, neighbours, joined.data.astype(np.float64)


def _blocks(count: int, steps: int) -> list[slice]:
    """Cut seeds for threads, which tell after each block where they are.

    :param steps: that one seed may take
    """
    each = max(1, min(_SEEDS, _STEPS // max(1, steps)))
    return [slice(at, min(at + each, count)) for at in range(0, count, each)]
