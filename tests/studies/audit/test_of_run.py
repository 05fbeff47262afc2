"""A run is audited by models that are trained as it was."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import kgdash
from kgdash.errors import KgdashError
from kgdash.files import bounded_reading
from kgdash.graph.datasets import load_dataset
from kgdash.runs.bundled import bundled_names
from kgdash.runs.training import TrainingConfig, train
from kgdash.scoring import reckoned_memory
from kgdash.studies.audit import cross_fitting
from kgdash.studies.audit.cross_fitting import AuditPlan, cross_fit
from kgdash.studies.audit.of_run import audit, config_of_run, latest_audit

CONFIG = TrainingConfig("TransE", {"embedding_dim": 4}, epochs=1, batch_size=512, random_seed=3)


def test_as_it_was_trained(tmp_path):
    run = train(load_dataset("nations"), CONFIG, tmp_path / "run")
    assert config_of_run(run) == CONFIG
    with pytest.raises(KgdashError, match=r"not audited yet; .*kgdash audit run"):
        latest_audit(run)
    found = kgdash.audit(run, folds=2, workdir=tmp_path)
    again = cross_fit(run.graph, AuditPlan(CONFIG, 2), tmp_path)
    pd.testing.assert_frame_equal(found, again)
    pd.testing.assert_frame_equal(latest_audit(run), found)
    unknown = replace(run, training={"losses": [1.0], "epochs": 3})
    with pytest.raises(KgdashError, match=r"does not say how it was trained; give its dataset"):
        config_of_run(unknown)
    with pytest.raises(KgdashError, match="not audited yet"):
        latest_audit(replace(unknown, training={}))


@pytest.mark.parametrize(
    "said",
    [
        {"model": "../../elsewhere"},
        {"model": ["TransE"]},
        {"epochs": True},
        {"optimizer": {"a": 1}},
        {"loss": 3},
        {"batch_size": "8"},
        {"loss_kwargs": {"margin": [1]}},
        {"loop_kwargs": None},
        {"negative_sampler_kwargs": {"num_negs_per_pos": 10**9}},
        {"negative_sampler_kwargs": {"num_negs_per_pos": "1"}, "negative_sampler": "basic"},
        {"negative_sampler_kwargs": {"num_negs_per_pos": 0}},
        {"negative_sampler_kwargs": {"num_negs_per_pos": 10**5}, "batch_size": 10**9},
        {"model_kwargs": {"entity_initializer": "x"}},
        {"model": "RESCAL", "model_kwargs": {"embedding_dim": 4000}},
        {"model_kwargs": {"embedding_dim": 60_000}},
        {"create_inverse_triples": True},
    ],
)
def test_a_strangers_words_are_no_training(said):
    run = kgdash.load("umls-transe")
    assert config_of_run(run).model == "TransE"
    with pytest.raises(KgdashError, match=r"umls-transe"):
        config_of_run(replace(run, training={**run.training, **said}))


@pytest.mark.parametrize(
    "said",
    [
        {"training_loop": "LCWA", "batch_size": 10**6},
        {"negative_sampler_kwargs": {"num_negs_per_pos": 1_000}, "batch_size": 4_000},
    ],
)
def test_a_batch_that_would_fill_the_memory(said, monkeypatch):
    """A run of 1 MB took 5 GB and more: of all entities at once, or by negatives times numbers."""
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    run = kgdash.load("umls-transe")
    strange = replace(run, training={**run.training, **said})
    assert config_of_run(run).batch_size == 256
    with pytest.raises(KgdashError, match=r"in run.json of run umls-transe: .* smaller batch"):
        config_of_run(strange)
    with pytest.raises(KgdashError, match="not audited yet"):
        latest_audit(strange)


def test_what_can_not_be_reckoned_is_bounded(monkeypatch, tmp_path):
    """Losses by pairs, and filters of negatives, took gigabytes of a run of 1 MB."""
    monkeypatch.setattr(bounded_reading, "_state", {"bounds": False, "reading": False})
    bounded_reading.bound_readings()
    monkeypatch.setenv("KGDASH_MEMORY", "256M")
    monkeypatch.setattr(cross_fitting, "fold_run", lambda *_: np.empty(3 * 2**30, np.int8))
    said = r"training as run.json of run umls-transe says takes more than 0.5 GiB of memory"
    with pytest.raises(KgdashError, match=said):
        audit(kgdash.load("umls-transe"), 2, workdir=tmp_path)


@pytest.mark.parametrize("name", [n for n in bundled_names() if n.startswith("umls-")])
def test_bundled_runs_take_little(name, monkeypatch):
    monkeypatch.setattr(reckoned_memory, "free_memory", lambda: 2**24)
    config_of_run(kgdash.load(name))
