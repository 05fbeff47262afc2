"""Parts of a run's work: without helpers done here, each when the one before it is taken in."""

from kgdash.runs.helpers import each_part
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
