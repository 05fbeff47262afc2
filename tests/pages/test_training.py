"""Training a run from the page Runs: the form, the training while it runs, and its ends."""

import shutil
import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.errors import KgdashError
from kgdash.hpo.recipes import recipe
from kgdash.hpo.space import fixed_configuration
from kgdash.hpo.text import training_command
from kgdash.runs.bundled import DEMO
from kgdash.runs.description import describe_run
from kgdash.runs.library import keep_run, remove_run, runs_folder
from kgdash.runs.training_process import TrainingState
from kgdash.ui.library import trainings as module
from kgdash.ui.library.trainings import trainings
from tests.pages.driver import choose, open_page, run

PATIENCE = 60

MORE = "train_more quick TransE sLCWA NSSALoss"
GONE = "Trained TransE on nations; the run was renamed, removed or replaced."
FOLDER = "A folder on this machine …"


class Process:
    """Stands for `TrainingProcess`: after an epoch of two it waits to be told how to end."""

    latest = None

    def __init__(self, dataset, config, name=""):
        self.asked = (dataset, config, name)
        self.go, self.stopped, self.error = threading.Event(), False, None
        Process.latest = self

    def steps(self, progress, latest):
        yield TrainingState()
        yield TrainingState("nations", 199, 199, (0.5,), ((1, 0.25),))
        progress(1, 2)
        self.go.wait(PATIENCE)
        progress(2, 2)
        if self.error:
            raise KgdashError(self.error)
        keep_run(lambda out: shutil.copytree(DEMO / "umls-rotate", out), "mine")
        checks = ((1, 0.25), (2, 0.5))
        found = describe_run("mine", runs_folder() / "mine")
        yield TrainingState("nations", 199, 199, (0.5, 0.4), checks, "mine", found)

    def stop(self):
        self.stopped = True
        self.go.set()


@pytest.fixture(autouse=True)
def _no_process(monkeypatch):
    monkeypatch.setattr(module, "TrainingProcess", Process)
    trainings.clear()
    yield
    if Process.latest is not None:
        Process.latest.stop()
    trainings.clear()


def press(app: AppTest, key: str) -> AppTest:
    app.get_by_key(key).click()
    return run(app)


def asking():
    """Stand for the page with its dialog open: AppTest runs a page anew, and closes that."""
    import streamlit as st

    from kgdash.ui.library.training_form import ask_training

    if not st.checkbox("closed", key="closed"):
        ask_training()


def form(recipe: str = "quick") -> AppTest:
    return choose(run(AppTest.from_function(asking, default_timeout=60)), train_recipe=recipe)


def code(app: AppTest) -> str:
    (shown,) = [each.value for each in app.code]
    return shown


def errors(app: AppTest) -> list[str]:
    return [error.value for error in app.error]


def started(**choices) -> AppTest:
    press(choose(form(), train_recipe="PyKEEN's", **choices), "start_training")
    return open_page("runs")


def let_go(**how) -> None:
    vars(Process.latest).update(how)
    Process.latest.go.set()
    assert trainings().latest.job.wait(PATIENCE)


def bars(app: AppTest) -> list[str]:
    return [bar.proto.text for bar in app.get("progress")]


def test_the_page_opens_with_the_runs_and_training_waits_to_be_asked_for():
    app = open_page("runs")
    assert not app.code
    assert not app.get("progress")
    assert "train_model" not in app.session_state
    assert [box.label for box in press(app, "train").selectbox][-2:] == ["Dataset", "Model"]


def test_the_form_says_the_command():
    app = form()
    assert code(app) == (
        "kgdash train --dataset nations --model TransE --epochs 20 --seed 0 "
        "--batch-size 256 --loss NSSALoss --loop sLCWA --optimizer Adam --dim 32 --set "
        "loss.margin=3.0 --set loss.adversarial_temperature=1.0 --learning-rate 0.01 --negatives "
        "16 --set negative_sampler.filtered=True"
    )
    choose(app, train_dataset="fb15k237", train_model="ConvE", train_recipe="good")
    assert "--dataset fb15k237 --model ConvE --epochs 100" in code(app)
    assert "Downloaded at its first use." in [caption.value for caption in app.caption]
    choose(app, **{"train_loop good ConvE": "LCWA", "train_loss good ConvE": "BCEWithLogitsLoss"})
    assert "--loss BCEWithLogitsLoss --loop LCWA --optimizer Adam --dim 50" in code(app)
    for left_out in ("negative", "loss."):
        assert left_out not in code(app)
    choose(app, train_recipe="PyKEEN's", train_model="TransE", train_name="mine")
    assert code(app).endswith(
        "/runs/mine --dataset fb15k237 --model TransE --epochs 100 --seed 0 --loop sLCWA "
        "--optimizer Adam --dim 50"
    )


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"train_name": "../x"}, "expected a name of letters"),
        ({"train_name": "umls-transe"}, "umls-transe is the name of a bundled run"),
        ({MORE: "loss.marge=1"}, "unknown parameter"),
        ({MORE: "nonsense"}, "expected PART.NAME=VALUE"),
        ({MORE: "model.embedding_dim=3"}, "given twice"),
        ({MORE: "loss.margin=1:3"}, "give one value"),
        ({MORE: "model.scoring_fct_norm=x"}, "a number from"),
        ({"train_dataset": FOLDER, "train_folder": "/nope"}, "There is no folder /nope."),
        ({"train_dataset": FOLDER, "train_folder": str(DEMO)}, "no training triples in"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_starts(choices, message):
    app = choose(form(), **choices)
    assert len(errors(app)) == 1
    assert message in errors(app)[0]
    assert app.get_by_key("start_training").disabled
    assert trainings().latest is None


def test_more_epochs_than_the_field_takes_can_not_be_asked_for_in_words():
    """The server keeps a number of each, and draws them every second for all who watch."""
    epochs = "train_training.num_epochs quick TransE"
    app = choose(form(), **{epochs: None, MORE: "training.num_epochs=100001"})
    assert errors(app) == ["expected at most 100,000 epochs; found 100,001"]
    assert app.get_by_key("start_training").disabled
    assert not errors(choose(app, **{MORE: "training.num_epochs=100000"}))


def test_what_only_pykeen_knows_is_said_before_anything_starts():
    app = choose(form(), train_model="ConvE", train_recipe="PyKEEN's")
    choose(app, **{"train_model.embedding_dim PyKEEN's ConvE": 7})
    press(app, "start_training")
    assert len(errors(app)) == 1
    assert "PyKEEN can not train ConvE" in errors(app)[0]
    assert trainings().latest is None
    choose(choose(app, closed=True), closed=False)
    assert "--model ConvE" in code(app)
    assert "--dim 7" in code(app)


@pytest.mark.parametrize("how", ["stopped", "failed", "done"])
def test_the_form_opens_with_what_was_trained_last(how):
    app = choose(form(), train_dataset="umls", train_model="RotatE", train_recipe="good")
    choose(app, train_name="mine", **{"train_loss good RotatE": "", "train_seed good RotatE": 7})
    cleared, more = "train_optimizer.lr good RotatE", "train_more good RotatE sLCWA "
    choose(app, **{more: "", "train_training.num_epochs good RotatE": 3, cleared: None})
    said = code(app)
    press(app, "start_training")
    if how == "done":
        let_go()
    elif how == "failed":
        let_go(error="it diverged")
    else:
        trainings().latest.stop()
        assert trainings().latest.job.wait(PATIENCE)
    choose(app, closed=True)
    assert not app.code
    choose(app, closed=False)
    if how == "done":
        assert "/mine " not in code(app)
        choose(app, train_name="mine-2")
        said = said.replace("/mine ", "/mine-2 ")
    assert code(app) == said
    assert app.get_by_key(cleared).value is None
    assert not errors(app)
    assert not app.warning


def test_what_was_not_trained_is_not_kept():
    app = choose(form(), train_model="RotatE", train_recipe="good")
    choose(choose(app, closed=True), closed=False)
    assert "--model TransE --epochs 100 --seed 0 --batch-size 256 --loop softmax" in code(app)


def test_strong_stands_first_where_the_model_has_it():
    app = run(AppTest.from_function(asking, default_timeout=60))
    config = fixed_configuration(recipe("strong", "TransE").space("TransE"))
    assert code(app) == training_command(config, "nations", "")
    choose(app, **{"train_seed strong TransE": 3})
    assert code(app) == training_command(replace(config, random_seed=3), "nations", "")
    assert not {"Training loop", "Loss"} & {box.label for box in app.selectbox}
    choose(app, train_model="MuRE")
    assert "--model MuRE --epochs 100" in code(app)
    assert "train_recipe" not in [each.key for each in app.get("button_group")]
    assert not errors(app)


def test_it_goes_on_over_pages_and_sessions_until_its_run_is_there():
    app = started(train_name="mine")
    assert bars(app) == ["Training TransE on nations: epoch 1 of 100"]
    assert "Stop writes no run" in "".join(caption.value for caption in app.caption)
    assert bars(open_page("metrics")) == ["Training TransE on nations: epoch 1 of 100"]
    refused = press(form(), "start_training")
    assert errors(refused) == ["TransE is being trained: stop that, or wait for its end"]
    let_go()
    dataset, config, name = Process.latest.asked
    assert (dataset, config.model, config.epochs, name) == ("nations", "TransE", 100, "mine")
    run(app)
    assert app.success[0].value == "Trained TransE on nations: **mine**, MRR on test 0.846."
    assert "--dataset nations --model TransE --epochs 100" in code(app)
    ended = open_page("metrics")
    assert not bars(ended)
    press(app, "open_trained")
    assert app.get_by_key("run").value == "mine"
    assert trainings().latest is None


def test_how_far_it_is_in_words():
    app = started()
    training = trainings().latest
    job = training.job
    states = {
        TrainingState(): "loading the dataset",
        TrainingState("nations"): "the first of 100 epochs",
        TrainingState("nations", losses=(0.5,) * 99): "epoch 99 of 100",
        TrainingState("nations", losses=(0.5,) * 100): "evaluating on test",
    }
    for state, text in states.items():
        job._state.latest = state
        assert bars(run(app)) == [f"Training TransE on nations: {text}"]


def test_stop_keeps_nothing():
    app = started()
    press(app, "stop_training")
    assert Process.latest.stopped
    assert trainings().latest.job.wait(PATIENCE)
    run(app)
    assert app.info[0].value == "Training TransE on nations was stopped; nothing was kept."
    press(app, "close_training")
    assert not app.info
    assert not app.code


def test_a_failure_is_one_message():
    app = started()
    let_go(error="training diverged: weights are NaN after epoch 2")
    assert errors(run(app)) == ["training diverged: weights are NaN after epoch 2"]
    assert not app.success


def test_the_run_was_removed_before_its_end_was_read():
    app = started()
    let_go()
    remove_run("mine")
    assert GONE in run(app).info[0].value
    keep_run(lambda out: shutil.copytree(DEMO / "umls-transe", out), "mine")
    assert GONE in run(app).info[0].value
    assert not run(app).success
    assert [button.key for button in app.button if button.key == "open_trained"] == []
