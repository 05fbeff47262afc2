"""A search chooses on validation alone, goes on where it was, and trains what it found."""

import contextlib
import os
import resource
import sqlite3
from contextlib import closing
from dataclasses import replace

import optuna
import pandas as pd
import pytest
from optuna.distributions import FloatDistribution, distribution_to_json

from kgdash.errors import KgdashError
from kgdash.hpo import trial as search_trial
from kgdash.hpo.selection import Budget, best_command, best_configuration, search, train_best
from kgdash.hpo.study_file import read_study
from kgdash.hpo.text import training_command
from kgdash.ranking.metrics import metrics
from kgdash.runs.loading import load
from kgdash.runs.training import fit, train
from tests.support.checks import pykeen_values
from tests.support.small_search import altered, plan

MRR = "inverse_harmonic_mean_rank"


@pytest.fixture
def trained(monkeypatch):
    """Collect what each trial trained: configuration and final model."""
    found = []

    def watched(graph, config, progress, watch):
        assert not len(graph.splits["test"])
        result = fit(graph, config, progress, watch)
        found.append((config, result.model))
        return result

    monkeypatch.setattr(search_trial, "fit", watched)
    return found


@contextlib.contextmanager
def no_file_above(size):
    """Have writing fail beyond so many bytes, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def with_test(graph, triples):
    return replace(graph, splits={**graph.splits, "test": triples})


def outcome(study):
    return study.trials.drop(columns="seconds")


class TestNoLeak:
    def test_the_test_split_changes_nothing(self, graph, tmp_path):
        """Not values, nor parameters, nor whether a study may be gone on with."""
        other = graph.splits["test"][::-1, [2, 1, 0]][:7]
        # The validation triples as test ones would raise every rank if they were filtered.
        graphs = [graph, *(with_test(graph, t) for t in (other, graph.splits["valid"]))]
        studies = [
            search(g, plan(check_every=1), tmp_path / f"{i}.db", Budget(trials=1))
            for i, g in enumerate(graphs)
        ]
        assert studies[0].trials["value"].notna().all()
        for study in studies[1:]:
            pd.testing.assert_frame_equal(outcome(study), outcome(studies[0]), check_exact=True)
            assert study.about == studies[0].about
        search(graphs[1], plan(check_every=1), tmp_path / "0.db", Budget(trials=1))

    def test_values_are_those_of_the_model_filtered_by_train_and_valid(
        self, graph, file, trained, tmp_path
    ):
        study = search(graph, plan(), file, Budget(trials=1))
        by_filter = {"train+valid": [], "train+valid+test": []}
        for number, (config, _) in enumerate(trained):
            run = train(graph, config, tmp_path / f"run{number}")
            for name, values in by_filter.items():
                ranks = run.ranks(split="valid", filter=name)
                values.append(metrics(ranks).value("mrr"))
        assert study.trials["value"].tolist() == pytest.approx(by_filter["train+valid"], abs=1e-6)
        # On this graph the other filter would give other values.
        assert study.trials["value"].tolist() != pytest.approx(
            by_filter["train+valid+test"], abs=1e-4
        )

    def test_by_pykeens_evaluator(self, graph, file, trained):
        """PyKEEN, given train alone besides what it evaluates, comes to the same values."""
        study = search(
            graph,
            plan("ConvE", values={"model.embedding_dim": 12, "model.output_channels": 2}),
            file,
            Budget(trials=1),
        )
        valid, known = graph.splits["valid"], [graph.splits["train"]]
        values = [
            pykeen_values(model, valid, known, batch_size=8)[f"both.realistic.{MRR}"]
            for _, model in trained
        ]
        assert study.trials["value"].tolist() == pytest.approx(values, abs=1e-6)


class TestTheRun:
    def test_the_best_is_trained_again_and_says_how_it_was_found(self, graph, file, tmp_path):
        chosen = plan("TransE", "DistMult", losses=("MarginRankingLoss", "NSSALoss"), check_every=1)
        told = []
        found = search(
            graph, chosen, file, Budget(trials=4), on_trial=lambda s: told.append(s.counted)
        )
        run = train_best(graph, found, chosen.space, tmp_path / "run")
        study = read_study(file)
        assert told == [1, 2, 3, 4]
        best = study.trials.loc[study.trials["value"].idxmax()]
        ranks = run.ranks(split="valid", filter="train+valid")
        assert metrics(ranks).value("mrr") == pytest.approx(best["value"], abs=1e-6)
        again = load(tmp_path / "run")
        assert again.training["search"] == {
            "study": file.name,
            "trials": 4,
            "finished": 4,
            "best_trial": best["trial"],
            "best_value": best["value"],
            "metric": MRR,
            "split": "valid",
            "filter": "train+valid",
            "sampler": "tpe",
        }
        assert again.training["evaluation"][MRR] == pytest.approx(
            metrics(run.ranks()).value("mrr"), abs=1e-6
        )
        assert len(again.training["losses"]) == best["epochs"]
        assert set(study.trials["model"]) <= {"TransE", "DistMult"}
        assert {name.split(".")[0] for name in study.parameters} <= {
            *("model", "loss", "optimizer", "regularizer"),
            *("TransE", "DistMult", "MarginRankingLoss", "NSSALoss"),
        }

    def test_no_trial_finished(self, graph, file, tmp_path):
        worst = plan("DistMult", optimizer="SGD", values={"optimizer.lr": 3e38})
        found = search(graph, worst, file, Budget(trials=2))
        with pytest.raises(KgdashError, match="none of the 2 trials finished; the last one: "):
            train_best(graph, found, worst.space, tmp_path / "run")
        study = read_study(file)
        assert study.trials["state"].tolist() == ["failed", "failed"]
        assert study.trials["reason"].str.contains("diverged|non-finite").all()
        assert study.best is None
        assert os.listdir(tmp_path) == [file.name]


class TestGoingOn:
    def test_like_one_that_was_not_interrupted(self, graph, tmp_path):
        """Beyond ten trials, too, from which on earlier ones guide the choice."""
        paths = [tmp_path / f"{name}.db" for name in ("whole", "parts")]
        whole = search(graph, plan(), paths[0], Budget(trials=12))
        for trials in (1, 11, 12):
            parts = search(graph, plan(), paths[1], Budget(trials=trials))
            assert parts.counted == trials
        pd.testing.assert_frame_equal(outcome(parts), outcome(whole), check_exact=True)
        assert len({str(chosen) for chosen in whole.chosen}) == 12
        # What was tried counts towards the budget.
        again = search(graph, plan(), paths[1], Budget(trials=2))
        pd.testing.assert_frame_equal(again.trials, parts.trials, check_exact=True)

    def test_after_cancelled_trials(self, graph, tmp_path):
        """Two trials are cancelled in their second epoch, and the third goes on in their place."""
        path = tmp_path / "cancelled.db"
        for error, expected in (
            (KeyboardInterrupt, [0.25, 0.5, 0.75]),
            (KgdashError, [0.75]),
        ):
            told = []

            def cancel(done, total, error=error, told=told):
                told.append(done / total)
                if done / total == 0.75:
                    raise error("enough")

            with pytest.raises(error, match=r"^enough$"):
                search(graph, plan(), path, Budget(trials=2), progress=cancel)
            assert told == pytest.approx(expected)
        study = read_study(path)
        assert study.trials["state"].tolist() == ["finished", "interrupted", "interrupted"]
        assert study.counted == 1
        after = search(graph, plan(), path, Budget(trials=2))
        whole = search(graph, plan(), tmp_path / "whole.db", Budget(trials=2))
        assert after.trials["state"].tolist() == [*study.trials["state"], "finished"]
        assert after.trials["value"].dropna().tolist() == whole.trials["value"].tolist()
        # Run in place of the two before it: what is trained in the end names it by the same number.
        assert after.trials["trial"].tolist() == [0, 1, 1, 1]
        ended = after.trials["state"] == "finished"
        again = outcome(after)[ended].reset_index(drop=True)
        pd.testing.assert_frame_equal(again, outcome(whole), check_exact=True)

    def test_what_earlier_trials_reached_is_no_number(self, graph, file):
        """Optuna reads what they reported as it chooses; that the next one fails is told."""
        how = plan(check_every=1, prune=True)
        search(graph, how, file, Budget(trials=10))
        altered(file, "UPDATE trial_intermediate_values SET intermediate_value = 'high'")
        altered(file, "UPDATE trials SET state = 'PRUNED' WHERE number > 0")
        last = search(graph, how, file, Budget(trials=11)).trials.iloc[-1]
        assert last["state"] == "failed"
        assert "earlier trials do not lead to another one" in last["reason"]

    def test_after_a_kill(self, graph, study_file):
        """A process that is killed leaves a running trial; it neither blocks nor counts."""
        storage = optuna.storages.RDBStorage(f"sqlite:///{study_file}")
        optuna.load_study(study_name="kgdash", storage=storage).ask()
        assert read_study(study_file).trials["state"].tolist() == ["finished", "running"]
        study = search(graph, plan(), study_file, Budget(trials=2))
        assert study.trials["state"].tolist() == ["finished", "interrupted", "finished"]
        assert study.trials["seconds"][1] == 0, "not the time until one went on"

    def test_seconds_as_the_budget(self, graph, file):
        study = search(graph, plan(), file, Budget(seconds=1e-6))
        assert study.counted == 1
        assert search(graph, plan(), file, Budget(trials=3, seconds=1e-6)).counted == 1
        assert search(graph, plan(), file, Budget(trials=2, seconds=1e6)).counted == 2

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            (plan("DistMult"), r"models was \['TransE'\], now \['DistMult'\]"),
            (plan(values={"training.num_epochs": 3}), "training.num_epochs was 2, now 3"),
            (plan(values={"loss.margin": 2}), "loss.margin was None, now 2"),
            (plan(random_seed=1), "random_seed was 0, now 1"),
            (plan(sampler="random"), "sampler was 'tpe', now 'random'"),
        ],
    )
    def test_another_search_is_refused(self, graph, study_file, changed, message):
        before = study_file.read_bytes()
        with pytest.raises(KgdashError, match=f"holds another search: .*{message}"):
            search(graph, changed, study_file, Budget(trials=2))
        assert study_file.read_bytes() == before

    def test_what_a_trial_chose_is_of_the_search_s_space(self, graph, study_file):
        """A stranger's file had its best trial trained, with 300,000 negatives in 16 GB."""
        wide = FloatDistribution(1e-9, 10**8, log=True)
        with closing(sqlite3.connect(study_file)) as connection, connection:
            changed = connection.execute(
                "UPDATE trial_params SET param_value = 300000, distribution_json = ? "
                "WHERE param_name = 'optimizer.lr'",
                (distribution_to_json(wide),),
            )
            assert changed.rowcount
        study = read_study(study_file)
        for use in (
            lambda: search(graph, plan(), study_file, Budget(trials=1)),
            lambda: best_configuration(study, plan().space),
        ):
            with pytest.raises(KgdashError, match=r"is not of its space: optimizer\.lr"):
                use()

    def test_another_graph_is_refused(self, graph, study_file):
        other = replace(graph, splits={**graph.splits, "valid": graph.splits["valid"][1:]})
        with pytest.raises(KgdashError, match="holds another search: train and valid was"):
            search(other, plan(), study_file, Budget(trials=2))

    @pytest.mark.parametrize("room", [0, 4096, 2**16])
    def test_a_full_disk(self, graph, file, study_file, room):
        for path in (file, study_file):
            message = r"can not write .*(Make room|File too large)"
            with pytest.raises(KgdashError, match=message), no_file_above(room):
                search(graph, plan(), path, Budget(trials=2))
            assert search(graph, plan(), path, Budget(trials=2)).counted == 2
            assert {p.name for p in path.parent.iterdir()} <= {file.name, study_file.name}

    def test_two_at_once(self, graph, file):
        def second(study):
            with pytest.raises(KgdashError, match="another search is running on"):
                search(graph, plan(), file, Budget(trials=1))

        search(graph, plan(), file, Budget(trials=1), on_trial=second)


def test_plans_refused(graph, file):
    for wrong, message in (
        (plan(sampler="grid"), "unknown sampler 'grid'"),
        (plan(check_every=0), "check_every of at least 1; found 0"),
        (plan(prune=True), "need check_every"),
        (plan(patience=1), "need check_every"),
    ):
        with pytest.raises(KgdashError, match=message):
            search(graph, wrong, file, Budget(trials=1))
    for budget in ({}, {"trials": 0}, {"seconds": 0}):
        with pytest.raises(KgdashError, match="a budget"):
            search(graph, plan(), file, Budget(**budget))
    bare = replace(graph, splits={**graph.splits, "valid": graph.splits["valid"][:0]})
    with pytest.raises(KgdashError, match=r"split 'valid' .* holds no triples"):
        search(bare, plan(), file, Budget(trials=1))
    assert not file.exists()


def test_command_of_the_best(study_file):
    study = read_study(study_file)
    best = best_configuration(study, plan().space)
    assert best_command(study) == training_command(best, "tiny")
