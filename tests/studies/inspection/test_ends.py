"""What is known of an entity is every triple that it is an end of, once."""

import numpy as np
from hypothesis import given

from kgdash.studies.inspection.ends import facts_of_entity, facts_with_relik
from tests.support.fakes import make_graph, worlds

COLUMNS = ["head", "relation", "tail"]


@given(worlds())
def test_brute_force(world):
    scorer, parts, _ = world
    graph = make_graph(*parts, scorer.num_entities, scorer.num_relations)
    split_of = {}
    for name, part in zip(("test", "valid", "train"), reversed(parts), strict=True):
        split_of |= dict.fromkeys(part, name)
    for entity in range(graph.num_entities):
        facts = facts_of_entity(graph, entity)
        mine = {x for x in split_of if entity in (x[0], x[2])}
        listed = [tuple(row) for row in facts.triples[COLUMNS].to_numpy().tolist()]
        assert len(listed) == len(set(listed)) == facts.degree == graph.degrees[entity]
        assert set(listed) == mine
        for x, role, split in zip(
            listed, facts.triples["role"], facts.triples["split"], strict=True
        ):
            assert split == split_of[x]
            assert role == ("head" if x[0] == entity else "tail")
        assert facts.by_split == {
            name: sum(split_of[x] == name for x in mine) for name in ("train", "valid", "test")
        }
        assert facts.relations()["triples"].sum() == len(mine)


def test_relations_are_counted_by_role():
    graph = make_graph([(0, 0, 1), (0, 0, 2), (1, 0, 0), (2, 1, 0), (0, 1, 0)])
    table = facts_of_entity(graph, 0).relations()
    found = {tuple(row) for row in table.to_numpy().tolist()}
    assert found == {(0, "head", 2), (0, "tail", 1), (1, "tail", 1), (1, "head", 1)}
    assert table["triples"].iloc[0] == 2


def test_relik_of_the_facts(umls):
    facts = facts_of_entity(umls.graph, 3)
    table = facts_with_relik(umls, facts)
    assert len(table) == facts.degree
    assert table["relik"].is_monotonic_increasing
    expected = umls.relik(triples=table[COLUMNS].to_numpy())["relik"]
    assert table["relik"].tolist() == expected.tolist()


def test_an_even_choice_where_there_are_many(umls):
    entity = int(umls.graph.degrees.argmax())
    facts = facts_of_entity(umls.graph, entity)
    few = facts_with_relik(umls, facts, most=5)
    assert len(few) == 5 < facts.degree
    rows = {tuple(row) for row in facts.triples[COLUMNS].to_numpy().tolist()}
    assert {tuple(row) for row in few[COLUMNS].to_numpy().tolist()} < rows


def test_an_entity_without_facts(umls):
    graph = make_graph([(0, 0, 1)], entities=3)
    facts = facts_of_entity(graph, 2)
    assert (facts.degree, len(facts.relations())) == (0, 0)
    assert facts.by_split == {"train": 0, "valid": 0, "test": 0}
    assert np.array_equal(facts_with_relik(umls, facts)["relik"], [])
