"""What a value holds: against what its parts are known to take."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from kgdash.runs.loading import load
from kgdash.ui.runtime.held import graphs_in, held_bytes
from tests.support.fakes import fake_run, make_graph, random_scorer

MIB = 2**20


class Holder:
    """Something that refers to something, and to itself."""

    def __init__(self, value):
        self.value, self.own = value, self


ARRAY = np.zeros(MIB, dtype=np.uint8)
NAMES = tuple(f"{number}{chr(0x1D4B0)}{'z' * 1000}" for number in range(500))


@pytest.mark.parametrize(
    ("value", "takes"),
    [
        (ARRAY, MIB),
        ([ARRAY, {"again": ARRAY}], MIB),
        (Holder(ARRAY[10:20]), MIB),
        (torch.zeros(MIB // 4)[:2], MIB),
        ([torch.zeros(MIB // 4)] * 2, MIB),
        (pa.array(np.arange(MIB // 8)), MIB),
        (pd.DataFrame({"a": np.arange(MIB / 8)}), MIB),
        (Holder(NAMES), sum(map(sys.getsizeof, NAMES))),
        (lambda: ARRAY, 0),
        ([np, Holder], 0),
    ],
)
def test_a_value_holds_its_arrays_tensors_and_texts(value, takes):
    assert held_bytes(value) == pytest.approx(takes, rel=0.02, abs=60_000)


def test_a_run_holds_what_is_made_of_it():
    """TuckER of 0.1 MB made 255 MiB of matrices, which files do not tell of."""
    run = load("umls-distmult")
    before = held_bytes(run)
    run.graph.known()
    run.ranks()
    assert before < held_bytes(run) < 4 * MIB
    labels = tuple(f"{number:01000}" for number in range(135))
    longer, plain = (
        replace(run, graph=replace(run.graph, entity_labels=each))
        for each in (labels, run.graph.entity_labels)
    )
    assert held_bytes(longer) > held_bytes(plain) + 135 * 900


def test_graphs_are_found_wherever_they_are():
    graphs = [make_graph([(0, 0, 1)], entities=2) for _ in range(3)]
    run = fake_run(graphs[0], random_scorer(2, 1))
    value = Holder([{"run": run}, (graphs[1],)])
    assert graphs_in(value) == {id(graphs[0]), id(graphs[1])}
    assert not graphs_in([1, "text", ARRAY])
