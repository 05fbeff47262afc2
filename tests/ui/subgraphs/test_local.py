"""What is said of ReliK while it is counted."""

from kgdash.studies.reliability.local_comparison import compare_steps
from kgdash.ui.subgraphs.local import counted_so_far


def test_the_last_result_may_be_there_before_the_job_is_done(bundled):
    run = bundled("umls-transe")
    *_, last = compare_steps(run, run.subgraph("virus", size=12))
    assert counted_so_far(last) == ""
