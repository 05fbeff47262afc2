"""Who waits for a turn, and behind whom."""

import asyncio
import random
from collections import Counter
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from kgdash.serving.let_in import note_network, stranger
from kgdash.serving.pace import Full, Goes, Gone, Step, Turns
from kgdash.serving.waiting import Left, Waiting, networks_of
from tests.support.own_loop import run_apart


def coming(turns: Turns, had: list[str], stay: float = 0):
    """Return how somebody comes, has a turn that is noted, and stays for some seconds."""

    async def come(asker: str) -> None:
        async with turns.turn(asker):
            had.append(asker)
            await asyncio.sleep(stay)

    return come


def order(turns: Turns, comers: str, leaves: str = "") -> list[str]:
    """Return who had turns, one after another; some leave while they wait."""
    had = []

    come = coming(turns, had)

    async def all_come() -> None:
        waits = [asyncio.ensure_future(come(asker)) for asker in comers]
        await asyncio.sleep(0)
        for asker, wait in zip(comers, waits, strict=True):
            if asker in leaves:
                wait.cancel()
        async with asyncio.timeout(30):
            await asyncio.gather(*waits, return_exceptions=True)

    run_apart(all_come())
    return had


def test_who_sends_many_waits_behind_their_own():
    assert order(Turns(1, 0, 30, 9), "aaaaaabcb") == list("aabcabaaa")


def test_so_many_may_wait():
    turns = Turns(1, 0, 30, 2)

    async def come() -> None:
        async with turns.turn("a"):
            await asyncio.sleep(0)

    async def all_come() -> list:
        return await asyncio.gather(*(come() for _ in range(5)), return_exceptions=True)

    assert [type(end) for end in run_apart(all_come())] == [type(None)] * 3 + [Full] * 2
    assert run_apart(all_come()).count(None) == 3, "nothing is left of them"


@given(
    st.lists(st.text("abc", min_size=3, max_size=3), max_size=20),
    st.sets(st.integers(0, 19)),
)
def test_who_goes_away_is_taken_out_and_nobody_else(askers, leave):
    line, left = Waiting[int](), set(range(len(askers))) - leave
    for number, asker in enumerate(askers):
        line.put(asker, number)
    for number in leave & set(range(len(askers))):
        assert line.remove(askers[number], number)
        assert not line.remove(askers[number], number)
    assert line.count == len(left)
    assert {line.first() for _ in left} == left
    assert not line._parts


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "first", "remove", "room"]), st.text("abc", max_size=2))
    )
)
def test_room_is_made_by_one_of_the_largest_network(steps):
    line, waiting = Waiting[int](), {}
    for number, (step, asker) in enumerate(steps):
        if step == "put":
            line.put(asker, number)
            waiting[number] = asker
        elif step == "first" and waiting:
            del waiting[line.first()]
        elif step == "remove" and asker in waiting.values():
            gone = [each for each, whose in waiting.items() if whose == asker][-1]
            assert line.remove(asker, gone)
            del waiting[gone]
        elif step == "room" and (last := line.make_room(asker)) is not None:
            counts = Counter(whose[0] for whose in waiting.values() if whose)
            whose = waiting.pop(last)
            assert counts[whose[0]] == max(counts.values())
            assert whose[0] == asker[0] or counts[whose[0]] > counts[asker[0]] + 1
        assert line.count == len(waiting)
    assert {line.first() for _ in range(line.count)} == set(waiting)
    assert not line._parts
    assert not line._sized


def test_who_has_most_makes_room_for_others():
    turns, had = Turns(1, 0, 30, 4), []

    come = coming(turns, had)

    async def all_come() -> list:
        return await asyncio.gather(*map(come, "aaaaabcabc"), return_exceptions=True)

    ends = run_apart(all_come())
    # Four of a wait; b and c have the last ones' places, another of a none, nor b and c a second.
    assert [end is None for end in ends] == [*[True] * 3, False, False, *[True] * 2, *[False] * 3]
    assert had == list("aabca")


def test_who_asks_for_another_page_takes_no_room_of_its_own_address():
    """There was no part to take of: an error in the log for each."""
    line = Waiting[int]()
    for number in range(9):
        line.put(["a"], number)
    assert line.make_room(["a", "for another page"]) is None
    assert line.count == 9
    assert line.make_room(["b"]) == 8


def test_a_network_of_many_addresses_is_one():
    """What providers give one customer is 65,536 networks that could each be a visitor's."""
    many = [("net", f"part{number}", "host") for number in range(9)]

    async def all_come(turns: Turns, askers: list[tuple[str, ...]]) -> list:
        had = []
        come = coming(turns, had)
        ends = await asyncio.gather(*map(come, askers), return_exceptions=True)
        return [had, [type(end) for end in ends if end is not None]]

    other, near = ("other", "part0", "host"), ("net", "part0", "host2")
    had, ends = run_apart(all_come(Turns(1, 0, 30, 5), [*many, other, other, near]))
    # One had its turn at once, five wait; others' come in place of the last ones of most, and then
    # before those that came earlier.
    assert ends == [Full] * 6
    assert had[:3] == [many[0], many[1], other]
    assert had.count(other) == 2
    assert near not in had


def test_colleagues_of_who_is_in_wait_for_no_network_that_only_asks():
    """Of fourteen of one address 250 networks let two in, and the others were sent away."""
    others = [{"client": (f"10.{n}.0.1", 1)} for n in range(30)]
    mine = {"client": ("192.0.2.7", 1)}
    turns, had = Turns(1, 0, 30, 60), []
    come = coming(turns, had)

    async def all_come() -> list:
        asks = [stranger(networks_of(scope)) for scope in (*others, *others, mine)]
        note_network(mine)
        asks += [stranger(networks_of(mine))] * 9
        return await asyncio.gather(*map(come, asks), return_exceptions=True)

    ends = run_apart(all_come())
    assert ends[-9:] == [None] * 9
    known = [asker[0] == "let in" for asker in had]
    assert known[1:19] == [False, True] * 9
    assert len(had) == 61


def test_nothing_is_left_of_networks_that_were_sent_away():
    """They were looked through at each turn: 47,000 of them held up the server for 19 s."""
    turns = Turns(1, 0, 30, 20)
    rng, had = random.Random(0), []

    async def all_come() -> None:
        come = coming(turns, had)
        waits = []
        for _ in range(600):
            asker = tuple(str(rng.randrange(n)) for n in (2, 3, 40))
            waits.append(asyncio.ensure_future(come(asker)))
            if not rng.randrange(4):
                await asyncio.sleep(0)
            found, count = [turns._waiting], 0
            while found:
                line = found.pop()
                found += line._parts.values()
                assert line.count == len(line._here) + sum(p.count for p in line._parts.values())
                assert all(part.count for part in line._parts.values())
                count += len(line._here)
            assert count == turns._waiting.count <= 20
        await asyncio.gather(*waits, return_exceptions=True)

    run_apart(all_come())
    assert 50 < len(had) < 600
    assert not turns._waiting._parts


def test_who_leaves_gives_the_turn_to_the_next():
    assert order(Turns(1, 0, 30, 9), "aabbab", leaves="b") == list("aaa")


def test_who_has_left_waits_for_no_turn():
    """A thousand that had gone kept newcomers out: 503 for 6 of 14."""
    turns, told = Turns(1, 0, 30, 3), []

    async def come(asker: str, left) -> None:
        try:
            async with turns.turn(asker, left):
                await asyncio.sleep(0.05)
            told.append(asker)
        except Gone:
            told.append(f"{asker} left")

    async def all_come() -> None:
        left = [Left(loop=asyncio.get_running_loop()) for _ in "abcd"]
        waits = [asyncio.ensure_future(come(*each)) for each in zip("abcd", left, strict=True)]
        await asyncio.sleep(0)
        for each in left[1:3]:
            each.set_result(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert turns._waiting.count == 1
        await asyncio.gather(*waits)
        assert not left[3]._callbacks

    run_apart(all_come())
    assert told == ["b left", "c left", "a", "d"]
    assert turns._free == 1


def test_a_turn_that_does_not_end_is_ended():
    turns, had = Turns(1, 0, 0.01, 9), []

    come = coming(turns, had, 300)

    async def all_come() -> None:
        async with asyncio.timeout(30):
            await asyncio.gather(*map(come, "ab"))

    run_apart(all_come())
    assert had == ["a", "b"]


def test_a_turn_that_comes_to_somebody_who_leaves_goes_on():
    turns, had = Turns(1, 0, 30, 9), []

    async def come(asker: str) -> None:
        async with turns.turn(asker):
            had.append(asker)

    async def all_come() -> None:
        async with turns.turn("a"):
            waits = [asyncio.ensure_future(come(asker)) for asker in "bc"]
            await asyncio.sleep(0)
            turns._next()
            waits[0].cancel()
        async with asyncio.timeout(30):
            await asyncio.gather(*waits, return_exceptions=True)

    run_apart(all_come())
    assert had == ["c"]


def never() -> None:
    raise AssertionError


def test_of_too_many_that_wait_to_go_the_last_of_the_network_with_most_ends():
    """A proxy kept 8,192 heads of 15 KB, 2.6 GB, of one address that had left."""
    goes, had = Goes(1, 0, most=3), []

    def step(name: str) -> Step:
        return Step(lambda: had.append(name) or True, lambda: had.append(f"{name} ends"))

    async def come() -> None:
        for asker, name in (("a", "1"), ("a", "2"), ("a", "3"), ("b", "4"), ("b", "5"), ("a", "6")):
            goes.put([asker], step(name))
        while len(had) < 6:
            await asyncio.sleep(0)

    run_apart(come())
    assert had == ["3 ends", "5 ends", "6 ends", "1", "4", "2"]


def test_goes_are_few_in_turn_and_go_on_after_what_fails():
    goes, done = Goes(2, 0.001), []

    def do(name: str) -> bool:
        done.append(name)
        if name == "b1":
            raise ValueError(name)
        return name != "a2"

    async def come() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: done.append("failed"))
        for name in ("a1", "a2", "a3", "b1", "b2"):
            goes.put(name[:1], Step(partial(do, name), never))
        await asyncio.sleep(0)
        done.append("|")
        while len(done) < 7:
            await asyncio.sleep(0.001)
        goes.put("c", Step(partial(do, "c1"), never))
        while len(done) < 8:
            await asyncio.sleep(0.001)

    run_apart(come())
    assert done == ["a1", "b1", "failed", "|", "a2", "b2", "a3", "c1"]
