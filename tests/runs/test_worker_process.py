"""The far end of a worker, where something is wrong on its side."""

import io
import os

import pytest

from kgdash.runs import worker_process


def test_one_that_can_not_hear_for_want_of_memory_ends(monkeypatch):
    """It would be asked for ever: whoever asks sees its end, and takes another."""

    def no_memory(_):
        raise MemoryError

    def end(code):
        raise SystemExit(code)

    monkeypatch.setattr(worker_process.pickle, "load", no_memory)
    monkeypatch.setattr(worker_process, "_PATIENCE", 0.0)
    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(SystemExit, match="1"):
        worker_process._Worker(io.BytesIO(), io.BytesIO())._listen()
