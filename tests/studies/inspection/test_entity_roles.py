"""Entities are called by their types, or by what they most often do."""

from kgdash.breakdowns.custom_grouping import TypeGrouping, condition_grouping
from kgdash.graph.entity_types import entity_types
from kgdash.runs.saved_groupings import save_grouping
from kgdash.studies.inspection.entity_roles import entity_roles, types_of_run
from tests.support.fakes import fake_run, make_graph, random_scorer

GRAPH = make_graph([(0, 0, 1), (2, 0, 1), (1, 1, 1)], [(3, 1, 2)], [(3, 0, 0)], entities=5)


def roles_of(types):
    return {
        entity: types.names[number]
        for entity, number in zip(types.entities.tolist(), types.types.tolist(), strict=True)
    }


def test_the_most_frequent_role_in_all_splits():
    # 0: head and tail of R0, once each; 2: head of R0, tail of R1; 3: head of R0 and of R1.
    # 1: tail of R0 twice, head and tail of R1 once. 4 is in no triple.
    assert roles_of(entity_roles(GRAPH)) == {
        0: "head of “R0”",
        1: "tail of “R0”",
        2: "head of “R0”",
        3: "head of “R0”",
    }


def test_saved_types_go_before_roles():
    run = fake_run(GRAPH, random_scorer(5, 2))
    types, source = types_of_run(run)
    assert source == "roles"
    assert roles_of(types) == roles_of(entity_roles(GRAPH))
    save_grouping(run, condition_grouping("by size", ["rare: frequency < 3"]))
    given = entity_types([(0, "person"), (0, "writer"), (4, "place")])
    save_grouping(run, TypeGrouping("kinds", "tail", given))
    types, source = types_of_run(run)
    assert (source, types.names) == ("kinds", ("person", "place", "writer"))
    assert types.entities.tolist() == given.entities.tolist()
