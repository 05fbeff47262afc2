"""A small graph whose rules predict what can be judged, and labels of their own for each test."""

import pytest

from kgdash.studies.labelling.queue import label_queue
from kgdash.studies.labelling.sources import predictions_to_judge
from tests.support.labelling import GRAPH, TWENTY, Run


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))


@pytest.fixture
def queue():
    return label_queue(Run(), predictions_to_judge(GRAPH, TWENTY), "by rule")
