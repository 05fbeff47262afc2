"""Digests of graphs: other graphs have other ones, whatever their names hold."""

import numpy as np
import pytest

from kgdash.graph.digests import graph_digest, texts_digest


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


def test_texts_that_differ_have_other_digests():
    told = [["a", "b"], ["ab"], [["a"], "b"], [{"a": "b"}]]
    assert len({texts_digest(each) for each in told}) == len(told)
