"""A small graph to judge predictions on, and a run of it."""

from kgdash.studies.rules.selection import RuleSelection
from tests.support.instance_fakes import FakeRun, small_graph

#: 0 -r0-> 1 -r0-> 2 …; r1 holds for some pairs two steps apart, r2 for some one step back
GRAPH = small_graph(
    [
        *((i, 0, i + 1) for i in range(6)),
        *((i, 1, i + 2) for i in range(3)),
        *((i + 1, 2, i) for i in range(3)),
    ],
    test=[(3, 1, 5)],
    entities=8,
    relations=3,
)
TWENTY = RuleSelection(20, min_pca=0.1, per_rule=10)
TRIPLES = [(f"e{i}", "r1", "e7") for i in range(4)]


class Run(FakeRun):
    graph = GRAPH
