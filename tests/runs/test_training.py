"""Training writes a whole run that scores as the trained model did, or nothing."""

import os
from dataclasses import replace

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.files import bounded_reading
from kgdash.graph.datasets import load_dataset
from kgdash.ranking.metrics import metrics
from kgdash.runs import training
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, train
from kgdash.studies.classification.given_negatives import find_negatives

TRANSE = {"model": "TransE", "model_kwargs": {"embedding_dim": 6}, "batch_size": 256}
CONVE = {
    "model": "ConvE",
    "model_kwargs": {"embedding_dim": 12, "output_channels": 4},
    "batch_size": 256,
}


@pytest.fixture(scope="module")
def graph():
    return load_dataset("nations")


def run_of(graph, out, progress=lambda done, total: None, **options):
    return train(graph, TrainingConfig(**{"epochs": 1, **options}), out, progress)


@pytest.mark.parametrize(("options", "inverse"), [(TRANSE, False), (CONVE, True)])
def test_a_run_that_can_be_loaded(graph, tmp_path, options, inverse):
    told = []
    run = run_of(graph, tmp_path / "run", lambda d, t: told.append(d / t), epochs=2, **options)
    assert os.listdir(tmp_path) == ["run"]
    again = load(tmp_path / "run")
    assert again.digest == run.digest
    assert again.spec.create_inverse_triples is inverse
    assert again.graph.digest == graph.digest
    assert again.ranks().equals(run.ranks())
    # What is recorded is what the run gives.
    values = metrics(again.ranks()).values()
    recorded = again.training["evaluation"]
    assert {key: values[key] for key in recorded} == pytest.approx(recorded, abs=1e-6)
    assert len(again.training["losses"]) == again.training["epochs"] == 2
    assert again.training["dataset"] == "nations"
    assert again.training["random_seed"] == 0
    assert told == sorted(told)
    assert told[0] == pytest.approx(0.95 / 2)
    assert told[-1] == pytest.approx(1)


def test_it_takes_no_more_memory_than_is_free(graph, tmp_path, monkeypatch):
    """PyKEEN's losses by pairs take gigabytes where a head has thousands of tails."""
    monkeypatch.setattr(bounded_reading, "_state", {"bounds": True, "reading": False})
    monkeypatch.setattr(training, "most_for_training", lambda is_own: 2**30)

    def watch(*_):
        np.empty(2**32, np.int8)

    config = TrainingConfig(**TRANSE, epochs=1)
    with pytest.raises(KgdashError, match="train TransE takes more memory than is free, 1 GiB"):
        train(graph, config, tmp_path / "run", watch=watch)
    assert not os.listdir(tmp_path)


def test_a_folder_of_triples_is_found_again(tmp_path):
    """False triples that lie beside a dataset's are offered for runs trained on it."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        (folder / f"{split}.txt").write_text("a\tr\tb\nb\tr\tc\n")
        (folder / f"{split}_negatives.txt").write_text("c\tr\ta\n")
    run_of(load_dataset(str(folder)), tmp_path / "run", **TRANSE)
    found = find_negatives(load(tmp_path / "run"))
    assert found is not None
    assert found["test"] == folder / "test_negatives.txt"


def test_same_seed_same_weights(graph, tmp_path):
    runs = [
        run_of(graph, tmp_path / str(number), random_seed=seed, **TRANSE)
        for number, seed in enumerate((0, 0, 1))
    ]
    assert runs[0].digest == runs[1].digest != runs[2].digest


def test_more_epochs_train_further(graph, tmp_path):
    options = {**TRANSE, "optimizer_kwargs": {"lr": 0.05}}
    short = run_of(graph, tmp_path / "short", epochs=1, **options)
    long = run_of(graph, tmp_path / "long", epochs=8, **options)
    assert long.training["losses"][-1] < short.training["losses"][-1]


def test_a_graph_without_held_out_triples(graph, tmp_path):
    nothing = {split: graph.splits[split][:0] for split in ("valid", "test")}
    only = replace(graph, splits={**graph.splits, **nothing})
    run = run_of(only, tmp_path / "run", **TRANSE)
    assert "evaluation" not in run.training
    assert load(tmp_path / "run").graph.splits["test"].shape == (0, 3)


class TestStopping:
    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, KgdashError])
    def test_what_the_listener_raises_comes_out_as_it_is(self, graph, tmp_path, error):
        class Stopped(error):
            pass

        def stop(done, total):
            raise Stopped("enough")

        with pytest.raises(Stopped, match=r"^enough$"):
            run_of(graph, tmp_path / "run", stop, epochs=50, **TRANSE)
        assert os.listdir(tmp_path) == []

    def test_during_the_evaluation(self, graph, tmp_path):
        def stop(done, total):
            if done / total > 0.951:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_of(graph, tmp_path / "run", stop, **TRANSE)
        assert os.listdir(tmp_path) == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"model": "TransEE"}, "unknown model 'TransEE' .*did you mean 'TransE'"),
            ({"model": "transe"}, "did you mean 'TransE'"),
            ({"model_kwargs": {"embeding_dim": 4}}, "argument 'embeding_dim'.*'embedding_dim'"),
            ({"model_kwargs": {"embedding_dim": 0}}, "expected a whole number from 1"),
            ({"epochs": 0}, "at least 1 epoch; found 0"),
            ({"loss": "nope"}, "PyKEEN can not train TransE .*nope"),
            ({"optimizer": "nope"}, "PyKEEN can not train TransE .*nope"),
            ({"optimizer_kwargs": {"nope": 1}}, "PyKEEN can not train TransE .*nope"),
            ({"training_loop": "nope"}, "PyKEEN can not train TransE .*nope"),
            (
                {
                    "negative_sampler": "basic",
                    "negative_sampler_kwargs": {"num_negs_per_pos": 10**8},
                },
                "train: to train on 256 triples at once, with 100,000,000 negatives each, takes",
            ),
            ({"batch_size": -1}, "PyKEEN can not train TransE"),
            (
                {"loss": "MarginRankingLoss", "loss_kwargs": {"margin": 10**26}},
                "PyKEEN can not train TransE .*int too big",
            ),
            (
                {"optimizer_kwargs": {"capturable": True}},
                "PyKEEN can not train TransE .*supported devices",
            ),
            (
                {"model": "ConvE", "model_kwargs": {"embedding_dim": 7}},
                "PyKEEN can not train ConvE .*Kernel size",
            ),
        ],
    )
    def test_configurations(self, graph, tmp_path, options, message):
        with pytest.raises(KgdashError, match=message):
            run_of(graph, tmp_path / "run", **{**TRANSE, **options})
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("batch_size", "message"),
        [
            # The second batch finds what the first one left.
            (128, "PyKEEN can not train DistMult .*non-finite"),
            # Without a second batch nobody looks at the weights but us.
            (10_000, "training diverged: weights are NaN or infinite after epoch 1; try a lower"),
        ],
    )
    def test_a_training_that_diverges(self, graph, tmp_path, batch_size, message):
        options = {
            "model": "DistMult",
            "model_kwargs": {"embedding_dim": 6},
            "optimizer": "SGD",
            "optimizer_kwargs": {"lr": 3e38, "weight_decay": 1e3},
            "batch_size": batch_size,
        }
        with pytest.raises(KgdashError, match=message):
            run_of(graph, tmp_path / "run", **options)
        assert os.listdir(tmp_path) == []

    def test_out_exists(self, graph, tmp_path):
        (tmp_path / "run").mkdir()

        def never(done, total):
            raise AssertionError("trained for nothing")

        with pytest.raises(KgdashError, match="run exists already"):
            run_of(graph, tmp_path / "run", never, **TRANSE)

    def test_a_model_that_would_not_score_alike_is_not_written(self, graph, tmp_path, monkeypatch):
        """The configuration must be all that is needed to rebuild the model."""
        from kgdash.runs import training

        def forgetful(model):
            state = original(model)
            return {key: tensor * 2 for key, tensor in state.items()}

        original = training.scoring_state
        monkeypatch.setattr(training, "scoring_state", forgetful)
        with pytest.raises(KgdashError, match="does not score as the trained model"):
            run_of(graph, tmp_path / "run", **TRANSE)
        assert os.listdir(tmp_path) == []
