"""Digests of graphs: other graphs have other ones, whatever their names hold."""

import numpy as np
import pytest

from kgdash.graph import digests
from kgdash.graph.digests import graph_digest, names_digest, texts_digest, triples_digest
from tests.support.fakes import make_graph


@pytest.mark.parametrize(
    ("names", "others"),
    [
        ((("a", "b\0c"), ("r",)), (("a\0b", "c"), ("r",))),
        ((("a", "b"), ("r",)), (("a\0b",), ("r",))),
        ((("a\1b",), ("r",)), (("a",), ("b\1r",))),
    ],
)
def test_no_name_makes_another_graph_look_alike(names, others):
    splits = [np.zeros((1, 3), dtype=np.int64)]
    assert graph_digest(*names, splits) != graph_digest(*others, splits)


def test_triples_in_any_blocks_have_one_digest():
    triples = np.arange(12).reshape(4, 3)
    blocks = [triples[:1], triples[1:1], triples[1:].astype(np.int32)]
    assert triples_digest(blocks) == triples_digest([triples]) != triples_digest([triples[:3]])
    graph = make_graph([(0, 0, 1), (1, 0, 0)], [(2, 0, 2)], [(0, 0, 1)])
    assert graph.known_digest == triples_digest([graph.all_triples])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_names_in_parts_have_the_digest_of_the_whole(count, monkeypatch):
    monkeypatch.setattr(digests, "_AT_ONCE", 2)
    lists = [["a", 'b"', "é, ]", "\0"][:count], ["r"]]
    assert names_digest("x [", *lists) == texts_digest(["x [", *lists])


def test_texts_that_differ_have_other_digests():
    told = [["a", "b"], ["ab"], [["a"], "b"], [{"a": "b"}]]
    assert len({texts_digest(each) for each in told}) == len(told)
