"""Turns at a table: in the order of coming; and what gives way."""

import threading
import time

import pytest

from kgdash.files.turns import first_in_line, others_first, take_turn, wait_for_others

PATIENCE = 60


def test_who_lets_go_does_not_come_before_who_waits(tmp_path):
    path, order = tmp_path / "a.lock", []
    waits = threading.Event()

    def second():
        with take_turn(path, waits.set) as held:
            order.append(("second", held))

    with take_turn(path) as held:
        order.append(("first", held))
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(PATIENCE)
    with take_turn(path):
        order.append(("first again", True))
    thread.join(PATIENCE)
    assert order == [("first", True), ("second", True), ("first again", True)]
    assert list(tmp_path.iterdir()) == []


def test_waiting_can_be_given_up(tmp_path):
    def give_up():
        raise KeyboardInterrupt

    first, second = take_turn(tmp_path / "a.lock"), take_turn(tmp_path / "a.lock", give_up)
    with first, pytest.raises(KeyboardInterrupt), second:
        raise AssertionError("two at once")
    with take_turn(tmp_path / "a.lock", give_up) as held:
        assert held


def test_what_gives_way_waits_until_the_last_is_through():
    left, told = threading.Event(), []

    def wait():
        wait_for_others(lambda: told.append(time.monotonic()))
        left.set()

    assert not others_first()
    with first_in_line():
        with first_in_line():
            thread = threading.Thread(target=wait)
            thread.start()
        assert not left.wait(0.2)
        assert others_first()
    thread.join(PATIENCE)
    assert left.is_set()
    assert len(told) >= 2
    wait_for_others(lambda: pytest.fail("nobody is before"))
