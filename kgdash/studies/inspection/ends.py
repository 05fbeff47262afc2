"""What is known of an entity: its degree, its relations, its facts and their ReliK."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.ranking.relik_sampled import relik_or_middle
from kgdash.runs import Run
from kgdash.runs.preparation import relik_method

#: facts whose ReliK is taken at most: each may need the scores around another entity
MOST_FACTS = 200


@dataclass(frozen=True)
class EntityFacts:
    """The known triples that an entity is an end of.

    ``triples``: ``head, relation, tail`` (int64 ids), ``role`` ("head" or "tail"; a loop is listed
    as head), ``split`` (the first that holds it).
    """

    entity: int
    triples: pd.DataFrame

    @property
    def degree(self) -> int:
        """Return how many they are."""
        return len(self.triples)

    @property
    def by_split(self) -> dict[str, int]:
        """Return how many each split holds; a triple counts in the first that has it."""
        counts = self.triples["split"].value_counts()
        return {split: int(counts.get(split, 0)) for split in SPLITS}

    def relations(self) -> pd.DataFrame:
        """Count by relation and role, the most frequent first.

        :return: ``relation`` (int64 id), ``role`` (str), ``triples`` (int64)
        """
        counts = self.triples.groupby(["relation", "role"], as_index=False).size()
        counts = counts.rename(columns={"size": "triples"})
        return counts.sort_values("triples", ascending=False, kind="stable", ignore_index=True)


def facts_of_entity(graph: KnowledgeGraph, entity: int) -> EntityFacts:
    """Collect the known triples that an entity is an end of, by relation."""
    known, anchor = graph.known(), np.array([entity])
    parts = []
    for role, place in (("head", 0), ("tail", 2)):
        _, codes = known.triples_with_entity(anchor, role)
        relations, others = np.divmod(codes, graph.num_entities)
        if role == "tail":
            relations, others = relations[others != entity], others[others != entity]
        rows = np.full((len(codes) if role == "head" else len(others), 3), entity)
        rows[:, 1], rows[:, 2 - place] = relations, others
        part = pd.DataFrame(rows, columns=["head", "relation", "tail"]).assign(role=role)
        part["split"] = graph.split_of(rows)
        parts.append(part)
    return EntityFacts(entity, pd.concat(parts, ignore_index=True))


def facts_with_relik(
    run: Run, facts: EntityFacts, most: int = MOST_FACTS, progress: Progress = silent
) -> pd.DataFrame:
    """Take the ReliK of an entity's facts: sampled where `relik_method` says so.

    :param most: of more facts than these, an even choice in the order of ``facts`` is taken
    :return: the rows of ``facts.triples`` with ``relik`` (float64), the least reliable first
    :raises KgdashError: on NaN scores
    """
    table = facts.triples
    if len(table) > most:
        table = table.iloc[np.linspace(0, len(table) - 1, most).round().astype(int)]
    if table.empty:
        return table.assign(relik=np.zeros(0))
    triples = table[["head", "relation", "tail"]].to_numpy()
    relik = run.relik(triples=triples, method=relik_method(run), progress=progress)
    return table.assign(relik=relik_or_middle(relik)).sort_values(
        "relik", kind="stable", ignore_index=True
    )
