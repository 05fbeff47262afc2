"""Seeds of one configuration are recognised, and summarised as OBL2021 asks."""

import shutil
from dataclasses import replace
from statistics import mean, stdev

import pandas as pd
import pytest

from kgdash.formats.run_directory import MANIFEST, WEIGHTS
from kgdash.ranking.metrics import metrics
from kgdash.runs import library
from kgdash.runs.bundled import DEMO
from kgdash.studies.comparison import seeds
from kgdash.studies.comparison.comparison import compared_ranks, overall
from kgdash.studies.comparison.seeds import (
    configuration,
    other_seeds,
    recorded_configuration,
    seed_groups,
    seed_spread,
)

SEEDS = ("umls-transe", "umls-transe-seed1", "umls-transe-seed2")


@pytest.fixture(scope="module")
def runs(bundled):
    return {name: bundled(name) for name in (*SEEDS, "umls-distmult", "umls-rotate")}


def test_the_bundled_seeds_are_found(runs):
    assert seed_groups(runs) == {"umls-transe": list(SEEDS)}
    assert seed_groups({name: runs[name] for name in ("umls-transe", "umls-rotate")}) == {}


def test_seeds_that_are_not_among_the_runs(runs):
    some = {name: runs[name] for name in (SEEDS[0], "umls-rotate")}
    assert other_seeds(some, runs) == {SEEDS[0]: list(SEEDS[1:])}
    assert other_seeds(runs, runs) == {}
    silent = replace(runs["umls-rotate"], training={})
    assert other_seeds({"a": silent}, {"b": silent}) == {}


def test_the_configuration_of_a_manifest_is_that_of_the_run_and_needs_no_weights(runs, tmp_path):
    for name, run in runs.items():
        assert recorded_configuration(name) == configuration(run)
    shutil.copy(DEMO / SEEDS[0] / MANIFEST, tmp_path)
    assert not (tmp_path / WEIGHTS).exists()
    assert recorded_configuration(str(tmp_path)) == configuration(runs[SEEDS[0]])
    (tmp_path / MANIFEST).write_text("{}")
    assert recorded_configuration(str(tmp_path)) is None
    assert recorded_configuration(str(tmp_path / "gone")) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"epochs": 99},
        {"optimizer_kwargs": {"lr": 0.02}},
        {"dataset": "other"},
        {"something_new": 1},
    ],
)
def test_another_setting_is_another_configuration(runs, changed):
    run = runs[SEEDS[0]]
    other = replace(run, training={**run.training, **changed})
    assert configuration(other) != configuration(run)


def test_another_model_is_another_configuration(runs):
    run = runs[SEEDS[0]]
    spec = replace(run.spec, create_inverse_triples=True)
    assert configuration(replace(run, spec=spec)) != configuration(run)


def test_what_training_led_to_is_no_setting(runs):
    run = runs[SEEDS[0]]
    results = {"losses": [1.0], "seconds": 3.0, "evaluation": {}, "random_seed": 7}
    assert configuration(replace(run, training={**run.training, **results})) == configuration(run)


def test_nothing_recorded_is_no_configuration(runs):
    run = runs[SEEDS[0]]
    bare = {name: replace(run, training={"losses": [1.0]}) for name in "ab"}
    assert configuration(bare["a"]) is None
    assert seed_groups(bare) == {}


def test_mean_and_standard_deviation(runs):
    ranks = compared_ranks(list(runs.values()))
    found = seed_spread(overall(ranks), SEEDS).set_index(["metric", "side", "rank_type"])
    own = [metrics(ranks[name]) for name in SEEDS]
    assert not found.isna().any(axis=None)
    for (metric, side, rank_type), row in found.iterrows():
        values = [of_run.value(metric, side, rank_type) for of_run in own]
        assert row["seeds"] == 3
        assert row["mean"] == pytest.approx(mean(values))
        assert row["standard_deviation"] == pytest.approx(stdev(values), abs=1e-12)
        assert (row["low"], row["high"]) == (min(values), max(values))


def test_one_seed_has_no_deviation():
    table = pd.DataFrame({"metric": ["m"], "side": "both", "rank_type": "realistic"})
    found = seed_spread(table.assign(run="a", value=0.5), ["a"]).iloc[0]
    assert (found["seeds"], found["mean"]) == (1, 0.5)
    assert pd.isna(found["standard_deviation"])


def test_candidates_are_looked_up_in_one_look_at_the_runs_and_read_once(runs, monkeypatch):
    asked, real = [], library.own_names
    monkeypatch.setattr(library, "own_names", lambda: asked.append(1) or real())
    some = {SEEDS[0]: runs[SEEDS[0]]}
    assert other_seeds(some, runs) == {SEEDS[0]: list(SEEDS[1:])}
    assert len(asked) == 1
    monkeypatch.setattr(seeds, "read_manifest", lambda path: pytest.fail("read again"))
    assert other_seeds(some, runs) == {SEEDS[0]: list(SEEDS[1:])}


def test_looking_for_seeds_can_be_ended(runs):
    def stop(done, total):
        assert total == len(runs)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other_seeds({SEEDS[0]: runs[SEEDS[0]]}, runs, stop)
