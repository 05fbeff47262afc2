"""Planted errors: as many as asked, one end away from a training triple, in no split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.studies.audit.noise import add_noise
from tests.support.fakes import make_graph


def rows(array):
    return {tuple(row) for row in np.asarray(array).tolist()}


@settings(max_examples=40)
@given(
    st.sets(st.tuples(*map(st.integers, (0, 0, 0), (4, 1, 4))), min_size=3, max_size=49),
    st.floats(0.01, 1),
    st.integers(0, 5),
)
def test_what_the_docstring_promises(triples, share, seed):
    train, test = sorted(triples)[1:], sorted(triples)[:1]
    graph = make_graph(train, test=test, entities=5, relations=2)
    wanted = max(1, round(share * len(train)))
    room = rows(
        (e, r, t) if side else (h, r, e) for h, r, t in train for e in range(5) for side in (0, 1)
    ) - set(triples)
    if len(room) < wanted:
        with pytest.raises(KgdashError, match=f"has room for {len(room)} of {wanted} corrupted"):
            add_noise(graph, share, seed)
        return
    noisy, planted = add_noise(graph, share, seed)
    found = noisy.splits["train"]
    assert planted.sum() == wanted
    assert rows(found[~planted]) == set(train)
    assert rows(found[planted]) <= room
    assert len(rows(found)) == len(found) == len(train) + wanted
    assert rows(noisy.splits["test"]) == set(test)
    again, same = add_noise(graph, share, seed)
    assert again.digest == noisy.digest
    assert np.array_equal(same, planted)


def test_either_end_is_replaced_and_all_entities_are_drawn():
    graph = make_graph([(i, i % 2, (i + 1) % 40) for i in range(40)], entities=40, relations=2)
    noisy, planted = add_noise(graph, 1.0)
    wrong = rows(noisy.splits["train"][planted])
    tails = sum(h % 2 == r for h, r, t in wrong)  # a new tail leaves head and relation as they were
    assert 5 < tails < 40
    assert len({e for h, _, t in wrong for e in (h, t)}) > 30
    assert add_noise(graph, 1.0, 1)[0].digest != noisy.digest


@pytest.mark.parametrize(
    ("share", "seed"), [(0, 0), (-0.1, 0), (1.5, 0), (float("nan"), 0), (0.1, -1)]
)
def test_numbers_out_of_range(share, seed):
    with pytest.raises(KgdashError, match=r"expected a share in \(0, 1\] and a seed ≥ 0"):
        add_noise(make_graph([(0, 0, 1), (1, 0, 0)]), share, seed)


def test_a_complete_graph_has_no_room():
    everything = np.argwhere(np.ones((3, 2, 3)))
    with pytest.raises(KgdashError, match="room for 0 of 2 corrupted triples"):
        add_noise(make_graph(everything), 0.1)
