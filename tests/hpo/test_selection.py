"""A search chooses on validation alone, goes on where it was, and trains what it found."""

import contextlib
import json
import os
import pickle
import resource
import sqlite3
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.hpo import trial as search_trial
from kgdash.hpo.importance import FEWEST, importances
from kgdash.hpo.selection import Budget, best_command, best_configuration, search, train_best
from kgdash.hpo.space import SearchSpace, check_space, fixed_configuration, suggest
from kgdash.hpo.study_file import read_study
from kgdash.hpo.text import parse_values, training_command
from kgdash.hpo.trial import SearchPlan
from kgdash.ranking.metrics import metrics
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, fit, train
from tests.support.checks import pykeen_values
from tests.support.fakes import make_graph

MRR = "inverse_harmonic_mean_rank"
SMALL = {
    "model.embedding_dim": [4, 8],
    "training.num_epochs": 2,
    "training.batch_size": 64,
    "negative_sampler.num_negs_per_pos": 1,
}


def space(*models, **options):
    values = {**SMALL, **options.pop("values", {})}
    return SearchSpace(models or ("TransE",), values=values, **options)


def plan(*models, **options):
    keys = ("sampler", "check_every", "patience", "prune")
    how = {key: options.pop(key) for key in keys if key in options}
    return SearchPlan(space(*models, **options), **how)


@pytest.fixture(scope="module")
def graph():
    generator = np.random.default_rng(5)
    triples = np.unique(generator.integers(0, [12, 3, 12], size=(170, 3)), axis=0)
    generator.shuffle(triples)
    return make_graph(triples[:100], triples[100:120], triples[120:])


@pytest.fixture(autouse=True, scope="module")
def _migrations_are_read_once():
    """Spare each study the reading of Optuna's migrations, which takes longer than a trial."""
    from alembic.script import base

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base.util, "load_python_file", cache(base.util.load_python_file))
        yield


@pytest.fixture
def file(tmp_path):
    return tmp_path / "of {this}% search?.db"


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
        paths = [tmp_path / f"{name}.db" for name in ("whole", "parts")]
        whole = search(graph, plan(), paths[0], Budget(trials=3))
        for trials in (1, 3):
            parts = search(graph, plan(), paths[1], Budget(trials=trials))
            assert parts.counted == trials
        pd.testing.assert_frame_equal(outcome(parts), outcome(whole), check_exact=True)
        assert len({str(chosen) for chosen in whole.chosen}) == 3
        # What was tried counts towards the budget.
        unchanged = paths[1].read_bytes()
        search(graph, plan(), paths[1], Budget(trials=2))
        assert paths[1].read_bytes() == unchanged

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

    def test_after_a_kill(self, graph, study_file):
        """A process that is killed leaves a running trial; it neither blocks nor counts."""
        storage = optuna.storages.RDBStorage(f"sqlite:///{study_file}")
        optuna.load_study(study_name="kgdash", storage=storage).ask()
        assert read_study(study_file).trials["state"].tolist() == ["finished", "running"]
        study = search(graph, plan(), study_file, Budget(trials=2))
        assert study.trials["state"].tolist() == ["finished", "interrupted", "finished"]

    def test_after_a_kill_while_it_wrote(self, graph, study_file):
        """SQLite leaves a journal then, which only who may write can play back."""
        before = read_study(study_file)
        code = (
            "import os, sqlite3\n"
            f"connection = sqlite3.connect({str(study_file)!r})\n"
            "connection.execute('PRAGMA cache_size = 1')\n"
            "for table in ('trial_params', 'trial_user_attributes', 'trial_values', 'trials'):\n"
            "    connection.execute(f'DELETE FROM {table}')\n"
            "os.kill(os.getpid(), 9)\n"
        )
        subprocess.run([sys.executable, "-c", code])
        assert study_file.with_name("x.db-journal").exists()
        with pytest.raises(KgdashError, match="killed while it wrote; the search's command mends"):
            read_study(study_file)
        after = search(graph, plan(), study_file, Budget(trials=1))
        pd.testing.assert_frame_equal(after.trials, before.trials)

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


class TestChecks:
    VALUES = [0.2, 0.5, 0.5, 0.4, 0.9, 0.1]

    def scripted(self, monkeypatch, values):
        asked = iter(values)
        monkeypatch.setattr(search_trial, "validation_mrr", lambda *_: next(asked))

    @pytest.mark.parametrize(
        ("how", "epochs", "values", "best"),
        [
            ({"check_every": 1}, 6, VALUES, [0.9, 5]),
            ({"check_every": 2}, 5, [0.3, 0.2, 0.4], [0.4, 5]),  # and at the end
            ({"check_every": 1, "patience": 2}, 6, VALUES, [0.5, 2]),
        ],
    )
    def test_the_best_of_the_checks_counts(
        self, graph, file, monkeypatch, how, epochs, values, best
    ):
        self.scripted(monkeypatch, values)
        many = plan(**how, values={"training.num_epochs": epochs})
        study = search(graph, many, file, Budget(trials=1))
        assert study.trials["state"].tolist() == ["finished"]
        assert study.trials[["value", "epochs"]].to_numpy().tolist() == [best]
        assert best_configuration(study, many.space).epochs == best[1]

    def test_pruned_below_the_median(self, graph, file, monkeypatch):
        # The last trial falls below at its end, where there is nothing left to save.
        self.scripted(monkeypatch, [0.5, 0.6] * 5 + [0.4] + [0.55, 0.1])
        study = search(graph, plan(check_every=1, prune=True), file, Budget(trials=7))
        assert study.trials["state"].tolist() == ["finished"] * 5 + ["pruned", "finished"]
        assert study.trials["value"].tolist() == [0.6] * 5 + [0.4, 0.55]
        assert study.counted == 7
        assert study.best == 0


class TestSpace:
    def drawn(self, chosen, seed):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
        return suggest(study.ask(), chosen)

    def test_pykeens_ranges_as_pykeen_means_them(self):
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        configs = [self.drawn(SearchSpace(("TransE",)), seed) for seed in range(200)]
        rates = np.array([config.optimizer_kwargs["lr"] for config in configs])
        # Uniform in the logarithm, so that half of them lie below the geometric mean of the ends.
        assert 80 < (rates < 0.01).sum() < 120
        assert {config.model_kwargs["embedding_dim"] % 16 for config in configs} == {0}
        assert {config.model_kwargs["scoring_fct_norm"] for config in configs} == {1, 2}
        assert {config.batch_size for config in configs} <= {2**i for i in range(4, 13)}
        assert {config.epochs % 100 for config in configs} == {0}
        assert {config.loss for config in configs} == {"MarginRankingLoss"}
        assert {config.loss_kwargs["reduction"] for config in configs} == {"mean"}

    def test_choices_do_not_depend_on_the_process(self):
        study = optuna.create_study()
        trial = study.ask()
        suggest(trial, SearchSpace(("TransE",), ("DoubleMarginLoss",)))
        choices = trial.distributions["loss.margin_activation"].choices
        assert list(choices) == sorted(choices)

    def test_narrowed(self):
        narrowed = SearchSpace(
            ("DistMult",),
            values={
                "model.embedding_dim": {"low": 8, "high": 24, "step": 8},
                "optimizer.lr": {"low": 0.01, "high": 0.02},
                "training.batch_size": {"low": 50, "high": 60},
                "training.num_epochs": 7,
                "regularizer.weight": 0.5,
                "negative_sampler.num_negs_per_pos": [3, 5],
            },
        )
        configs = [self.drawn(narrowed, seed) for seed in range(60)]
        assert {config.model_kwargs["embedding_dim"] for config in configs} == {8, 16, 24}
        assert all(0.01 <= config.optimizer_kwargs["lr"] <= 0.02 for config in configs)
        assert {config.batch_size for config in configs} <= set(range(50, 61))
        assert {config.epochs for config in configs} == {7}
        assert configs[0].regularizer_kwargs == {"weight": 0.5, "p": 2.0, "normalize": True}
        assert {c.negative_sampler_kwargs["num_negs_per_pos"] for c in configs} == {3, 5}

    def test_json(self):
        for some in (space(), space("TransE", "ConvE", losses=("NSSALoss",), random_seed=3)):
            assert SearchSpace.from_json(json.loads(json.dumps(some.to_json())), "x") == some
        for wrong in (None, [], {"models": 3}, {"models": ["TransE"], "more": 1}, {"models": []}):
            with pytest.raises(KgdashError):
                SearchSpace.from_json(wrong, "x")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"models": ()}, "at least one model"),
            ({"models": ("TransX",)}, "unknown model 'TransX'"),
            ({"losses": ("MarginLoss",)}, "unknown loss 'MarginLoss'"),
            ({"optimizer": "Adan"}, "unknown optimizer 'Adan'"),
            ({"training_loop": "LCW"}, "unknown training loop 'LCW'"),
            ({"values": {"model.dim": 3}}, "unknown parameter 'model.dim'"),
            ({"values": {"training.num_epochs": 0}}, "whole number of at least 1; found 0"),
            ({"values": {"training.batch_size": [8, 0.5]}}, "at least 1; found 0.5"),
            ({"values": {"optimizer.lr": {"low": 2, "high": 1}}}, "from low to high; found 2:1"),
            ({"values": {"optimizer.lr": {"low": 0, "high": 1, "log": True}}}, "above 0"),
            ({"values": {"optimizer.lr": {"low": 0, "high": float("inf")}}}, "found 0:inf"),
            ({"values": {"optimizer.lr": {"low": 0}}}, "expected low, high"),
            ({"values": {"optimizer.lr": [1, 1]}}, "different choices"),
            (
                {"training_loop": "LCWA", "values": {"negative_sampler.num_negs_per_pos": 2}},
                "only the training loop sLCWA",
            ),
        ],
    )
    def test_refused(self, options, message):
        with pytest.raises(KgdashError, match=message):
            check_space(SearchSpace(**{"models": ("TransE",), **options}))

    def test_plans_refused(self, graph, file):
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


class TestWords:
    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("32", 32),
            ("0.5", 0.5),
            ("1e-3", 0.001),
            ("true", True),
            ("relu", "relu"),
            ("16, 32", [16, 32]),
            ("0.001:0.1", {"low": 0.001, "high": 0.1}),
            ("0.001:0.1:log", {"low": 0.001, "high": 0.1, "log": True}),
            ("16:64:16", {"low": 16, "high": 64, "step": 16}),
        ],
    )
    def test_values(self, text, values):
        assert parse_values(text) == values

    @pytest.mark.parametrize("text", ["a:b", "1:2:lin", "1:2:3:4", ":", "1:", "1:true"])
    def test_no_ranges(self, text):
        with pytest.raises(KgdashError, match="expected LOW:HIGH"):
            parse_values(text)

    def test_something_left_open_is_for_a_search(self):
        for options in (
            {"models": ("TransE", "ConvE")},
            {"losses": ("NSSALoss", "MSELoss")},
            {"values": {"optimizer.lr": [0.1, 0.2]}},
        ):
            with pytest.raises(KgdashError, match="for a search"):
                fixed_configuration(SearchSpace(**{"models": ("TransE",), **options}))

    def test_what_is_not_given_is_pykeens(self):
        config = fixed_configuration(SearchSpace(("DistMult",)))
        assert config == TrainingConfig("DistMult")
        config = fixed_configuration(
            SearchSpace(("DistMult",), values={"loss.margin": 3, "regularizer.weight": 1})
        )
        assert config.loss == "MarginRankingLoss"
        assert config.loss_kwargs == {"margin": 3, "reduction": "mean"}
        assert config.regularizer_kwargs == {"weight": 1, "p": 2.0, "normalize": True}


class TestFile:
    def test_what_is_in_it(self, graph, file):
        study = search(graph, plan(check_every=1), file, Budget(trials=2))
        with contextlib.closing(sqlite3.connect(file)) as connection:
            stored = connection.execute(
                "SELECT value FROM trial_values JOIN trials USING (trial_id) ORDER BY number"
            ).fetchall()
        assert study.trials["value"].tolist() == [value for (value,) in stored]
        assert (
            study.trials["best_so_far"].tolist()
            == np.maximum.accumulate(study.trials["value"]).tolist()
        )
        assert list(study.trials)[:7] == [
            *("trial", "state", "value", "best_so_far", "epochs", "seconds", "reason")
        ]
        assert study.trials["seconds"].gt(0).all()
        for row, chosen in enumerate(study.chosen):
            assert {name: study.trials[name][row] for name in chosen} == chosen
            assert all(
                study.parameters[n]._contains(study.parameters[n].to_internal_repr(v))
                for n, v in chosen.items()
            )
        assert study.about["filter"] == "train+valid"
        assert study.about["graph"] == "tiny"

    def test_parameters_that_only_some_trials_have(self, graph, file):
        chosen = plan("TransE", "DistMult", sampler="random")
        study = search(graph, chosen, file, Budget(trials=6))
        assert set(study.trials["model"]) == {"TransE", "DistMult"}
        for name in ("TransE.embedding_dim", "DistMult.embedding_dim", "TransE.scoring_fct_norm"):
            assert str(study.trials[name].dtype) == "Int64"
            has = (study.trials["model"] == name.split(".")[0]).tolist()
            assert study.trials[name].notna().tolist() == has
        assert study.trials["regularizer.weight"].dtype == "float64"

    def test_command_of_the_best(self, study_file):
        study = read_study(study_file)
        best = best_configuration(study, plan().space)
        assert best_command(study) == training_command(best, "tiny")

    def test_importance(self, study_file):
        few = read_study(study_file)
        assert not len(importances(few))
        values = np.linspace(0.1, 0.9, 2 * FEWEST)
        trials = pd.DataFrame({"state": "finished", "value": values})
        chosen = tuple({"a": value, "b": 0.5 + (-1) ** i / 4} for i, value in enumerate(values))
        uniform = optuna.distributions.FloatDistribution(0, 1)
        made = replace(few, trials=trials, chosen=chosen, parameters={"a": uniform, "b": uniform})
        shares = importances(made)
        assert list(shares.index) == ["a", "b"]
        assert shares.sum() == pytest.approx(1)
        assert shares["a"] > 0.8
        outside = replace(made, chosen=({"a": 7, "b": 0}, *chosen[1:]))
        with pytest.raises(KgdashError, match="7"):
            importances(outside)


def corrupted(path: Path, statement: str) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    return path


class TestForeignFiles:
    def refused(self, path, graph, message):
        before = path.read_bytes()
        for use in (read_study, lambda file: search(graph, plan(), file, Budget(trials=1))):
            with pytest.raises(KgdashError, match=message) as refusal:
                use(path)
            assert str(path) in str(refusal.value)
        assert path.read_bytes() == before

    def test_other_files(self, graph, tmp_path):
        path = tmp_path / "x.db"
        for content in (b"", b"text", pickle.dumps({"a": 1})):
            path.write_bytes(content)
            self.refused(path, graph, "expected the SQLite file of a search")
        with pytest.raises(KgdashError, match=r"can not read .*nothing\.db"):
            read_study(tmp_path / "nothing.db")
        with pytest.raises(KgdashError, match="can not read"):
            read_study(tmp_path)

    def test_other_databases_are_left_alone(self, graph, tmp_path):
        path = corrupted(tmp_path / "mine.db", "CREATE TABLE precious (x)")
        self.refused(path, graph, "it has no table studies")
        storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/other.db")
        optuna.create_study(storage=storage, study_name="kgdash")
        self.refused(tmp_path / "other.db", graph, "not one of kgdash's searches")

    @pytest.mark.parametrize(
        "statement",
        [
            'UPDATE trial_params SET distribution_json = \'{"name": "os.system"}\'',
            "UPDATE trial_params SET distribution_json = '['",
            "UPDATE trial_params SET param_value = 99 WHERE param_name = 'model.embedding_dim'",
            "UPDATE trial_params SET trial_id = 99 WHERE param_name = 'model.embedding_dim'",
            "UPDATE trial_values SET value = 'high'",
            "UPDATE trials SET datetime_start = 'noon'",
            "UPDATE trials SET number = NULL",
            "UPDATE trial_user_attributes SET value_json = '{}' WHERE key = 'epochs'",
            "ALTER TABLE trials DROP COLUMN number",
        ],
    )
    def test_damage(self, graph, study_file, statement):
        self.refused(corrupted(study_file, statement), graph, "is damaged or not the file of a")

    def test_a_later_version(self, graph, study_file):
        corrupted(
            study_file,
            "UPDATE study_user_attributes SET value_json = replace(value_json, '\"version\": 1', "
            "'\"version\": 2')",
        )
        self.refused(study_file, graph, "expected version 1 of a search; found 2")

    def test_a_view_that_never_ends(self, graph, study_file, monkeypatch):
        monkeypatch.setattr("kgdash.hpo.study_file._MAX_STEPS", 3)
        corrupted(study_file, "ALTER TABLE trial_values RENAME TO old")
        corrupted(
            study_file,
            "CREATE VIEW trial_values AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
            "FROM n) SELECT x AS trial_id, x AS value, 'FINITE' AS value_type, 0 AS objective "
            "FROM n",
        )
        self.refused(study_file, graph, "it has no table trial_values")

    def test_cut_short(self, graph, study_file):
        content = study_file.read_bytes()
        study_file.write_bytes(content[: len(content) // 2])
        self.refused(study_file, graph, "is damaged or not the file of a search")


@pytest.fixture(scope="module")
def one_trial(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "x.db"
    search(graph, plan(), path, Budget(trials=1))
    return path.read_bytes()


@pytest.fixture
def study_file(one_trial, tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(one_trial)
    return path
