"""Which facts are judged in which order, and which labels count for the error rate."""

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.labelling.error_rate import error_rate
from kgdash.studies.labelling.events import LABEL, SKIP, Event, Labelling
from kgdash.studies.labelling.facts import FACT_ORDERS, estimate_error_rate, fact_queue
from tests.support.fakes import make_graph

RANDOM, SUSPICIOUS = FACT_ORDERS
GRAPH = make_graph(np.argwhere(np.ones((4, 1, 8)))[:23])
AUDIT = pd.DataFrame(GRAPH.splits["train"], columns=["head", "relation", "tail"]).sample(
    frac=1, random_state=1, ignore_index=True
)
#: 21 with a value: strata of 5, 4, 4, 4, 4, and one of 2
AUDIT["relik"] = [*np.linspace(0.01, 1, 21), np.nan, np.nan]
SIZES = [5, 4, 4, 4, 4, 2]


def names(rows):
    return [
        (f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows[["head", "relation", "tail"]].to_numpy()
    ]


def stratum(triple):
    return int(np.searchsorted(np.cumsum(SIZES), names(AUDIT).index(triple), side="right"))


def judged(*said):
    return Labelling.replay(
        Event(SKIP, triple) if label is None else Event(LABEL, triple, label)
        for triple, label in said
    )


def test_the_most_suspicious_first():
    queue = fact_queue(GRAPH, AUDIT, SUSPICIOUS)
    assert list(queue.order) == names(AUDIT)
    assert queue.groundings(queue.order[0]) == ()


def test_strata_take_turns_in_random_order():
    order = fact_queue(GRAPH, AUDIT, RANDOM).order
    assert set(order) == set(names(AUDIT))
    assert [stratum(triple) for triple in order[:6]] == [0, 1, 2, 3, 4, 5]
    assert [stratum(triple) for triple in order[-6:]] == [0, 1, 2, 3, 4, 0]
    assert order != fact_queue(GRAPH, AUDIT, RANDOM, seed=1).order
    # Another audit moves strata, not the order within them.
    key = {triple: place for place, triple in enumerate(order)}
    turned = AUDIT.assign(relik=AUDIT["relik"].to_numpy())[:5].iloc[::-1]
    again = fact_queue(GRAPH, pd.concat([turned, AUDIT[5:]], ignore_index=True), RANDOM).order
    assert sorted(again[::1], key=key.get) == list(again)


def test_labels_count_up_to_the_first_that_is_missing():
    order = fact_queue(GRAPH, AUDIT, RANDOM).order
    first = [t for t in order if stratum(t) == 0]
    state = judged((first[0], False), (first[1], None), (first[2], True), (first[4], False))
    found = estimate_error_rate(GRAPH, AUDIT, state)
    assert found == error_rate(SIZES, [2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    everything = judged(*((triple, stratum(triple) > 1) for triple in order))
    assert estimate_error_rate(GRAPH, AUDIT, everything).value == 9 / 23


def test_an_unknown_order():
    with pytest.raises(KgdashError, match="unknown order 'worst'"):
        fact_queue(GRAPH, AUDIT, "worst")
