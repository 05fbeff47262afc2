"""What pages computed lately: the newest stay, and sessions do not disturb one another."""

import ast
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.files.visitor import Visitor, working_for
from kgdash.runs.loading import load
from kgdash.ui.runtime import result_cache
from kgdash.ui.runtime.result_cache import _BYTES, _ENTRIES, Memory, leaving, own_bytes
from tests.support.fakes import fake_run, make_graph, random_scorer
from tests.support.paths import ROOT


def test_gives_back_the_very_object_and_nothing_for_unknown_keys():
    memory, value = Memory(), [1, 2]
    memory.put(("digest", 1), value)
    assert memory.get(("digest", 1)) is value
    assert memory.get(("digest", 2)) is None


def test_a_key_holds_its_latest_value():
    memory = Memory()
    memory.put("key", "old")
    memory.put("key", "new")
    assert memory.get("key") == "new"


def test_drops_what_was_put_first_when_full():
    memory = Memory()
    for number in range(_ENTRIES + 3):
        memory.put(number, str(number))
    kept = [number for number in range(_ENTRIES + 3) if memory.get(number)]
    assert kept == list(range(3, _ENTRIES + 3))


def test_asking_and_putting_again_both_keep_an_entry():
    memory = Memory()
    for number in range(_ENTRIES):
        memory.put(number, str(number))
    memory.get(0)
    memory.put(1, "again")
    memory.put("one more", "x")
    memory.put("two more", "x")
    assert (memory.get(0), memory.get(1)) == ("0", "again")
    assert memory.get(2) is None
    assert memory.get(3) is None


def test_what_somebody_holds_is_there_once():
    """Tabs of one table held one each: what had been dropped was made anew for the next."""
    memory, table = Memory(), pd.DataFrame({"rank": np.zeros(_BYTES // 8)})
    memory.put("table", table)
    memory.put("other", np.zeros(_BYTES, dtype=np.uint8))
    assert set(memory._kept) == {"other"}
    assert memory.get("table") is table
    assert set(memory._kept) == {"table"}
    assert memory.get("other") is None
    memory.put("other", 1)
    memory.forget([])
    while memory.let_go():
        pass
    gone = weakref.ref(table)
    del table
    assert gone() is None
    assert memory.get("table") is None


def test_asking_for_what_is_not_there_keeps_nothing():
    memory = Memory()
    for number in range(10 * _ENTRIES):
        memory.get(number)
    assert not memory._kept


def test_drops_the_oldest_when_all_are_too_large():
    memory = Memory()
    for number in range(6):
        memory.put(number, np.zeros(_BYTES // 4 - 1000, dtype=np.uint8))
    memory.put("small", 1)
    assert [memory.get(number) is not None for number in range(6)] == [False] * 2 + [True] * 4
    memory.put("huge", np.zeros(_BYTES, dtype=np.uint8))
    assert memory.get("huge") is not None
    assert len(memory._kept) == 1


def test_the_latest_of_who_has_most_pushes_out_nothing_of_others():
    memory, them, me = Memory(), Visitor("them", "t"), Visitor("me", "m")
    with working_for(me):
        memory.put("mine", np.zeros(1000, dtype=np.uint8))
    with working_for(them):
        for number in range(3):
            memory.put(number, np.zeros(_BYTES - 500, dtype=np.uint8))
    assert set(memory._kept) == {"mine", 2}


def test_half_goes_where_memory_is_short_of_whoever_has_most():
    memory, them, me = Memory(), Visitor("them", "t"), Visitor("me", "m")
    with working_for(me):
        memory.put("mine", np.zeros(100, dtype=np.uint8))
    with working_for(them):
        for number in range(9):
            memory.put(number, np.zeros(100, dtype=np.uint8))
        memory.get(0)
    assert memory.let_go()
    with working_for(me):
        kept = [key for key in ("mine", *range(9)) if memory.get(key) is not None]
    assert kept == ["mine", 0, 7, 8]
    while memory.let_go():
        pass
    assert not memory._kept


def test_results_go_with_the_graph_that_they_refer_to():
    memory = Memory()
    graphs = [make_graph([(0, 0, 1)], entities=2) for _ in range(2)]
    run = fake_run(graphs[0], random_scorer(2, 1))
    memory.put("run", {"of": run})
    memory.put("graph", [graphs[0], np.zeros(1000)])
    memory.put("other", graphs[1])
    memory.put("none", 1)
    held = memory.held()
    assert [each[0] for each in held.values()] == [run, graphs[1]]
    assert held[id(graphs[0])][1] > 8000
    memory.forget([id(graphs[0])])
    assert set(memory._kept) == {"other", "none"}


@given(
    kept=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1),
    most=st.integers(0, 50),
)
def test_one_by_one_the_oldest_of_whoever_has_most_goes(kept, most):
    by_number, left = dict(enumerate(kept)), dict(enumerate(kept))
    latest, gone = len(kept) - 1, []
    while sum(size for _, size in left.values()) > most and len(left) > 1:
        has = {owner: sum(s for o, s in left.values() if o == owner) for owner in "abc"}
        first = max((key for key in left if key != latest), key=lambda key: has[left[key][0]])
        gone.append(first)
        del left[first]
    assert leaving(by_number, latest, most) == gone


@pytest.mark.parametrize("large", [True, False])
def test_nobody_is_pushed_out_by_who_has_more(large):
    """Eight accounts of large labels had another's Overview made again, in line: 4 to 22 s."""
    memory, them, me = Memory(), Visitor("them", "t"), Visitor("me", "m")
    many = 12 if large else _ENTRIES + 3
    with working_for(me):
        memory.put("first", np.zeros(_BYTES // 8 if large else 0, dtype=np.uint8))
        memory.put("second", 1)
    with working_for(them):
        for number in range(many):
            memory.put(number, np.zeros(_BYTES // 8 - 1000 if large else 0, dtype=np.uint8))
        assert memory.get(0) is None
        assert memory.get(many - 6) is not None
        assert memory.get("second") == 1
        memory.put("one more", np.zeros(_BYTES // 8 if large else 0, dtype=np.uint8))
        memory.put("latest", np.zeros(_BYTES if large else 0, dtype=np.uint8))
    assert memory.get("first") is not None
    assert memory.get("latest") is not None


def test_an_entry_put_anew_counts_once():
    memory = Memory()
    for _ in range(6):
        memory.put("same", np.zeros(_BYTES // 3, dtype=np.uint8))
    memory.put("other", np.zeros(_BYTES // 3, dtype=np.uint8))
    assert memory.get("same") is not None


def test_a_value_weighs_its_arrays_but_not_its_run():
    run = load("umls-distmult")
    table = pd.DataFrame({"rank": np.arange(100_000.0), "name": ["word"] * 100_000})
    weight = own_bytes({"table": table, "run": run, "graph": run.graph})
    assert weight == pytest.approx(100_000 * (8 + 4 + 8), rel=0.4)
    assert own_bytes((run, run.graph)) < 1000
    assert own_bytes([np.zeros(1000), lambda: 0]) >= 8000  # the second can not be pickled


def test_what_was_weighed_is_gone_when_nobody_holds_it():
    """It stayed until Python's next full collection: one account's tabs took 4.4 GB."""
    table = pd.DataFrame({"name": ["word"] * 10}, dtype=object)
    gone = weakref.ref(table)
    gc.disable()
    try:
        own_bytes([table, lambda: 0])
        own_bytes({"table": table})
        del table
        assert gone() is None
    finally:
        gc.enable()


def test_many_threads_at_once(monkeypatch):
    entries = 256
    monkeypatch.setattr(result_cache, "_ENTRIES", entries)
    memory = Memory()

    def work(thread: int) -> list[object]:
        wrong: list[object] = []
        for number in range(1000):
            key = (thread * number) % (2 * entries)
            found = memory.get(key)
            if found not in (None, key * 7):
                wrong.append(found)
            memory.put(key, key * 7)
        return wrong

    with ThreadPoolExecutor(8) as threads:
        assert not [found for wrong in threads.map(work, range(1, 9)) for found in wrong]
    assert len(memory._kept) == entries


def test_what_keys_hold_counts():
    memory = Memory()
    for number in range(6):
        memory.put((number, bytes(_BYTES // 4)), 1)
    assert len(memory._kept) == 3


def test_nothing_that_pages_keep_is_keyed_by_a_digest_alone():
    """Which names and labels people read is no part of it: `identity` has both."""
    known = {
        "kgdash/ui/comparison/runs_form.py",  # runs of equal weights
        "kgdash/ui/widgets/drawn.py",  # of what is hashed
        "kgdash/ui/widgets/inspect_link.py",  # a session's own list, in ids
        "kgdash/ui/widgets/provenance.py",  # shown
    }
    paths = [*ROOT.glob("pages/*.py"), *ROOT.glob("kgdash/ui/**/*.py")]
    named = {
        str(path.relative_to(ROOT))
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "digest"
    }
    assert named == known
