"""Restrictions as people write them, and the filters' guide."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import FILTERS, SPLITS
from kgdash.graph.filter_advice import leak_warning, use_case
from kgdash.graph.restriction import Restriction, read_entities, restrict
from tests.support.fakes import array, fake_run, make_graph, random_scorer

TRIPLES = [(0, 0, 1), (0, 1, 2), (2, 0, 3), (3, 1, 3)]
GRAPH = make_graph(TRIPLES, test=[(1, 0, 0)], entities=6, relations=2)
DEGREES = [3, 2, 2, 2, 0, 0]


def test_nothing_chosen_restricts_nothing():
    found = restrict(GRAPH)
    assert (found.entities, found.relations, found.key) == (None, None, ())
    assert found.count(GRAPH, array(TRIPLES)) == {"entities": 6, "relations": 2, "triples": 4}


def test_relations_and_counts():
    found = restrict(GRAPH, ["R1", "r1"])
    assert found.relations.tolist() == [1]
    assert found.count(GRAPH, array(TRIPLES)) == {"entities": 6, "relations": 1, "triples": 2}
    with pytest.raises(KgdashError, match="unknown relation 'r9'"):
        restrict(GRAPH, ["r9"])


@pytest.mark.parametrize("low", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("high", [None, 0, 2, 3])
def test_degrees(low, high):
    wanted = [
        e
        for e, d in enumerate(DEGREES)
        if (low is None or d >= low) and (high is None or d <= high)
    ]
    if not wanted:
        with pytest.raises(
            KgdashError, match=r"no entity .* fulfils all conditions \(degrees, .* 0 to 3"
        ):
            restrict(GRAPH, min_degree=low, max_degree=high)
        return
    found = restrict(GRAPH, min_degree=low, max_degree=high).entities
    assert (low, high) == (None, None) if found is None else found.tolist() == wanted


def test_conditions_add_up_and_keys_tell_apart():
    listed = np.array([1, 4])
    assert restrict(GRAPH, entities=listed, min_degree=1).entities.tolist() == [1]
    with pytest.raises(KgdashError, match="no entity"):
        restrict(GRAPH, entities=listed, min_degree=3)
    some = [restrict(GRAPH), restrict(GRAPH, ["r0"]), restrict(GRAPH, entities=listed)]
    some += [restrict(GRAPH, ["r1"]), Restriction(relations=listed)]
    assert len({r.key for r in some}) == len(some)


def test_ranks_of_a_restriction_are_those_of_its_ids():
    run = fake_run(make_graph(TRIPLES, test=TRIPLES, entities=6), random_scorer(6, 2))
    chosen = restrict(run.graph, ["r0"], read_entities("e0\ne1\nE2\n", run.graph))
    ranks = run.ranks(restriction=chosen)
    count = chosen.count(run.graph, run.graph.splits["test"])
    assert count == {"entities": 3, "relations": 1, "triples": 1}
    assert len(ranks) == 2 * count["triples"]
    assert (ranks["candidates"] <= 3).all()


def test_lists_of_entities(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbfe3\r\n\r\n  E1 \r\ne3")
    for source in (path, path.read_bytes(), "e3\n\nE1\ne3"):
        assert read_entities(source, GRAPH).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("e0\n\ne9\ne1", "unknown entity 'e9' in graph tiny .*did you mean.* (mine, line 3)"),
        ("e9\ne8", "(mine, line 1); 1 more"),
        ("x1\nx2\nx3\nx4\nx5\nx6", "(mine, line 1); several more"),
        ("\n \n", "mine names no entity"),
        (b"e0\n\xff", "found byte 0xff (mine, line 2)"),
    ],
)
def test_refused_lists(source, message):
    with pytest.raises(KgdashError) as caught:
        read_entities(source, GRAPH, "mine")
    for part in message.split(".*"):
        assert part in str(caught.value)


def test_a_visitors_list_is_bounded(as_visitor):
    as_visitor(most_rows=2)
    assert read_entities("e0\ne1\n", GRAPH).tolist() == [0, 1]
    with pytest.raises(KgdashError, match="mine holds more than 2 lines"):
        read_entities("e0\ne1\n\n", GRAPH, "mine")


def test_a_missing_list(tmp_path):
    with pytest.raises(KgdashError, match=r"can not read .*none\.txt: No such file"):
        read_entities(tmp_path / "none.txt", GRAPH)


def test_every_filter_has_its_scenario_and_only_valid_can_leak():
    assert len({use_case(f) for f in FILTERS}) == len(FILTERS)
    leaking = {(s, f) for s in SPLITS for f in FILTERS if leak_warning(s, f)}
    assert leaking == {("valid", "train+valid+test"), ("valid", "train+test")}
