"""ReliK over the whole graph: per entity, per relation, per community.

Defined in numbers.md#18-reliability-map. Every known triple has its ReliK;
an entity's is the mean over the triples that it is an end of.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.errors import check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.communities import describe_communities, find_communities
from kgdash.graph.ends import triple_ends
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.metrics import triple_reciprocal_ranks
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.ranking.relik_growing import GrowingReliK
from kgdash.runs import Run
from kgdash.statistics.bootstrap import check_level
from kgdash.statistics.unseen import UNIT

#: what the map can be read by, besides its regions
MAPPED = ("entity", "relation", "communities")


@dataclass(frozen=True)
class ReliabilityMap:
    """The ReliK of all known triples, and the ranks of the test triples.

    ``relik``: of `Run.relik`, rows as ``graph.all_triples``; ``method``: "exact" or "sampled", or
    "growing" while it is counted: ``step`` then tells how far that is.
    ``test``: int64 ``(n, 3)``; ``reciprocal``: float64 ``(n,)``, the mean of a test triple's two
    reciprocal ranks, realistic and filtered by all splits; both empty without test triples.
    """

    run: Run
    method: str
    relik: pd.DataFrame
    test: np.ndarray
    reciprocal: np.ndarray
    step: GrowingReliK | None = None

    def by(
        self, what: str, level: float = 0.95, seed: int = 0, resolution: float = 1.0
    ) -> pd.DataFrame:
        """Average ReliK per entity, relation or community, the least reliable first; kept on disk.

        Intervals of the mean are those of breakdowns, percentile bootstrap over triples, from
        2,000 on normal, and allow for what no triple showed. A triple counts for both its entities,
        and for a community if both its ends are in it; so do test triples.

        :param what: of `MAPPED`
        :param seed: of the bootstrap, and of the search for communities, ≥ 0
        :param resolution: of communities, > 0: `kgdash.graph.communities.find_communities`
        :return: ``id`` (int64), ``name``, ``label`` (str; a community's of
            `kgdash.graph.communities.Community`), ``triples`` (int64: known), ``relik`` (mean),
            ``low``, ``high`` (float64; NaN without an interval), ``typical`` (float64: geometric
            mean), ``mrr`` (float64: of the test triples, NaN without), ``evaluated`` (int64: test
            triples), ``small`` (bool: fewer than 30 triples); of communities also ``entities``
            (int64), ``central`` (str: the most central entity's name), ``relations`` (str)
        :raises KgdashError: on an unknown choice, or a level or resolution out of range
        """
        check_name("way to read the map", what, MAPPED, "kgdash")
        check_level(level)
        graph = self.run.graph
        groups = None
        if what == "communities":
            groups = find_communities(graph, resolution, seed)
        triples = self.relik[IDS].to_numpy()
        values = self.relik["relik"].to_numpy()
        key = {"kind": "relik", "part": f"by {what}", "method": self.method, "level": level}
        key["version"] = 3
        table = cached_table(
            {**key, "seed": seed, "resolution": resolution, **self.run.table_key(triples)},
            lambda: averages(*_spread(triples, values, what, groups), level, seed),
            self.run.table_about("relik", triples, method=f"{self.method}, by {what}"),
        )
        tested = _means(*_spread(self.test, self.reciprocal, what, groups))
        table["mrr"] = table["id"].map(tested["mean"]).astype(np.float64)
        table["evaluated"] = table["id"].map(tested["count"]).fillna(0).astype(np.int64)
        table["small"] = table["triples"] < SMALL
        named = _named(graph, what, table["id"].to_numpy(), groups)
        for place, column in enumerate(("name", "label"), start=1):
            table.insert(place, column, named.pop(column))
        table = table.assign(**named)
        return table.sort_values("relik", kind="stable", ignore_index=True)


def reliability_steps(run: Run, progress: Progress = silent) -> Iterator[ReliabilityMap]:
    """Map the reliability of the graph while it is counted, as `Run.relik_steps` has it.

    :return: maps of the method "growing", at last an exact one
    :raises KgdashError: on NaN scores, when the first map is asked for
    """
    first, second = phases(progress, [0.05, 0.95])
    test, reciprocal = _reciprocal(run, first)
    for step in run.relik_steps(triples=run.graph.all_triples, progress=second):
        method = "exact" if step.exact else "growing"
        yield ReliabilityMap(run, method, step.triples, test, reciprocal, step)


def reliability_map(run: Run, method: str = "exact", progress: Progress = silent) -> ReliabilityMap:
    """Map the reliability of the graph with one method of ReliK.

    :raises KgdashError: on an unknown method, or NaN scores
    """
    first, second = phases(progress, [0.05, 0.95])
    test, reciprocal = _reciprocal(run, first)
    relik = run.relik(triples=run.graph.all_triples, method=method, progress=second)
    return ReliabilityMap(run, method, relik, test, reciprocal)


def averages(of: np.ndarray, values: np.ndarray, level: float, seed: int) -> pd.DataFrame:
    """Average values per group, with intervals.

    :param of: int64, ``(n,)``: each value's group
    :param values: float64, ``(n,)``, in (0, 1]
    :return: ``id``, ``triples`` (int64), ``relik``, ``low``, ``high``, ``typical`` (float64)
    """
    order = np.argsort(of, kind="stable")
    found, counts = np.unique(of, return_counts=True)
    part = values[order]
    ends = ratio_intervals(
        RatioMetric(bounds=UNIT),
        part,
        np.ones(len(part)),
        counts,
        level,
        [(seed, int(g)) for g in found],
    )
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    sums, logs = (
        np.add.reduceat(v, starts) if len(v) else np.zeros(0) for v in (part, np.log(part))
    )
    return pd.DataFrame(
        {
            "id": found.astype(np.int64),
            "triples": counts.astype(np.int64),
            "relik": sums / counts,
            "low": ends[:, 0],
            "high": ends[:, 1],
            "typical": np.exp(logs / counts),
        }
    )


def between(map_: ReliabilityMap, groups: np.ndarray) -> pd.DataFrame:
    """Average ReliK over the triples between each two groups of entities.

    :param groups: int64, ``(|E|,)``: each entity's group, as of `find_communities`
    :return: ``a``, ``b`` (int64, a < b), ``triples`` (int64), ``relik`` (float64: their mean)
    """
    triples = map_.relik[["head", "tail"]].to_numpy()
    ends = np.sort(groups[triples], axis=1)
    table = pd.DataFrame({"a": ends[:, 0], "b": ends[:, 1], "relik": map_.relik["relik"]})
    table = table[table["a"] != table["b"]]
    found = table.groupby(["a", "b"], as_index=False)["relik"].agg(["size", "mean"])
    return found.rename(columns={"size": "triples", "mean": "relik"})


def central_members(
    map_: ReliabilityMap, members: np.ndarray, most: int
) -> tuple[np.ndarray, pd.DataFrame]:
    """Pick the entities of a group that have the most triples inside, and the triples between them.

    :param members: ids
    :param most: how many entities at most; where there are no more, they stay in their order
    :return: their ids, and the rows of ``map_.relik`` with both ends among them
    """
    inside = np.zeros(map_.run.graph.num_entities, dtype=bool)
    inside[members] = True
    ends = map_.relik[["head", "tail"]].to_numpy()
    triples = map_.relik[inside[ends].all(axis=1)].reset_index(drop=True)
    if len(members) <= most:
        return members, triples
    degrees = np.bincount(triples[["head", "tail"]].to_numpy().ravel(), minlength=len(inside))
    members = members[np.argsort(-degrees[members], kind="stable")][:most]
    kept = triples["head"].isin(members) & triples["tail"].isin(members)
    return members, triples[kept].reset_index(drop=True)


def _reciprocal(run: Run, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    test = run.graph.splits["test"]
    if not len(test):
        return test, np.zeros(0)
    return test, triple_reciprocal_ranks(run.ranks("test", progress=progress))


def _spread(
    triples: np.ndarray, values: np.ndarray, what: str, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Give each value to the groups that its triple counts for: groups, and values."""
    heads, relations, tails = triples.T
    if what == "relation":
        return relations, values
    if groups is not None:
        inside = groups[heads] == groups[tails]
        return groups[heads[inside]], values[inside]
    ends, rows = triple_ends(triples)
    return ends, values[rows]


def _means(of: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"of": of, "value": values}).groupby("of")["value"].agg(["mean", "count"])


def _named(
    graph: KnowledgeGraph, what: str, ids: np.ndarray, groups: np.ndarray | None
) -> dict[str, list[str] | np.ndarray]:
    if groups is None:
        names, labels = (
            (graph.entities, graph.entity_labels)
            if what == "entity"
            else (graph.relations, graph.relation_labels)
        )
        return {"name": [names[i] for i in ids], "label": [labels[i] for i in ids]}
    about = describe_communities(graph, groups, ids.tolist())
    return {
        "name": [str(i) for i in ids],
        "label": [about[i].label for i in ids],
        "entities": np.bincount(groups)[ids],
        "central": [graph.entities[about[i].central[0]] for i in ids],
        "relations": [about[i].relations for i in ids],
    }
