"""The commands train, with and without a search, and trials."""

import io
import shlex
from dataclasses import replace

import pandas as pd
import pytest
from pykeen.datasets import Nations
from pykeen.models import model_resolver

import kgdash
from kgdash import cli
from kgdash.hpo import trial as search_trial
from kgdash.hpo.importance import importances
from kgdash.hpo.recipes import MODELS, RECIPES, recipe, trainable_models
from kgdash.hpo.selection import best_command, best_configuration
from kgdash.hpo.space import SearchSpace, fixed_configuration
from kgdash.hpo.study_file import read_study
from kgdash.hpo.text import training_command
from kgdash.runs.bundled import DEMO_STUDY
from kgdash.runs.library import runs_folder
from kgdash.runs.training import TrainingConfig
from tests.support.cli import strict_json

NATIONS = ("--dataset", "nations", "--model", "TransE")
SMALL = ("--epochs", 1, "--batch-size", 512, "--negatives", 1, "--dim", "4,6")
MRR = "inverse_harmonic_mean_rank"


@pytest.fixture
def configured(monkeypatch):
    """Collect configurations instead of training them."""
    found = []

    class Caught(Exception):
        pass

    def train(graph, config, out, progress, search=None):
        found.append(config)
        raise Caught

    monkeypatch.setattr("kgdash.runs.training.train", train)

    def read(command: str) -> TrainingConfig:
        with pytest.raises(Caught):
            cli.app(shlex.split(command), standalone_mode=False)
        return found[-1]

    return read


def test_options_without_a_search(configured):
    plain = configured("train x --dataset nations --model TransE --recipe pykeen")
    assert plain == TrainingConfig("TransE", {"embedding_dim": 50})
    assert configured("train x --dataset nations --model TransE --dim 50") == plain
    strong = fixed_configuration(recipe("strong", "TransE").space("TransE", 3))
    assert configured("train x --dataset nations --model TransE --seed 3") == strong
    assert configured("train x --dataset nations --model MuRE").training_loop == "sLCWA"
    command = (
        "train x --dataset nations --model DistMult --dim 8 --epochs 3 --seed 4 --batch-size 32 "
        "--learning-rate 0.5 --negatives 2 --loss NSSALoss --loop sLCWA --optimizer Adagrad "
        "--inverse --set loss.margin=3 --set regularizer.weight=0.25"
    )
    assert configured(command) == TrainingConfig(
        model="DistMult",
        model_kwargs={"embedding_dim": 8},
        epochs=3,
        batch_size=32,
        random_seed=4,
        create_inverse_triples=True,
        regularizer="LpRegularizer",
        regularizer_kwargs={"weight": 0.25, "p": 2.0, "normalize": True},
        loss="NSSALoss",
        loss_kwargs={"margin": 3},
        optimizer="Adagrad",
        optimizer_kwargs={"lr": 0.5},
        negative_sampler="basic",
        negative_sampler_kwargs={"num_negs_per_pos": 2},
    )


@pytest.mark.parametrize("model", [*MODELS, "MuRE"])
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("loop", ["", "LCWA"])
def test_the_command_of_a_recipe_trains_it(configured, name, model, loop):
    if name == "strong" and (loop or model not in MODELS):
        pytest.skip("it has a loop of its own, for some models")
    space = recipe(name, model).space(model, 3)
    if loop:
        values = {k: v for k, v in space.values.items() if not k.startswith("negative")}
        space = replace(space, values=values, training_loop=loop)
    config = fixed_configuration(space)
    command = training_command(config, "nations", "x").removeprefix("kgdash ")
    assert configured(command) == config


@pytest.mark.parametrize("model", trainable_models())
def test_a_dimension_that_is_left_to_pykeen_is_that_of_the_command(configured, model):
    """The form's command trained another model: of 50 dimensions, whatever PyKEEN's own are."""
    config = fixed_configuration(SearchSpace((model,)))
    assert "embedding_dim" not in config.model_kwargs
    given = configured(training_command(config, "nations", "x").removeprefix("kgdash "))
    assert given == replace(config, model_kwargs=given.model_kwargs)
    triples = Nations(create_inverse_triples=model != "RGCN").training
    made = [
        model_resolver.make(model, arguments, triples_factory=triples, random_seed=0)
        for arguments in (config.model_kwargs, given.model_kwargs)
    ]
    shapes = [{name: each.shape for name, each in one.state_dict().items()} for one in made]
    assert shapes[0] == shapes[1]


def test_options_go_before_the_recipe(configured):
    command = "train x --dataset nations --model ComplEx --recipe strong --dim 8 --set loop.n3=0.5"
    config = configured(command)
    assert config.model_kwargs == {"embedding_dim": 8}
    assert config.loop_kwargs["n3"] == 0.5
    assert config.optimizer == "Adagrad"


def test_the_command_of_the_best_trains_the_best(configured):
    study = read_study(DEMO_STUDY)
    space = SearchSpace.from_json(study.about["space"], "x")
    command = best_command(study).removeprefix("kgdash ")
    assert configured(command) == best_configuration(study, space)


def test_search(call, tmp_path):
    out, study = tmp_path / "run", tmp_path / "study.db"
    printed = call("train", out, *NATIONS, *SMALL, "--search", "--trials", 2, "--study", study)
    found = read_study(study)
    best = found.trials.loc[found.best]
    lines = printed.splitlines()
    first = found.trials.loc[0]
    assert lines[0].rstrip() == (
        f"trial 0 finished: {first['value']:.4f}; best {first['value']:.4f} (trial 0)"
    )
    assert lines[1].rstrip().endswith(f"best {best['value']:.4f} (trial {best['trial']})")
    assert lines[2] == f"wrote {out}"
    run = kgdash.load(out)
    assert run.training["search"]["trials"] == 2
    values = kgdash.metrics(run.ranks(split="valid")).values()
    assert values[MRR] == pytest.approx(best["value"], abs=1e-6)
    assert f"{run.training['evaluation'][MRR]:.4f}" in printed
    # The same command on another output goes on with the study: nothing is left to try.
    again = call(
        "train", tmp_path / "2", *NATIONS, *SMALL, "--search", "--trials", 2, "--study", study
    )
    assert again.splitlines()[0] == f"wrote {tmp_path / '2'}"
    assert kgdash.load(tmp_path / "2").weights_digest == run.weights_digest


def test_without_a_place_it_goes_to_the_folder_of_runs_and_by_its_name(call):
    options = (*NATIONS, "--epochs", 1, "--batch-size", 512, "--dim", 4)
    for name in ("nations-transe", "nations-transe-2"):
        kept = runs_folder() / name
        assert call("train", *options).splitlines()[0] == f"wrote {kept}; its name is {name}"
    assert kgdash.load("nations-transe-2").graph.name == "nations"
    rows = {row["name"]: row for row in strict_json(call("runs", "--json"))["runs"]}
    run = rows["nations-transe"]
    assert (run["model"], run["graph"], run["place"]) == ("TransE", "nations", "own")
    found = strict_json(call("metrics", "nations-transe", "--json"))
    assert found["metrics"]["both"]["realistic"][MRR] == pytest.approx(run["mrr"], abs=1e-6)
    # The study of a search lies beside the runs.
    small = (*NATIONS, *SMALL, "--search", "--trials", 1)
    assert f"wrote {runs_folder() / 'nations-transe-3'}" in call("train", *small)
    assert (runs_folder() / "nations-transe-3.study.db").is_file()


def test_nothing_is_searched_for_a_run_that_can_not_be_written(refused, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    assert "run exists already" in refused("train", out, *NATIONS, *SMALL, "--search")
    assert not (tmp_path / "run.study.db").exists()


def test_ctrl_c_keeps_the_study(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(search_trial, "fit", interrupted)
    words = ["kgdash", "train", tmp_path / "run", *NATIONS, *SMALL, "--search"]
    monkeypatch.setattr("sys.argv", [str(word) for word in words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    study = tmp_path / "run.study.db"
    assert f"{study} keeps its trials" in capsys.readouterr().err
    assert read_study(study).trials["state"].tolist() == ["interrupted"]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trials", 3], "--trials: only with --search"),
        (["--study", "x.db", "--prune"], "--study, --prune: only with --search"),
        (["--recipe", "best"], "unknown recipe 'best'"),
        (["--recipe", "strong", "--search"], "--recipe: leaves nothing to search"),
        (["--loop", "softmax", "--search"], "the training loop softmax is not searched"),
        (["--loop", "softmax", "--loss", "NSSALoss"], "--loss: the training loop softmax has its"),
        (["--loop", "softmax", "--no-inverse"], "--no-inverse: the training loop softmax has its"),
        (["--loop", "softmax", "--set", "loop.n3=-1"], "loop.n3: expected a number from 0 to 1000"),
        (["--loop", "softmax"], "the loop softmax trains ComplEx, DistMult, ConvE, TransE"),
        (["--set", "loop.n3=1"], "loop.n3: only for the training loop softmax; found sLCWA"),
        (["--epochs", "1:5"], "training.num_epochs: choices and ranges are for a search"),
        (["--dim", "4,8"], "model.embedding_dim: choices and ranges are for a search"),
        (["--set", "loss.margin"], "--set: expected PART.NAME=VALUE; found 'loss.margin'"),
        (["--dim", 4, "--set", "model.embedding_dim=8"], "model.embedding_dim is given twice"),
        (["--set", "loss.marge=1"], "unknown parameter 'loss.marge'"),
        (["--epochs", "many"], "training.num_epochs: expected a whole number"),
        (["--dim", "wide"], "train: embedding_dim of model TransE: expected a whole number"),
        (["--search", "--trials", 0], "give the search a budget"),
        (["--search", "--learning-rate", "0.1:0.01"], "optimizer.lr: expected a range"),
        (["--search", "--sampler", "grid"], "unknown sampler 'grid'"),
        (["--search", "--prune"], "patience and pruning need check_every"),
    ],
)
def test_refusals(refused, tmp_path, options, message):
    assert refused("train", tmp_path / "out", *NATIONS, *options).startswith(message)


def test_trials(call, tmp_path):
    study = read_study(DEMO_STUDY)
    printed = call("trials", DEMO_STUDY)
    table = pd.read_csv(io.StringIO(printed), sep="\t", comment="#")
    assert table["value"].tolist() == study.trials["value"].tolist()
    assert printed.splitlines()[-1] == f"# the best: {best_command(study)}"
    call("trials", DEMO_STUDY, "--out", tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "x.parquet"), study.trials)
    found = strict_json(call("trials", DEMO_STUDY, "--json"))
    assert found["best_value"] == study.trials["value"].max()
    assert found["command"] == best_command(study)
    assert found["importances"] == importances(study).to_dict()
    assert [row["state"] for row in found["trials"]] == study.trials["state"].tolist()
    assert found["about"]["filter"] == "train+valid"


def test_trials_of_something_else(refused, tmp_path):
    (tmp_path / "x.db").write_text("no study")
    assert "expected the SQLite file of a search" in refused("trials", tmp_path / "x.db")


def test_train(call, tmp_path):
    options = ("--dataset", "nations", "--model", "DistMult", "--dim", 4, "--epochs", 2)
    out = call("train", tmp_path / "mine", *options, "--seed", 1)
    assert f"wrote {tmp_path / 'mine'}" in out
    loaded = kgdash.load(tmp_path / "mine")
    assert (loaded.spec.name, loaded.spec.kwargs["embedding_dim"]) == ("DistMult", 4)
    assert len(loaded.training["losses"]) == 2
    mrr = kgdash.metrics(loaded.ranks()).value("mrr")
    assert f"{mrr:.4f}" in out
    call("train", tmp_path / "again", *options, "--seed", 1)
    assert kgdash.load(tmp_path / "again").weights_digest == loaded.weights_digest
