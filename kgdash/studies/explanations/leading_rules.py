"""The mined rules that lead to a triple, and the paths in train by which they do.

Rules and their counts are those of numbers.md#9-rules, with the measures of AMIE (Galárraga et al.,
WWW 2013); what rules say together is combined as with AnyBURL (Meilicke et al., IJCAI 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.known_triples import with_inverses
from kgdash.progress import Progress, silent
from kgdash.studies.explanations.entity_loss import facts_around
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules

#: rules of less PCA confidence say little
MIN_PCA = 0.1

#: paths that are listed of a rule
PATHS = 10


@dataclass(frozen=True)
class LeadingRules:
    """Rules whose body holds for a triple, best first.

    ``table``: ``rule`` (as AMIE writes it), ``reading`` (in labels), ``pca_confidence,
    standard_confidence`` (float64), ``support`` (int64: facts that the rule finds), ``paths``
    (int64: groundings of the body here). ``paths``: one row per triple of a body, at most `PATHS`
    groundings of each rule: ``place`` (row of ``table``), ``grounding``, ``head, relation, tail``
    (ids). ``mined``: rules of the relation that were tried. ``notes`` say which were not.
    """

    table: pd.DataFrame
    paths: pd.DataFrame
    mined: int
    notes: tuple[str, ...] = ()

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
    there = _Steps.of(graph, triple)
    counts = there.groundings(chosen.table)
    held = np.flatnonzero(counts)
    table = chosen.take(held).written()
    columns = ["rule", "reading", "pca_confidence", "standard_confidence", "support"]
    paths = there.paths(chosen.table.iloc[held])
    table = table[columns].assign(paths=counts[held])
    return LeadingRules(table, paths, len(chosen.table), chosen.notes)


@dataclass(frozen=True)
class _Steps:
    """The steps that a body can take for a triple (h, ·, t), on train without it.

    ``entities``: ids, int64, ``(m,)``, ascending: t, and those between h and t. ``leaving``,
    ``reaching``: from h to each of them, from each of them to t: 1.0 or nothing, ``(steps, m)``.
    """

    triple: np.ndarray
    entities: np.ndarray
    leaving: sparse.csr_array
    reaching: sparse.csr_array

    @classmethod
    def of(cls, graph: KnowledgeGraph, triple: np.ndarray) -> _Steps:
        head, _, tail = triple.tolist()
        out, into = _facts(graph, triple, head, 0)[:, 1:], _facts(graph, triple, tail, 2)[:, 1::-1]
        entities = np.union1d(np.intersect1d(out[:, 1], into[:, 1]), [tail])
        leaving, reaching = (
            _at_entities(steps, entities, 2 * graph.num_relations) for steps in (out, into)
        )
        return cls(triple, entities, leaving, reaching)

    def groundings(self, rules: pd.DataFrame) -> np.ndarray:
        """Count the groundings of rules' bodies: int64, ``(n,)``."""
        first, second = (rules[name].to_numpy() for name in ("first", "second"))
        here = self.leaving[:, [np.searchsorted(self.entities, self.triple[2])]].toarray()[:, 0] > 0
        ways = (self.leaving @ self.reaching.T).toarray()
        joint = here[first] & (here[second] | (rules["atoms"] == 1).to_numpy())
        chained = ((rules["atoms"] == 2) & ~rules["joint"]).to_numpy()
        return np.where(chained, ways[first, second], joint).astype(np.int64)

    def paths(self, rules: pd.DataFrame) -> pd.DataFrame:
        """List the first groundings of rules whose body holds, as `LeadingRules` has them."""
        head, _, tail = self.triple.tolist()
        relations, rows = self.leaving.shape[0] // 2, []
        columns = (rules[name].tolist() for name in ("first", "second", "joint", "atoms"))
        for place, (first, second, joint, atoms) in enumerate(zip(*columns, strict=True)):
            if joint or atoms == 1:
                steps = [(head, step, tail) for step in (first, second)[:atoms]]
                rows += [(place, 0, *step) for step in steps]
                continue
            ends = (
                of.indices[of.indptr[step] : of.indptr[step + 1]]
                for of, step in ((self.leaving, first), (self.reaching, second))
            )
            inner = np.intersect1d(*ends)[:PATHS]
            for number, entity in enumerate(self.entities[inner].tolist()):
                rows += [
                    (place, number, head, first, entity),
                    (place, number, entity, second, tail),
                ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        back = table[:, 3] >= relations
        table[back] = table[back][:, [0, 1, 4, 3, 2]] - np.array([0, 0, 0, relations, 0])
        return pd.DataFrame(table, columns=["place", "grounding", *IDS])


def _at_entities(steps: np.ndarray, entities: np.ndarray, count: int) -> sparse.csr_array:
    """Return where each step meets entities: 1.0, ``(count, entities)``.

    :param steps: numbers of steps, and ids: int64, ``(n, 2)``, each once
    :param entities: ids, ascending
    """
    steps = steps[np.isin(steps[:, 1], entities)]
    places = steps[:, 0], np.searchsorted(entities, steps[:, 1])
    return sparse.csr_array((np.ones(len(steps)), places), shape=(count, len(entities)))


def _facts(graph: KnowledgeGraph, triple: np.ndarray, entity: int, column: int) -> np.ndarray:
    """Return the facts in train but a triple, inverses too, whose head (0) or tail (2) is given."""
    facts = facts_around(graph, entity, loops=True)
    facts = with_inverses(facts[(facts != triple).any(axis=1)], graph.num_relations)
    return facts[facts[:, column] == entity]
