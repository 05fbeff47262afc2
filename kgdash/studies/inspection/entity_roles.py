"""What kinds of entities there are: their types, or else what they mostly do."""

import numpy as np

from kgdash.breakdowns.custom_grouping import TypeGrouping
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_types import EntityTypes
from kgdash.runs import Run
from kgdash.runs.saved_groupings import saved_groupings


def entity_roles(graph: KnowledgeGraph) -> EntityTypes:
    """Call each entity by its most frequent role in known triples, such as "tail of “genre”".

    Of equally frequent roles that of the first relation is taken, as head before as tail. Entities
    without a known triple have none.
    """
    heads, relations, tails = graph.all_triples.T
    roles = 2 * graph.num_relations
    pairs = np.concatenate([heads * roles + 2 * relations, tails * roles + 2 * relations + 1])
    found, counts = np.unique(pairs, return_counts=True)
    entity, role = np.divmod(found, roles)
    order = np.lexsort((role, -counts, entity))
    entities, first = np.unique(entity[order], return_index=True)
    chosen = role[order][first]
    used, number = np.unique(chosen, return_inverse=True)
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
