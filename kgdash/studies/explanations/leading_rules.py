"""The mined rules that lead to a triple, and the paths in train by which they do.

Rules and their counts are those of numbers.md#9-rules, with the measures of AMIE (Galárraga et al.,
WWW 2013); what rules say together is combined as with AnyBURL (Meilicke et al., IJCAI 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.explanations.entity_loss import facts_around
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.groundings import groundings
from kgdash.studies.rules.rule import Rule
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules

#: rules of less PCA confidence say little
MIN_PCA = 0.1

#: paths that are listed of a rule, and more than any has
PATHS, _EVERY = 10, 2**40


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
    around = [facts_around(graph, int(end), loops=True) for end in (triple[0], triple[2])]
    facts = np.unique(np.concatenate(around), axis=0)
    edges = DirectedEdges.of(
        facts[(facts != triple).any(axis=1)], graph.num_entities, graph.num_relations
    )
    held: list[int] = []
    parts: list[pd.DataFrame] = []
    counts: list[int] = []
    there = set(facts[:, 1].tolist())
    for place, rule in enumerate(chosen.rules):
        if not {relation for relation, _, _ in rule.body} <= there:
            continue
        count, rows = _grounded(rule, edges, triple)
        if count:
            parts.append(rows.assign(place=len(held)))
            held.append(place)
            counts.append(count)
    columns = ["rule", "reading", "pca_confidence", "standard_confidence", "support"]
    table = chosen.table.iloc[held][columns].assign(paths=np.array(counts, dtype=np.int64))
    empty = pd.DataFrame(columns=["place", "grounding", *IDS], dtype=np.int64)
    paths = pd.concat([empty, *parts], ignore_index=True)
    return LeadingRules(table.reset_index(drop=True), paths, len(chosen.table))


def _grounded(rule: Rule, edges: DirectedEdges, triple: np.ndarray) -> tuple[int, pd.DataFrame]:
    """Return how many groundings of a rule's body lead to a triple, and the first of them."""
    body = Body.of(rule, edges)
    ends = {"a": triple[0], "b": triple[2]}
    start, end = ends[body.start], ends[body.end]
    if body.direct is not None and not body.direct[start, end]:
        return 0, pd.DataFrame()
    rows = groundings(body, triple[None], _EVERY, np.random.default_rng(0))
    rows = rows[~rows["is_answer_triple"]]
    kept = rows[rows["grounding"] < PATHS].sort_values("grounding", kind="stable")
    return int(rows["grounding"].nunique()), kept[["grounding", *IDS]]
