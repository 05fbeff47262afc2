"""Cross-validation: trained once, resumed after interruption, the same subgraphs in all folds."""

import json
import os
from dataclasses import replace

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files import atomic
from kgdash.files import table_cache as store
from kgdash.graph.datasets import load_dataset
from kgdash.graph.folds import cut_folds
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.hpo.recipes import recipe
from kgdash.hpo.space import fixed_configuration
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig
from kgdash.studies.correlation import cross_validation, fold_runs
from kgdash.studies.correlation.cross_validation import CrossValidation, cross_validate
from kgdash.studies.correlation.fold_runs import default_workdir, fold_run, is_trained, run_folder
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import draw_subgraphs, score_subgraphs

PLAN = CrossValidation(
    folds=2,
    models=("TransE", "ConvE"),
    dimension=12,
    epochs=1,
    batch_size=512,
    seed=3,
    subgraphs=5,
    sizes=(4, 6),
)


unix = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")


@pytest.fixture(scope="module")
def graph():
    return load_dataset("nations")


@pytest.fixture(scope="module")
def done(graph, tmp_path_factory):
    """Return a workdir, and what was computed there without interruption."""
    workdir = tmp_path_factory.mktemp("work")
    return workdir, cross_validate(graph, PLAN, workdir)


class TestRunsOfFolds:
    def test_trained_once(self, graph, done, monkeypatch):
        def never(*arguments):
            raise AssertionError("trained again")

        monkeypatch.setattr(fold_runs, "train", never)
        for fold in cut_folds(graph, 2, 3):
            config = PLAN.config("TransE")
            assert is_trained(done[0], fold, config)
            run = fold_run(done[0], fold, config)
            assert run.training["random_seed"] == 3 + fold.number
            assert run.graph.digest == fold.graph.digest
            assert (run.training["epochs"], run.training["batch_size"]) == (1, 512)
            assert run.training["training_loop"] == "sLCWA"
            assert run.training["model_kwargs"] == {"embedding_dim": 12}

    @pytest.mark.parametrize("change", [{"epochs": 2}, {"dimension": 13}, {"seed": 4}])
    def test_another_configuration_is_another_run(self, graph, done, change):
        fold = cut_folds(graph, 2, 3)[0]
        other = CrossValidation(**{**vars(PLAN), **change}).config("TransE")
        assert not is_trained(done[0], fold, other)
        assert is_trained(done[0], fold, PLAN.config("TransE"))

    def test_the_recipe_says_what_is_not_said(self):
        plan = CrossValidation(recipe="strong", epochs=2, seed=3)
        strong = fixed_configuration(recipe("strong", "RotatE").space("RotatE", 3))
        assert plan.config("RotatE") == replace(strong, epochs=2)
        plain = TrainingConfig("TransE", {"embedding_dim": 50}, random_seed=3)
        assert CrossValidation(seed=3).config("TransE") == plain

    def test_another_fold_is_another_run(self, graph, tmp_path):
        names = {
            run_folder(tmp_path, fold, PLAN.config("TransE"))
            for seed in (0, 1)
            for fold in cut_folds(graph, 2, seed)
        }
        assert len(names) == 4

    @pytest.mark.parametrize("name", ["/elsewhere", "../..", "..", "", "a\0b", "é" * 300])
    def test_no_name_leads_elsewhere(self, graph, tmp_path, name):
        fold = cut_folds(replace(graph, name=name), 2)[0]
        folder = run_folder(tmp_path, fold, replace(PLAN.config("TransE"), model=name))
        assert folder.resolve().parents[1] == tmp_path.resolve()
        folder.mkdir(parents=True)
        assert not is_trained(tmp_path, fold, PLAN.config("TransE"))

    def test_what_killed_processes_left_goes(self, graph, tmp_path):
        fold, config = cut_folds(graph, 2)[1], PLAN.config("TransE")
        folder = run_folder(tmp_path, fold, config)
        (folder.parent / f".{folder.name}-abcdefgh.kgdash-part").mkdir(parents=True)
        fold_run(tmp_path, fold, config)
        assert os.listdir(folder.parent) == [folder.name]

    def test_a_damaged_run_says_how_to_go_on(self, graph, tmp_path):
        fold, config = cut_folds(graph, 2)[0], PLAN.config("TransE")
        fold_run(tmp_path, fold, config)
        folder = run_folder(tmp_path, fold, config)
        (folder / "weights.safetensors").write_bytes(b"")
        with pytest.raises(KgdashError, match=rf"is damaged.*remove {folder} to train it again"):
            fold_run(tmp_path, fold, config)

    def test_a_run_of_another_graph_in_its_place(self, graph, tmp_path):
        (first, second), config = cut_folds(graph, 2), PLAN.config("TransE")
        fold_run(tmp_path, first, config)
        folder = run_folder(tmp_path, second, config)
        run_folder(tmp_path, first, config).rename(folder)
        with pytest.raises(KgdashError, match=rf"another graph than.*remove {folder} to train"):
            fold_run(tmp_path, second, config)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"epochs": 2}, "epochs is 2 there; expected 1"),
            ({"random_seed": 9}, "random_seed is 9 there; expected 3"),
            ({"loss": "mse"}, "loss is 'mse' there; expected None"),
            ({"model_kwargs": {"embedding_dim": 9}}, "model_kwargs is"),
        ],
    )
    def test_a_run_that_was_trained_otherwise(self, graph, tmp_path, change, said):
        fold, config = cut_folds(graph, 2)[0], PLAN.config("TransE")
        fold_run(tmp_path, fold, config)
        folder = run_folder(tmp_path, fold, config)
        told = json.loads((folder / "run.json").read_text())
        told["training"] |= change
        (folder / "run.json").write_text(json.dumps(told))
        with pytest.raises(KgdashError, match=rf"otherwise: {said}.*remove {folder} to train it"):
            fold_run(tmp_path, fold, config)

    def test_another_model_than_its_training_says(self, graph, tmp_path):
        fold, config = cut_folds(graph, 2)[0], PLAN.config("TransE")
        fold_run(tmp_path, fold, replace(config, model="DistMult"))
        folder = run_folder(tmp_path, fold, config)
        run_folder(tmp_path, fold, replace(config, model="DistMult")).rename(folder)
        told = json.loads((folder / "run.json").read_text())
        told["training"]["model"] = "TransE"
        (folder / "run.json").write_text(json.dumps(told))
        with pytest.raises(KgdashError, match=rf"another model than.*remove {folder} to train it"):
            fold_run(tmp_path, fold, config)

    @unix
    @pytest.mark.parametrize("name", ["..", ".", "weights.safetensors", "run.json"])
    def test_what_other_accounts_may_change_is_no_training_of_one_s_own(
        self, graph, tmp_path, name
    ):
        fold, config = cut_folds(graph, 2)[0], PLAN.config("TransE")
        fold_run(tmp_path, fold, config)
        place = run_folder(tmp_path, fold, config) / name
        place.chmod(0o777)
        with pytest.raises(KgdashError, match=r"other accounts may change.*workdir of your own"):
            fold_run(tmp_path, fold, config)

    @unix
    def test_nothing_is_trained_where_other_accounts_may_write(self, graph, tmp_path, monkeypatch):
        monkeypatch.setattr(fold_runs, "train", None)
        tmp_path.chmod(0o777)
        with pytest.raises(KgdashError, match="other accounts may change"):
            fold_run(tmp_path, cut_folds(graph, 2)[0], PLAN.config("TransE"))

    @unix
    def test_the_umask_lets_nobody_change_it(self, graph, tmp_path, monkeypatch):
        monkeypatch.setattr(atomic, "_UMASK", 0)
        before = os.umask(0)
        try:
            for _ in range(2):
                fold_run(tmp_path / "new", cut_folds(graph, 2)[0], PLAN.config("TransE"))
        finally:
            os.umask(before)

    def test_where_a_run_should_be_stands_something_else(self, graph, tmp_path, monkeypatch):
        monkeypatch.setattr(fold_runs, "train", None)
        fold, config = cut_folds(graph, 2)[0], PLAN.config("TransE")
        run_folder(tmp_path, fold, config).mkdir(parents=True)
        with pytest.raises(KgdashError, match="exists already"):
            fold_run(tmp_path, fold, config)

    def test_where(self, monkeypatch, tmp_path):
        monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
        assert default_workdir() == tmp_path / "cross-validation"
        monkeypatch.delenv("KGDASH_DATA")
        assert default_workdir().parts[-2:] == ("kgdash", "cross-validation")


def test_figures_are_those_of_each_run(graph, done):
    """The subgraphs are drawn for each run anew, which must give the same ones."""
    figures, runs = done[1]
    assert list(figures[["model", "fold", "size"]].drop_duplicates().itertuples(index=False)) == [
        (model, fold, size) for fold in (0, 1) for model in PLAN.models for size in (4, 6)
    ]
    for row in runs.itertuples():
        fold = cut_folds(graph, 2, 3)[row.fold]
        run = load(run_folder(done[0], fold, PLAN.config(row.model)))
        assert run.digest == row.digest
        for size in PLAN.sizes:
            parts = draw_subgraphs(run, SubgraphSampling(5, size, seed=3))
            table = score_subgraphs(run, parts, SubgraphEvaluation(seed=3))
            found = figures.query("model == @row.model and fold == @row.fold and size == @size")
            assert found["subgraph"].tolist() == [0, 1, 2, 3, 4]
            pd.testing.assert_frame_equal(
                found[table.columns].reset_index(drop=True), table, check_dtype=False
            )


def test_runs(graph, done):
    runs = done[1][1]
    assert runs[["train", "valid", "test"]].sum(axis=1).tolist() == [1992] * 4
    for row in runs.itertuples():
        run = load(run_folder(done[0], cut_folds(graph, 2, 3)[row.fold], PLAN.config(row.model)))
        ranks = run.ranks()["realistic"]
        assert row.mrr == pytest.approx((1 / ranks).mean(), abs=1e-6)
        assert row.hits_at_10 == pytest.approx((ranks <= 10).mean(), abs=1e-6)
        assert row.training_seconds == run.training["seconds"]
        assert row.study_seconds > 0


def test_progress_runs_through_all_models(graph, done, tmp_path):
    shares, trained = [0.0], []
    plan = CrossValidation(**{**vars(PLAN), "models": ("TransE", "DistMult")})
    cross_validate(
        graph,
        plan,
        tmp_path,
        lambda done, total: shares.append(done / total),
        lambda fold, run, before: trained.append(shares[-1]),
    )
    # Four models of the same weight, of which training is nine tenths.
    assert trained == pytest.approx([0.225, 0.475, 0.725, 0.975])
    assert shares[-1] == pytest.approx(1)


def test_what_is_trained_already_weighs_little(graph, done):
    jobs = [(fold, model) for fold in cut_folds(graph, 2, 3) for model in PLAN.models]
    before = cross_validation._weights(jobs, PLAN, done[0] / "elsewhere")
    after = cross_validation._weights(jobs, PLAN, done[0])
    assert max(after) < 0.05 * min(before)
    assert before[1] > before[0]


class TestInterruption:
    def test_goes_on_where_it_was(self, graph, done, tmp_path):
        class Stopped(Exception):
            pass

        trained = []

        def stop_in_the_third(done, total):
            if done / total > 0.505:  # TransE of the second of two folds
                raise Stopped

        def tell(fold, run, before):
            trained.append((fold.number, run.spec.name, before))

        with pytest.raises(Stopped):
            cross_validate(graph, PLAN, tmp_path, stop_in_the_third, tell)
        assert trained == [(0, "TransE", False), (0, "ConvE", False)]
        assert len(os.listdir(tmp_path / "nations")) == 2
        trained.clear()
        figures, runs = cross_validate(graph, PLAN, tmp_path, on_fold=tell)
        assert [before for _, _, before in trained] == [True, True, False, False]
        # The same in the end as without interruption.
        pd.testing.assert_frame_equal(figures, done[1][0])
        seconds = ["training_seconds", "study_seconds"]
        pd.testing.assert_frame_equal(runs.drop(columns=seconds), done[1][1].drop(columns=seconds))

    def test_a_finished_study_is_not_made_again(self, graph, done, keep_all, monkeypatch):
        first = cross_validate(graph, PLAN, done[0])

        def never(*arguments, **options):
            raise AssertionError("computed again")

        monkeypatch.setattr(cross_validation, "score_subgraphs", never)
        again = cross_validate(graph, PLAN, done[0])
        for one, other in zip(first, again, strict=True):
            pd.testing.assert_frame_equal(one, other)
        assert set(store.list_cache()["kind"]) >= {"study"}
        assert "study" in store.KINDS
        for change in (
            {"seed": 4},
            {"subgraphs": 4},
            {"sizes": (4,)},
            {"evaluated": "all"},
            {"ks": (2,)},
        ):
            other = CrossValidation(**{**vars(PLAN), **change, "models": ("TransE",)})
            with pytest.raises(AssertionError, match="computed again"):
                cross_validate(graph, other, done[0])


def test_only_some_folds(graph, done):
    plan = CrossValidation(**{**vars(PLAN), "folds_only": (1,), "models": ("TransE",)})
    figures, runs = cross_validate(graph, plan, done[0])
    whole = done[1][0].query("model == 'TransE' and fold == 1").reset_index(drop=True)
    pd.testing.assert_frame_equal(figures, whole)
    assert runs["fold"].tolist() == [1]


def test_the_dataset_s_own_split(graph, tmp_path):
    plan = CrossValidation(**{**vars(PLAN), "folds": 0, "models": ("TransE",), "sizes": ()})
    figures, runs = cross_validate(graph, plan, tmp_path)
    assert runs[["train", "valid", "test", "kept"]].to_numpy().tolist() == [[1592, 199, 201, 0]]
    assert figures["size"].unique().tolist() == [14]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "expected 2 to 1,992 folds"),
        ({"folds_only": (0, 2)}, "expected folds from 0 to 1; found 2"),
        ({"models": ()}, "expected models, each once; found none"),
        ({"models": ("TransE", "TransE")}, "each once; found TransE, TransE"),
        ({"models": ("TransE", "Transe")}, "unknown model 'Transe'.*TransE"),
        ({"recipe": "best"}, "unknown recipe 'best'"),
        ({"dimension": 0}, "expected a whole number from 1"),
        ({"epochs": 0}, "at least 1; found 0"),
        ({"subgraphs": 0}, "at least 1; found 0"),
        ({"subgraphs": 10**9}, "1 to 1,000,000 subgraphs .*; found 1,000,000,000"),
        ({"sizes": (6, -1)}, "at least 1; found -1"),
        ({"batch_size": -2}, "at least 1; found -2"),
        ({"ks": (1, 0)}, "at least 1; found 0"),
        ({"corrupt": "outside"}, "unknown choice of candidates 'outside'"),
        ({"evaluated": "valid"}, "unknown choice of evaluated triples 'valid'"),
        ({"method": "walk"}, "unknown method 'walk'"),
        ({"relik_method": "guess"}, "unknown method 'guess'"),
        ({"filter": "all"}, "unknown filter 'all'"),
    ],
)
def test_refused_before_anything_is_trained(graph, tmp_path, change, message):
    with pytest.raises(KgdashError, match=message):
        cross_validate(graph, CrossValidation(**{**vars(PLAN), **change}), tmp_path)
    assert os.listdir(tmp_path) == []
