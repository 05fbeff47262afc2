"""The process is measured: what is kept goes before it takes too much, and not again and again."""

import threading

import pytest

from kgdash.ui.runtime import memory_bound
from kgdash.ui.runtime.memory_bound import MemoryBound, memory_bounded

MIB = 2**20


class Process:
    """A process of which some memory is in use, and some kept, of which a call lets go of half."""

    def __init__(self, used: int, kept: int):
        self.used, self.kept, self.calls = used, kept, 0

    def has(self) -> int:
        return (self.used + self.kept) * MIB

    def let_go(self) -> bool:
        self.calls += 1
        had, self.kept = self.kept, self.kept // 2
        return had > 0


@pytest.fixture
def bound(monkeypatch):
    def make(process):
        monkeypatch.setattr(memory_bound, "own_memory", process.has)
        monkeypatch.setattr(memory_bound, "give_back_now", lambda: None)
        found = MemoryBound(process.let_go)

        def keep() -> int:
            """Keep it, and return how often something was let go of."""
            process.calls = 0
            found.keep(1536 * MIB)
            return process.calls

        return keep

    return make


def test_below_its_bound_nothing_goes(bound):
    process = Process(500, 1036)
    assert bound(process)() == 0
    assert process.kept == 1036


def test_above_it_goes_until_there_is_room(bound):
    process = Process(500, 1100)
    keep = bound(process)
    assert keep() == 2
    assert process.kept == 275
    process.kept = 1036
    assert keep() == 0
    process.kept = 1037
    assert keep() == 1


def test_what_is_in_use_is_not_asked_for_again_and_again(bound):
    """Pages of a graph of 4 GiB, or eight at once, would each load their run again."""
    process = Process(4000, 100)
    keep = bound(process)
    assert keep() == 8
    assert process.kept == 0
    process.kept = 512
    assert keep() == 0
    process.kept = 513
    assert keep() > 0
    process.used, process.kept = 300, 1000  # pages have ended
    assert keep() == 0
    process.kept = 1300
    assert keep() == 1


def test_one_page_lets_go_and_others_go_on(bound, monkeypatch):
    process = Process(500, 1200)
    keep = bound(process)
    entered, leave = threading.Event(), threading.Event()

    def give_back():
        entered.set()
        assert leave.wait(10)

    monkeypatch.setattr(memory_bound, "give_back_now", give_back)
    one = threading.Thread(target=keep)
    one.start()
    assert entered.wait(10)
    process.kept = 2000
    assert keep() == 0
    leave.set()
    one.join()


def test_how_much_a_server_keeps_and_ones_own_machine(monkeypatch, as_visitor):
    bounds = []
    monkeypatch.setattr(memory_bound._bound, "keep", bounds.append)
    monkeypatch.setenv("KGDASH_MEMORY", "4G")
    with memory_bounded():
        pass
    as_visitor(name="ada", folder="a")
    with pytest.raises(ValueError, match="a page that fails"), memory_bounded():
        raise ValueError("a page that fails")
    own, served = bounds
    assert served == 3 * 2**30
    assert own == memory_bound._machine() // 4 > 2**28
