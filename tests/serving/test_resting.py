"""Who has the loop read what costs much rests; others are answered meanwhile."""

import asyncio

import pytest

from kgdash.serving import resting
from kgdash.serving.pace import Pace
from kgdash.serving.resting import Resting
from tests.support.own_loop import run_apart


class Line:
    """A transport that knows whether it is read, what is unsent, and whether it was ended."""

    reads, left, ended = True, 0, False

    def get_write_buffer_size(self) -> int:
        return self.left

    def close(self) -> None:
        pass

    def abort(self) -> None:
        self.ended = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    monkeypatch.setattr(resting, "_greedy", Pace(0.0, 50.0))


def test_who_takes_little_never_rests():
    async def read() -> None:
        line = Line()
        for _ in range(9):
            Resting(line).took(0.0029)
        assert line.reads

    run_apart(read())


def test_who_takes_long_rests_whatever_the_protocol_wants():
    async def read() -> None:
        line = Line()
        tired = Resting(line)
        tired.took(1.0)
        assert not line.reads
        tired.resume_reading()
        assert not line.reads
        await asyncio.sleep(0.1)
        assert line.reads
        tired.took(1.0)
        tired.pause_reading()
        await asyncio.sleep(0.1)
        assert not line.reads
        tired.resume_reading()
        assert line.reads

    run_apart(read())


@pytest.mark.parametrize(("each", "ended"), [(0, True), (1, True), (40, False)])
def test_what_was_sent_is_waited_for_while_it_is_read(monkeypatch, each, ended):
    """Tabs that closed amid a message of 5 MB, and read no more, kept it for ever."""
    monkeypatch.setattr(resting, "_STALLED", 0.02)
    monkeypatch.setattr(resting, "_ALL_READ", 0.1)

    async def read() -> bool:
        line = Line()
        line.left = 100
        going = Resting(line)
        for _ in range(2):
            going.close()
        for _ in range(20):
            await asyncio.sleep(0.01)
            line.left = max(0, line.left - each)
            if not line.left:
                resting.ending.pop(going, None)  # as it is when the connection is lost
        return line.ended

    assert run_apart(read()) is ended
    assert not resting.ending
