"""What kinds of entities there are: their types, or else what they mostly do."""

import numpy as np

from kgdash.breakdowns.custom_grouping import TypeGrouping
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_types import EntityTypes
from kgdash.graph.sorted_slices import run_lengths
from kgdash.runs import Run
from kgdash.runs.saved_groupings import saved_groupings


def entity_roles(graph: KnowledgeGraph) -> EntityTypes:
    """Call each entity by its most frequent role in known triples, such as "tail of “genre”".

    Of equally frequent roles that of the first relation is taken, as head before as tail. Entities
    without a known triple have none.
    """
    roles, best = 2 * graph.num_relations, np.zeros(graph.num_entities, dtype=np.int64)
    for end, order in enumerate(graph.known().orders()):
        # Sorted by entity, then relation: the triples of a role follow one another.
        pair, count = run_lengths(order // max(1, graph.num_entities))
        entity, relation = np.divmod(pair, graph.num_relations)
        rank = count * roles + roles - 1 - (2 * relation + end)
        first = np.flatnonzero(np.diff(entity, prepend=-1))
        entity, rank = entity[first], np.maximum.reduceat(rank, first)
        best[entity] = np.maximum(best[entity], rank)
    entities = np.flatnonzero(best)
    used, number = np.unique(roles - 1 - best[entities] % roles, return_inverse=True)
    names = tuple(
        f"{('head', 'tail')[code % 2]} of “{graph.relation_labels[code // 2]}”"
        for code in used.tolist()
    )
    return EntityTypes(names, entities, number.astype(np.int64))


def types_of_run(run: Run) -> tuple[EntityTypes, str]:
    """Return the entity types that were saved with a run, else the roles of its entities.

    :return: the types, and where they are from: the name of the saved grouping, or "roles"
    :raises KgdashError: as `saved_groupings`
    """
    for grouping in saved_groupings(run).values():
        if isinstance(grouping, TypeGrouping):
            return grouping.types, grouping.name
    return entity_roles(run.graph), "roles"
