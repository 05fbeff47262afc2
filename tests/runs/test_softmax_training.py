"""The loop of our own: learns in seconds, keeps the best epoch, goes on where it was."""

import json
import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from kgdash.errors import KgdashError
from kgdash.files.table_cache import clear_cache
from kgdash.graph.datasets import load_dataset
from kgdash.hpo.recipes import recipe
from kgdash.hpo.space import fixed_configuration
from kgdash.progress import silent
from kgdash.runs import checkpoint, softmax_training
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, fit, train, unwatched
from tests.support.tensor_files import listing

TINY = TrainingConfig(
    "DistMult",
    {"embedding_dim": 6},
    epochs=6,
    batch_size=64,
    training_loop="softmax",
    optimizer="Adagrad",
    optimizer_kwargs={"lr": 0.1},
    loop_kwargs={"check_every": 1},
)


@pytest.fixture(scope="module")
def graph():
    return load_dataset("nations")


def test_umls_is_learned_in_seconds(tmp_path):
    values = {"training.num_epochs": 20, "model.embedding_dim": 24}
    config = fixed_configuration(recipe("strong", "ComplEx").space("ComplEx", **values))
    run = train(load_dataset("umls"), config, tmp_path / "run")
    # By chance it is 0.04: the mean of 1/rank over 135 entities.
    assert run.training["evaluation"]["inverse_harmonic_mean_rank"] > 0.6
    assert load(tmp_path / "run").digest == run.digest
    losses = run.training["losses"]
    assert losses[-1] < losses[0] - 1


def test_same_seed_same_weights(graph, tmp_path, monkeypatch):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    runs = [
        train(graph, replace(TINY, random_seed=seed), tmp_path / str(number))
        for number, seed in enumerate((0, 0, 1))
    ]
    torch.set_num_threads(threads)
    assert runs[0].weights_digest == runs[1].weights_digest != runs[2].weights_digest


def test_the_best_epoch_is_kept_and_patience_ends_it(graph, monkeypatch):
    values, states = iter([0.1, 0.4, 0.3, 0.4, 0.2, 0.9]), []

    def check(graph, spec, state, most):
        states.append(state)
        return next(values)

    monkeypatch.setattr(softmax_training, "validation_mrr", check)
    seen = []

    def watch(epoch, loss, model, mrr):
        seen.append((epoch, mrr))

    config = replace(TINY, loop_kwargs={"check_every": 1, "patience": 3})
    trained = fit(graph, config, watch=watch)
    assert seen == [(1, 0.1), (2, 0.4), (3, 0.3), (4, 0.4), (5, 0.2)]
    assert trained.record["best_epoch"] == 2
    assert trained.record["validation_mrr"] == [list(each) for each in seen]
    kept = trained.model.state_dict()
    assert all(torch.equal(kept[name], states[1][name]) for name in states[1])
    assert len(trained.losses) == 5


def test_how_often_validation_is_looked_at(graph, monkeypatch):
    monkeypatch.setattr(softmax_training, "validation_mrr", lambda *_: 0.5)
    seen = []
    config = replace(TINY, epochs=40, loop_kwargs={})
    fit(graph, config, watch=lambda epoch, loss, model, mrr: seen.append(mrr))
    # 1,592 triples both ways: a check per 100,000 is one after every 32 epochs, and the last.
    assert [epoch for epoch, mrr in enumerate(seen, start=1) if mrr] == [32, 40]


def test_without_validation_the_last_epoch_is_kept(graph):
    nothing = np.empty((0, 3), dtype=np.int64)
    only = replace(graph, splits={**graph.splits, "valid": nothing})
    trained = fit(only, TINY)
    assert "best_epoch" not in trained.record
    assert len(trained.losses) == 6


class TestGoingOn:
    class Killed(BaseException):
        pass

    @pytest.fixture(autouse=True)
    def _often(self, monkeypatch):
        monkeypatch.setattr(checkpoint, "_EVERY", 0.0)

    def kept(self, cache):
        return list(cache.glob("training-*"))

    def test_to_the_same_weights(self, graph, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path / "cache"))
        whole = train(graph, TINY, tmp_path / "whole")
        assert not self.kept(tmp_path / "cache")

        def kill(done, total):
            if done / total > 0.95 * 3.5 / 6:
                raise self.Killed

        with pytest.raises(self.Killed):
            train(graph, TINY, tmp_path / "run", kill)
        assert len(self.kept(tmp_path / "cache")) == 1
        done, epochs = [], []
        run = train(
            graph,
            TINY,
            tmp_path / "run",
            lambda d, t: done.append(d / t),
            watch=lambda epoch, *_: epochs.append(epoch),
        )
        assert epochs == [1, 2, 3, 4, 5, 6]
        assert done[0] > 0.95 * 3 / 6
        assert run.weights_digest == whole.weights_digest
        assert run.training["losses"] == whole.training["losses"]
        assert run.training["validation_mrr"] == whole.training["validation_mrr"]
        assert not self.kept(tmp_path / "cache")

    def test_places_of_others_are_bounded_and_the_latest_stays(self, tmp_path, monkeypatch):
        """Each training that was stopped leaves one, and nobody may ever go on with it."""
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", "20K")
        (tmp_path / "table.parquet").write_bytes(bytes(2**15))
        for seed, size in enumerate([2_000, 2_000, 2_000, 10_000, 2_000]):
            place = checkpoint.Checkpoint({"seed": seed})
            place.write({"losses": []}, {"a": torch.ones(size)})
            os.utime(place._path, (seed, seed))
            assert place.read() is not None
            assert len(self.kept(tmp_path)) == (1, 2, 2, 1, 1)[seed]
        assert (tmp_path / "table.parquet").is_file()

    def test_a_visitors_leaves_room_on_the_disk(self, tmp_path, monkeypatch, as_visitor):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
        monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2**31 - 1))
        as_visitor(folder="ada")
        place = checkpoint.Checkpoint({"seed": 1})
        place.write({"losses": []}, {"a": torch.ones(2)})
        assert not self.kept(tmp_path)

    def test_clearing_the_cache_forgets_it(self, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
        place = checkpoint.Checkpoint({"seed": 1})
        place.write({"losses": []}, {"a": torch.ones(2)})
        clear_cache(kind="ranks")
        assert place.read() is not None
        clear_cache()
        assert place.read() is None

    def test_another_training_begins_anew(self, graph, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))

        def kill(done, total):
            if done > 3.5:
                raise self.Killed

        with pytest.raises(self.Killed):
            fit(graph, TINY, kill)
        first = []
        fit(graph, replace(TINY, random_seed=1), lambda d, t: first.append(d))
        assert first[0] < 1

    def test_one_bit_of_a_weight_is_seen(self, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
        place = checkpoint.Checkpoint({"seed": 1})
        place.write({"losses": [2.0]}, {"a": torch.ones(2), "step": torch.tensor(3.0)})
        said, tensors = place.read()
        assert (said, tensors["a"].tolist(), tensors["step"].item()) == (
            {"losses": [2.0]},
            [1, 1],
            3,
        )
        (path,) = self.kept(tmp_path)
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        assert place.read() is None

    def test_what_is_damaged_begins_anew(self, graph, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))

        def kill(done, total):
            if done > 1.5:
                raise self.Killed

        with pytest.raises(self.Killed):
            fit(graph, TINY, kill)
        (path,) = self.kept(tmp_path)
        os.truncate(path, 100)
        assert len(fit(graph, TINY).losses) == 6

    @pytest.mark.parametrize(
        ("said", "changed"),
        [
            ({"losses": "abc"}, {}),
            ({"losses": [1.0] * 6, "checks": [[9, 0.5]]}, {}),
            ({"checks": [[1, 2, 3]]}, {}),
            ({}, {"weights.0": torch.zeros(1, 1)}),
            ({}, {"weights.0": torch.full((14, 6), torch.nan)}),
            ({}, {"best.x": torch.zeros(1)}),
            ({}, {"random": torch.zeros(7, dtype=torch.uint8)}),
            ({}, {"optimizer.0.sum": torch.zeros(3)}),
            ({}, {"more": torch.zeros(3)}),
        ],
    )
    def test_nor_is_a_strangers_place_believed(self, graph, tmp_path, monkeypatch, said, changed):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))

        def kill(done, total):
            if done > 2.5:
                raise self.Killed

        with pytest.raises(self.Killed):
            fit(graph, TINY, kill)
        (path,) = self.kept(tmp_path)
        with safe_open(path, "pt") as file:
            told = json.loads(file.metadata()["kgdash"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        save_file(tensors | changed, path, {"kgdash": json.dumps(told | said)})
        first = []
        fit(graph, TINY, lambda done, _: first.append(done))
        assert first[0] < 1

    def test_nor_waited_for(self, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
        place = checkpoint.Checkpoint({"seed": 1})
        os.mkfifo(place._path)
        assert place.read() is None
        place.remove()
        deep = "[" * 100_000 + "]" * 100_000
        save_file({"a": torch.ones(1)}, place._path, {"kgdash": deep})
        assert place.read() is None
        place._path.write_bytes(listing(10**6))
        start = time.thread_time()
        assert place.read() is None
        assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": "MuRE"}, "unknown model 'MuRE'"),
        ({"loss": "NSSALoss"}, "--loss: the training loop softmax has its own loss"),
        ({"loop_kwargs": {"answers": 1.5}}, "loop.answers: expected a whole number from 1"),
        ({"loop_kwargs": {"n3": float("nan")}}, "loop.n3: expected a number from 0"),
        ({"loop_kwargs": {"nope": 1}}, "unknown argument 'nope'"),
        ({"batch_size": 1}, "expected a batch size of at least 2; found 1"),
        ({"optimizer": "nope"}, "no optimizer nope"),
        ({"optimizer_kwargs": {"lr": -1}}, "no optimizer Adagrad with .*Invalid learning rate"),
        ({"model": "TransE"}, "for TransE say model.scoring_fct_norm=2"),
        ({"model": "ConvE", "model_kwargs": {"embedding_dim": 7}}, "PyKEEN can not build ConvE"),
        ({"optimizer": "SGD", "optimizer_kwargs": {"lr": 3e38}}, "training diverged.* epoch 1"),
    ],
)
def test_refusals(graph, changed, message):
    with pytest.raises(KgdashError, match=message):
        fit(graph, replace(TINY, **changed), silent, unwatched)
