"""What to know of a run first: a verdict, four values with intervals, and where to look.

Values are those of the pages that they lead to; intervals are bootstrapped over triples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from kgdash.breakdowns.breakdown import SMALL, breakdown
from kgdash.breakdowns.rank_facts import add_relations
from kgdash.files.html import facts_html
from kgdash.graph import IDS, KnowledgeGraph, triple_text
from kgdash.graph.communities import find_communities
from kgdash.graph.held_out import repeated_triples
from kgdash.progress import Progress, silent
from kgdash.ranking.metrics import side_rows, tie_summary
from kgdash.ranking.ratio_metrics import mean_estimate
from kgdash.runs import Run
from kgdash.statistics.estimate import Estimate, number, percent, with_interval
from kgdash.statistics.jackknife import means_within
from kgdash.statistics.sampled_mean import SampledMean
from kgdash.studies.overview.verdict import exact_sentence, performance_verdict, region_verdict
from kgdash.studies.reliability.reliability_map import ReliabilityMap, averages

#: values of an overview, as people read them
VALUES = {"mrr": "MRR", "hits_at_1": "Hits@1", "hits_at_10": "Hits@10", "relik": "mean ReliK"}

#: a gap between the MRRs of optimistic and pessimistic ranks that is worth a look
_WIDE_GAP = 0.01


@dataclass(frozen=True)
class Lead:
    """Something to look at first.

    ``kind``: "relation", "community", "triple" or "ties"; ``name``: of the entity or relation in
    the graph, or empty; ``triple``: names of head, relation and tail, or none of them.
    """

    kind: str
    text: str
    name: str = ""
    triple: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overview:
    """The answer of a run.

    ``values``: "mrr", "hits_at_1", "hits_at_10" (realistic, both sides, filtered by all splits, of
    the test triples; n counts triples) and "relik" (of all known triples), each with a 95%
    interval. ``communities``: of `ReliabilityMap.by`, with ``mrr_low`` and ``mrr_high``; its
    intervals hold jointly (Bonferroni); empty while ReliK is counted, and where it is sampled.
    ``leads``: what to look at first, the gravest first. ``sampled``: of the values that are of
    samples, how many triples of how many; ``how``: a sentence that tells what was computed how.
    """

    map: ReliabilityMap
    values: dict[str, Estimate]
    communities: pd.DataFrame
    verdict: tuple[str, ...]
    leads: tuple[Lead, ...]
    sampled: dict[str, SampledMean] = field(default_factory=dict)
    how: str = ""

    def count(self, name: str) -> str:
        """Write of how many triples a value is: "661", "100 of 4,500,000"."""
        drawn, n = self.sampled.get(name), self.values[name].n
        return f"{n:,} of {drawn.population:,}" if drawn and not drawn.exact else f"{n:,}"

    def __repr__(self) -> str:
        """Return the verdict."""
        return " ".join(self.verdict).replace("**", "")

    def _repr_html_(self) -> str:
        values = {
            label: f"{with_interval(self.values[name])}, n = {self.count(name)}"
            for name, label in VALUES.items()
        }
        said = (*self.verdict, *(lead.text for lead in self.leads), self.how)
        title = f"Where {self.map.run.name} can be trusted"
        return facts_html(title, values, [sentence.replace("**", "") for sentence in said])

    def about(self) -> dict[str, Any]:
        """Return verdict, values and leads as plain data."""
        return {
            "verdict": list(self.verdict),
            "method": self.map.method,
            "how": self.how,
            "sampled": {name: asdict(drawn) for name, drawn in self.sampled.items()},
            "values": {name: asdict(value) for name, value in self.values.items()},
            "leads": [asdict(lead) for lead in self.leads],
        }


def overview(map_: ReliabilityMap, progress: Progress = silent) -> Overview:
    """Sum up a map of reliability and the ranks of the test triples.

    :param progress: called with (done, total); may raise to cancel
    """
    run = map_.run
    relik = map_.relik["relik"].to_numpy()
    values = {"mrr": mean_estimate(map_.reciprocal), "relik": mean_estimate(relik)}
    counting = map_.step is not None and not map_.step.exact
    if map_.step is not None and counting:
        values["relik"] = Estimate(map_.step.mean, map_.step.low, map_.step.high, len(relik))
    hits = {k: np.zeros(0) for k in (1, 10)}
    leads: list[Lead] = []
    by_chance = 0.0
    if len(map_.test):
        ranks = run.ranks("test", progress=progress)
        hits = {k: hits_at(ranks, k) for k in hits}
        by_chance = chance_of_hits(ranks, 10)
        leads += leads_of_ranks(run, ranks)
    values |= {f"hits_at_{k}": mean_estimate(share) for k, share in hits.items()}
    communities = pd.DataFrame() if counting else _communities(map_)
    is_exact = map_.method == "exact"
    if is_exact:
        leads += [*_least_reliable(communities, values["relik"]), *_least_likely(map_)]
    verdict = (
        region_verdict(
            communities, is_exact, _by_chance(map_, communities) if is_exact else np.nan
        ),
        performance_verdict(
            values["mrr"],
            values["hits_at_10"],
            repeated_triples(run.graph).get(("test", "train"), 0),
            by_chance,
        ),
    )
    how = exact_sentence(len(map_.test), len(relik)) if is_exact else ""
    return Overview(map_, values, communities, verdict, tuple(leads), how=how)


def doubted_fact(run: Run, progress: Progress = silent) -> tuple[str, str, str]:
    """Return `least_reliable_fact` of all known triples."""
    relik = run.relik(triples=run.graph.all_triples, progress=progress)
    return least_reliable_fact(run.graph, relik)


def least_reliable_fact(graph: KnowledgeGraph, relik: pd.DataFrame) -> tuple[str, str, str]:
    """Return the names of the triple of least ReliK, the first of equals.

    :param relik: of `Run.relik`
    """
    head, relation, tail = relik.loc[relik["relik"].idxmin(), IDS].astype(int)
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def hits_at(ranks: pd.DataFrame, k: int) -> np.ndarray:
    """Return, per triple, the share of its two queries whose answer is among the k best."""
    hits = ranks["realistic"].to_numpy()[side_rows(ranks, "both")] <= k
    share: np.ndarray = hits.mean(axis=0)
    return share


def chance_of_hits(ranks: pd.DataFrame, k: int) -> float:
    """Return the share of queries whose answer random orders put among the k best, of N each."""
    return float(np.minimum(k / ranks["candidates"].to_numpy(), 1.0).mean())


def leads_of_ranks(run: Run, ranks: pd.DataFrame) -> list[Lead]:
    """Say what the ranks of test triples, all or some, give to look at.

    :param ranks: of `Run.ranks`
    """
    return [*_weakest_relation(run, ranks), *_ties(ranks)]


def _communities(map_: ReliabilityMap) -> pd.DataFrame:
    groups = find_communities(map_.run.graph)
    joint = 1 - 0.05 / max(int(groups.max()) + 1, 1)
    table = map_.by("communities", joint)
    ends = groups[map_.test[:, [0, 2]]]
    inside = ends[:, 0] == ends[:, 1]
    tested = averages(ends[inside, 0], map_.reciprocal[inside], joint, 0).set_index("id")
    for column in ("low", "high"):
        table[f"mrr_{column}"] = table["id"].map(tested[column]).astype(np.float64)
    return table


def _by_chance(map_: ReliabilityMap, communities: pd.DataFrame) -> float:
    """Return the p-value of the difference of the most and the least reliable large community.

    By the jackknife's errors over entities, since triples of one are alike, and after Bonferroni's
    correction for the pairs that these two were picked from. NaN for fewer than two.
    """
    groups = find_communities(map_.run.graph)
    relik = map_.relik["relik"].to_numpy()
    means, errors = means_within(groups, map_.relik[["head", "tail"]].to_numpy(), relik)
    large = communities[communities["triples"] >= SMALL]["id"].to_numpy()
    if len(large) < 2:
        return np.nan
    low, high = large[np.argmin(means[large])], large[np.argmax(means[large])]
    z = (means[high] - means[low]) / np.hypot(errors[high], errors[low])
    return float(min(2 * ndtr(-z) * len(large) * (len(large) - 1) / 2, 1.0))


def _weakest_relation(run: Run, ranks: pd.DataFrame) -> Iterator[Lead]:
    table = breakdown(add_relations(ranks, run.graph), "relation")
    table = table[(table["side"] == "both") & ~table["small"]].sort_values("value", kind="stable")
    if len(table) < 2:
        return
    row, rest = table.iloc[0], table.iloc[1:]
    value = Estimate(row["value"], row["low"], row["high"], int(row["triples"]))
    # One whose ranks are all equal has no interval.
    lowest = value.high < rest["low"].fillna(rest["value"]).min()
    last = "the lowest" if lowest else "among the lowest"
    yield Lead(
        "relation",
        f"Relation “{row['group']}” has {last} of MRRs: {with_interval(value)}, "
        f"{value.n:,} test triples.",
        str(row["group"]),
    )


def _ties(ranks: pd.DataFrame) -> Iterator[Lead]:
    ties = tie_summary(ranks)
    if ties["mrr_gap"] > _WIDE_GAP:
        yield Lead(
            "ties",
            f"Equal scores blur the ranks: {percent(ties['tied_share'])} of the true answers share "
            f"theirs, which moves the MRR by {number(ties['mrr_gap'])}.",
        )


def _least_reliable(communities: pd.DataFrame, whole: Estimate) -> Iterator[Lead]:
    large = communities[communities["triples"] >= SMALL].sort_values("relik", kind="stable")
    for row in large.head(1).to_dict("records"):
        value = Estimate(row["relik"], row["low"], row["high"], int(row["triples"]))
        if whole.is_above(value):
            yield Lead(
                "community",
                f"The community “{row['label']}” is less reliable than the graph: mean ReliK "
                f"{with_interval(value)}, {value.n:,} triples.",
                row["central"],
            )


def _least_likely(map_: ReliabilityMap) -> Iterator[Lead]:
    graph, relik = map_.run.graph, map_.relik["relik"]
    least = float(relik.min())
    alike = int((relik == least).sum())
    if alike == len(relik):
        return
    text = triple_text(*graph.with_names(map_.relik.loc[[relik.idxmin()], IDS]).iloc[0])
    which = "this known fact" if alike == 1 else f"{alike:,} known facts alike"
    yield Lead(
        "triple",
        f"The model trusts {which} least{', one of them' if alike > 1 else ''}: {text}: ReliK "
        f"{number(least)}. Wrong, or not learnt?",
        triple=least_reliable_fact(graph, map_.relik),
    )
