"""The mined rules that lead to a triple, and the paths in train by which they do.

Rules and their counts are those of numbers.md#9-rules, with the measures of AMIE (Galárraga et al.,
WWW 2013); what rules say together is combined as with AnyBURL (Meilicke et al., IJCAI 2019).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.explanations.entity_loss import facts_around
from kgdash.studies.rules.rule import Rule
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules

#: rules of less PCA confidence say little
MIN_PCA = 0.1

#: paths that are listed of a rule
PATHS = 10

#: the variable of a mined body that the head does not have
_INNER = "h"


@dataclass(frozen=True)
class LeadingRules:
    """Rules whose body holds for a triple, best first.

    ``table``: ``rule`` (as AMIE writes it), ``reading`` (in labels), ``pca_confidence,
    standard_confidence`` (float64), ``support`` (int64: facts that the rule finds), ``paths``
    (int64: groundings of the body here). ``paths``: one row per triple of a body, at most `PATHS`
    groundings of each rule: ``place`` (row of ``table``), ``grounding``, ``head, relation, tail``
    (ids). ``mined``: rules of the relation that were tried.
    """

    table: pd.DataFrame
    paths: pd.DataFrame
    mined: int

    @property
    def maximum(self) -> float | None:
        """Return the confidence of the best rule; None without rules."""
        return float(self.table["pca_confidence"].max()) if len(self.table) else None

    @property
    def noisy_or(self) -> float | None:
        """Return 1 − Π(1 − PCA confidence), as if rules were independent; None without rules."""
        if not len(self.table):
            return None
        return float(1 - (1 - self.table["pca_confidence"]).prod())


def leading_rules(
    graph: KnowledgeGraph, triple: np.ndarray, progress: Progress = silent
) -> LeadingRules:
    """Find the mined rules whose body holds for a triple, and how.

    Bodies are read on train without the triple itself. Rules are mined once for a graph.

    :param triple: int64 ids, ``(3,)``
    :raises KgdashError: if train is empty
    """
    rules = find_rules(graph, RuleSelection(min_pca=MIN_PCA), progress=progress)
    chosen = rules.take(np.flatnonzero(rules.table["head_relation"] == triple[1]))
    # A closed body of one or two atoms lies on the facts of the triple's ends.
    facts = _Facts.around(graph, triple)
    held: list[int] = []
    counts: list[int] = []
    rows: list[tuple[int, ...]] = []
    for place, rule in enumerate(chosen.rules):
        values = facts.values(rule)
        if not values:
            continue
        for number, value in enumerate(values[:PATHS]):
            at = {**facts.ends, _INNER: value}
            rows += [(len(held), number, at[x], r, at[y]) for r, x, y in rule.body]
        held.append(place)
        counts.append(len(values))
    columns = ["rule", "reading", "pca_confidence", "standard_confidence", "support"]
    table = chosen.table.iloc[held][columns].assign(paths=np.array(counts, dtype=np.int64))
    listed = np.array(rows, dtype=np.int64).reshape(-1, 5)
    paths = pd.DataFrame(listed, columns=["place", "grounding", *IDS])
    return LeadingRules(table.reset_index(drop=True), paths, len(chosen.table))


@dataclass(frozen=True)
class _Facts:
    """The training facts of a triple's ends without the triple, by what they hold.

    ``ends``: values of the variables a and b. ``tails``, ``heads``: of relation and other end.
    """

    ends: dict[Any, int]
    relations: set[int]
    tails: dict[tuple[int, int], set[int]]
    heads: dict[tuple[int, int], set[int]]

    @classmethod
    def around(cls, graph: KnowledgeGraph, triple: np.ndarray) -> _Facts:
        ends = {"a": int(triple[0]), "b": int(triple[2])}
        facts = np.concatenate([facts_around(graph, end, loops=True) for end in ends.values()])
        tails: dict[tuple[int, int], set[int]] = defaultdict(set)
        heads: dict[tuple[int, int], set[int]] = defaultdict(set)
        for h, r, t in facts[(facts != triple).any(axis=1)].tolist():
            tails[r, h].add(t)
            heads[r, t].add(h)
        return cls(ends, {r for r, _ in tails}, tails, heads)

    def values(self, rule: Rule) -> list[int]:
        """Return, ascending, the values of the body's inner variable for which it holds.

        Of a body without one: [0] if it holds.
        """
        ends, found, none = self.ends, None, set[int]()
        for relation, x, y in rule.body:
            if relation not in self.relations:
                return []
            if x in ends and y in ends:
                if ends[y] not in self.tails.get((relation, ends[x]), none):
                    return []
                continue
            if x in ends:
                here = self.tails.get((relation, ends[x]), none)
            else:
                here = self.heads.get((relation, ends[y]), none)
            found = here if found is None else found & here
            if not found:
                return []
        return [0] if found is None else sorted(found)
