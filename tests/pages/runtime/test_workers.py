"""Pages whose long work another process does: they show what they show without it."""

import pytest

from kgdash.runs.call import Call
from kgdash.ui.runtime import long_work
from kgdash.ui.runtime.line import SETTING, line
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import shared_jobs
from tests.pages.driver import cards, open_page

RUN = "umls-transe"

PAGES = {
    "overview": {},
    "classification": {},
    "rules": {},
}


@pytest.fixture
def worker(monkeypatch):
    """Have everything that can be sent go to a worker process at its first report of progress."""
    monkeypatch.setenv(SETTING, "1")
    monkeypatch.setattr(long_work, "LONG", -1.0)
    sent, write = [], long_work.write

    def noted(value):
        found = write(value)
        if isinstance(value, Call):
            sent.append(value._function.__name__)
        return found

    monkeypatch.setattr(long_work, "write", noted)
    yield sent
    memory.clear()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_the_same(page, worker, monkeypatch):
    memory.clear()
    monkeypatch.setenv(SETTING, "0")
    here = open_page(page, run=RUN, **PAGES[page])
    assert not worker
    memory.clear()
    monkeypatch.setenv(SETTING, "1")
    there = open_page(page, run=RUN, **PAGES[page])
    assert worker
    for _ in range(100):  # what grows is shown before it is done
        if not any(shared.job.status == "running" for shared in shared_jobs()._jobs.values()):
            break
        there.run()
    there.run()
    assert not there.error
    assert cards(there) == cards(here)
    assert [frame.value.shape for frame in there.dataframe] == [
        frame.value.shape for frame in here.dataframe
    ]
    assert not line()._tickets
