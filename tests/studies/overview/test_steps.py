"""An overview of samples: drawn where exact values would take hours, or where a width is named."""

import numpy as np
import pytest

import kgdash
from kgdash.runs import preparation
from kgdash.studies.overview.steps import overview_steps
from tests.support.tiny_runs import altered_run


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-transe")


def test_a_named_width_draws(run):
    first, last = overview_steps(run, 0.05)
    exact = list(overview_steps(run))[-1]
    assert first.map.method == "growing"
    assert np.isnan(first.values["relik"].value)
    assert last.map.method == "sampled"
    for name in ("mrr", "hits_at_1", "hits_at_10", "relik"):
        value, mean = last.values[name], last.sampled[name]
        assert (value.value, value.n) == (mean.value, mean.n)
        assert value.low <= exact.values[name].value <= value.high
        assert mean.n < mean.population == exact.values[name].n
    for name in ("mrr", "relik"):
        assert last.values[name].high - last.values[name].low <= 0.05
    assert last.count("relik").endswith(" of 6,529")
    assert exact.count("relik") == "6,529"
    assert f"ranks of {last.count('mrr')} test triples" in last.how
    assert f"ReliK of {last.count('relik')} known triples" in last.how
    assert exact.how == (
        "Exact: the ranks of all 661 test triples, and the ReliK of all 6,529 known triples."
    )
    assert {lead.kind for lead in last.leads} <= {"relation", "ties"}
    assert last.about()["sampled"]["mrr"]["population"] == 661


@pytest.mark.own_cache
def test_unasked_only_where_it_would_take_hours(tmp_path, monkeypatch):
    run = kgdash.load(altered_run(tmp_path / "run"))
    monkeypatch.setattr(preparation, "UNASKED", 0.0)
    *_, found = overview_steps(run)
    assert found.values["relik"].n >= 100
    monkeypatch.setattr(preparation, "WAITED", 0.0)
    (found,) = overview_steps(run)  # not even the least sample of ReliK
    assert found.values["relik"].n == 0
    assert "ReliK of" not in found.how.split(". ")[0]
    assert "A sample of ReliK takes 1 s of a core or more: choose a width" in found.how
    *_, asked = overview_steps(run, 0.1)
    assert asked.values["relik"].n >= 100
    assert preparation.prepared_share(run) < 1
    preparation.prepare(run)
    *_, exact = overview_steps(run)
    assert exact.map.method == "exact"


@pytest.mark.own_cache
def test_without_test_triples_reliability_alone(tmp_path):
    nothing = {"test": np.zeros((0, 3), dtype=np.int64)}
    run = kgdash.load(str(altered_run(tmp_path / "run", nothing)))
    *_, found = overview_steps(run, 0.1)
    assert found.values["mrr"].n == 0
    assert set(found.sampled) == {"relik"}
    assert "test triples" not in found.how
