"""The far end of a worker, where something is wrong on its side."""

import io
import os
import pickle

import pytest

from kgdash.runs import worker_process


@pytest.fixture
def listen(monkeypatch):
    def end(code):
        raise SystemExit(code)

    def listen(heard):
        with pytest.raises(SystemExit, match="1"):
            worker_process._Worker(io.BytesIO(heard), io.BytesIO())._listen()

    monkeypatch.setattr(worker_process, "_PATIENCE", 0.0)
    monkeypatch.setattr(os, "_exit", end)
    return listen


def test_one_that_can_not_hear_for_want_of_memory_ends(listen, monkeypatch):
    """It would be asked for ever: whoever asks sees its end, and takes another."""

    def no_memory(_):
        raise MemoryError

    monkeypatch.setattr(worker_process.pickle, "load", no_memory)
    listen(b"")


@pytest.mark.parametrize("said", [0, 1, 5, 20, 2**16, -1])
def test_one_whose_server_ends_amid_a_call_ends(said, listen):
    """Each restart of a server that was writing a large one left its worker there for ever."""
    listen(pickle.dumps(("call", bytes(2**18)))[:said])
