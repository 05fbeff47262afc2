"""Parts of a run's work: without helpers done here, each when the one before it is taken in."""

import pytest

from kgdash.errors import KgdashError
from kgdash.progress import silent
from kgdash.runs import helpers
from kgdash.runs.helpers import Done, OrHere, each_part
from tests.support.checks import check_progress
from tests.support.fakes import fake_run, make_graph, random_scorer


def test_here_parts_come_one_by_one_and_may_follow_from_what_came_before():
    run, least = fake_run(make_graph([(0, 0, 1)]), random_scorer(2, 1)), 0

    def work(run, part, progress):
        for done in range(1, len(part) + 1):
            progress(done, len(part))
        return run.graph.num_entities * len(part)

    def parts():
        for length in (3, 1, 4):
            yield [least] * length

    def everything(progress):
        nonlocal least
        least, found = 0, []
        for part, made in each_part(run, work, parts(), 8.0, progress):
            least = made
            found.append((part, made))
        assert found == [([0] * 3, 6), ([6], 2), ([2] * 4, 8)]

    check_progress(everything)


class Leaving:
    """Helpers who take three parts, do one of them, and are gone."""

    def __init__(self):
        self.asked = 0

    def threads(self):
        self.asked += 1
        raise KgdashError("nobody answers")

    def each(self, work, parts, total, progress):
        self.asked += 1
        taken = [next(parts) for _ in range(3)]
        yield Done(taken[1], "there", 0.0)
        raise KgdashError("they are gone")


def test_what_others_leave_is_done_here_and_they_are_asked_again_later(monkeypatch):
    run, others = fake_run(make_graph([(0, 0, 1)]), random_scorer(2, 1)), Leaving()
    here = OrHere(others, run)

    def all_of(length):
        parts = [[number] for number in range(length)]
        found = here.each(lambda *_: "here", iter(parts), float(length), silent)
        return sorted((done.part[0], done.found) for done in found)

    assert all_of(5) == [(0, "here"), (1, "there"), (2, "here"), (3, "here"), (4, "here")]
    assert all_of(2) == [(0, "here"), (1, "here")]
    assert (here.threads(), others.asked) == (1, 1)
    monkeypatch.setattr(helpers, "_REST", 0.0)
    later = OrHere(others, run)
    assert (later.threads(), later.threads(), others.asked) == (1, 1, 3)


def test_a_refusal_is_one_here_too():
    run = fake_run(make_graph([(0, 0, 1)]), random_scorer(2, 1))

    def refuse(*_):
        raise KgdashError("a score is NaN")

    with pytest.raises(KgdashError, match="a score is NaN"):
        list(OrHere(Leaving(), run).each(refuse, iter([[0], [1], [2]]), 3.0, silent))
