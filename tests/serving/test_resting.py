"""Who has the loop read what costs much rests; others are answered meanwhile."""

import asyncio

import pytest

from kgdash.serving import resting
from kgdash.serving.pace import Pace
from kgdash.serving.resting import Resting
from tests.support.own_loop import run_apart


class Line:
    """A transport that only knows whether it is read."""

    reads = True

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
