import pytest

from kgdash.serving import resting
from kgdash.serving.pace import Pace
from tests.support.served import read_unhurriedly


@pytest.fixture
def unhurried(monkeypatch):
    """Have servers read as `kgdash serve` does, and connections rest for next to nothing."""
    monkeypatch.setattr(resting, "_greedy", Pace(0.0, 50.0))
    read_unhurriedly(monkeypatch, longest=1000)
