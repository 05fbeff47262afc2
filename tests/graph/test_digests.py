"""Digests of graphs: other graphs have other ones, whatever their names hold."""

import hashlib

import numpy as np
import pytest

from kgdash.graph import arrow_texts
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


@pytest.mark.parametrize(
    "names",
    [
        (["a", "b", "c"], ["r"]),
        (["a", "b\0c", "d"], ["r"]),
        (["a"], ["r", "s", "t\1"]),
        (["a"], []),
    ],
)
def test_names_some_at_a_time_have_the_digest_of_all_at_once(names, monkeypatch):
    splits = [np.arange(6).reshape(2, 3)]
    whole = graph_digest(*names, splits)
    for some in (1, 2):
        monkeypatch.setattr(arrow_texts, "_BLOCK", some)
        assert graph_digest(*names, splits) == whole


def test_the_digest_of_a_bundled_graph_is_what_it_was(bundled):
    graph = bundled("umls-transe").graph
    sha = hashlib.sha256()
    for names in (graph.entities, graph.relations):
        sha.update("\0".join(names).encode() + b"\1")
    for split in ("train", "valid", "test"):
        sha.update(graph.splits[split].astype("<i8").tobytes() + b"\2")
    assert graph.digest == sha.hexdigest()


def test_triples_in_any_blocks_have_one_digest():
    triples = np.arange(12).reshape(4, 3)
    blocks = [triples[:1], triples[1:1], triples[1:].astype(np.int32)]
    assert triples_digest(blocks) == triples_digest([triples]) != triples_digest([triples[:3]])
    graph = make_graph([(0, 0, 1), (1, 0, 0)], [(2, 0, 2)], [(0, 0, 1)])
    assert graph.known_digest == triples_digest([graph.all_triples])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_names_in_parts_have_the_digest_of_the_whole(count, monkeypatch):
    monkeypatch.setattr(arrow_texts, "_BLOCK", 2)
    lists = [["a", 'b"', "é, ]", "\0"][:count], ["r"]]
    assert names_digest("x [", *lists) == texts_digest(["x [", *lists])


def test_texts_that_differ_have_other_digests():
    told = [["a", "b"], ["ab"], [["a"], "b"], [{"a": "b"}]]
    assert len({texts_digest(each) for each in told}) == len(told)
