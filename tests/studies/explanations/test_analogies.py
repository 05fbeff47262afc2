"""Analogies are the nearest entities that have the relation in train."""

import numpy as np

from kgdash.scoring.entity_vectors import entity_vectors
from kgdash.studies.explanations.analogies import ENTITIES, TAILS, analogies
from tests.support.fakes import fake_run, make_graph, random_scorer


def test_against_all_distances(written):
    run = written("ComplEx").run
    graph, vectors = run.graph, entity_vectors(run.scorer)
    train = [tuple(row) for row in graph.split("train").tolist()]
    for triple in graph.split("test")[:5]:
        head, relation, tail = triple.tolist()
        distances = vectors.distances_from(head)
        having = {h for h, r, _ in train if r == relation and h != head}
        expected = sorted(having, key=lambda e: (distances[e], e))[:ENTITIES]
        found = analogies(run, triple)
        assert found["entity"].tolist() == expected
        for row in found.itertuples():
            tails = {t for h, r, t in train if (h, r) == (row.entity, relation)}
            assert row.facts == len(tails)
            assert row.same == (tail in tails)
            assert set(row.tails) <= tails
            assert len(row.tails) == min(TAILS, len(tails))
            assert not row.same or row.tails[0] == tail
            assert row.distance == distances[row.entity]


def test_no_vectors_and_nobody_else():
    graph = make_graph([(0, 0, 1)], entities=3)
    assert analogies(fake_run(graph, random_scorer(3, 1)), np.array([0, 0, 1])) is None


def test_nobody_else_has_the_relation(written):
    from dataclasses import replace

    made = written("DistMult")
    empty = np.empty((0, 3), np.int64)
    splits = {"train": np.array([[0, 0, 1], [1, 1, 2]]), "valid": empty, "test": empty}
    run = replace(made.run, graph=replace(made.graph, splits=splits))
    assert analogies(run, np.array([0, 0, 2])).empty
