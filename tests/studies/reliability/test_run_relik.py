"""The ReliK that a run's colours are made of: of all triples, or of the same few each time."""

import numpy as np
import pytest

from kgdash.runs import preparation
from kgdash.runs.preparation import relik_method
from kgdash.studies.reliability import run_relik as module
from kgdash.studies.reliability.run_relik import run_relik
from tests.support.tiny_runs import altered_run


def test_of_a_small_graph_all_triples_count(bundled):
    run = bundled("umls-transe")
    values, source = run_relik(run)
    expected = run.relik(triples=run.graph.all_triples)["relik"]
    np.testing.assert_array_equal(values, expected)
    assert source == "all 6,529 known triples"


@pytest.mark.own_cache
def test_else_the_same_few_until_all_are_known(tmp_path, monkeypatch):
    import kgdash

    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_SAMPLE", 40)
    run = kgdash.load(altered_run(tmp_path / "run"))
    values, source = run_relik(run)
    assert source == "40 known triples drawn at random"
    np.testing.assert_array_equal(values, run_relik(run)[0])
    every = run.relik(triples=run.graph.all_triples)["relik"].to_numpy()
    assert len(values) == 40
    assert set(values) <= set(every)
    values, source = run_relik(run)
    assert source.startswith("all ")
    np.testing.assert_array_equal(values, every)


@pytest.mark.own_cache
def test_of_a_graph_that_takes_hours_it_is_sampled(tmp_path, monkeypatch):
    import kgdash

    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_SAMPLE", 40)
    run = kgdash.load(altered_run(tmp_path / "run"))
    assert relik_method(run) == "exact"
    monkeypatch.setattr(preparation, "UNASKED", 0.0)
    assert relik_method(run) == "sampled"
    values, source = run_relik(run)
    assert source == "40 known triples drawn at random, their ReliK sampled"
    assert preparation.prepared_share(run) == 0
    rows = np.sort(np.random.default_rng(0).choice(len(run.graph.all_triples), 40, replace=False))
    table = run.relik(triples=run.graph.all_triples[rows], method="sampled")
    np.testing.assert_allclose(values, np.sqrt(table["relik_low"] * table["relik_high"]))
