"""A training in a process of its own: the run of the command line, or nothing and one message."""

import os
import shlex
import signal
import threading
from types import SimpleNamespace

import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.hpo.recipes import recipe
from kgdash.hpo.space import fixed_configuration
from kgdash.hpo.text import training_command
from kgdash.progress import silent
from kgdash.runs import training_process
from kgdash.runs.description import describe_run
from kgdash.runs.library import keep_run, own_names, runs_folder
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig
from kgdash.runs.training_process import TrainingProcess, TrainingState

PATIENCE = 120

TINY = TrainingConfig("TransE", {"embedding_dim": 6}, epochs=3, batch_size=256)


def quick(model: str, epochs: int) -> TrainingConfig:
    values = {"training.num_epochs": epochs}
    return fixed_configuration(recipe("quick", model).space(model, 7, **values))


def said_of(config: TrainingConfig, dataset: str = "nations", name: str = "") -> list[dict]:
    """Train in this process, and return what is said."""
    said: list[dict] = []
    request = {"dataset": dataset, "config": vars(config), "name": name}
    request |= {"roots": None, "folder": ""}
    training_process._train(request, lambda **line: said.append(line))
    return said


def nothing_left() -> bool:
    return not runs_folder().exists() or not list(runs_folder().iterdir())


def test_it_writes_the_run_of_the_command_line(call):
    config = quick("RotatE", 2)
    told: list[float] = []
    *states, last = TrainingProcess("nations", config, "mine").steps(
        lambda done, total: told.append(done / total), None
    )
    assert states[0] == TrainingState()
    assert [len(state.losses) for state in states] == [0, 0, 1, 2]
    assert (last.graph, last.checked, last.valid, last.run) == ("nations", 199, 199, "mine")
    assert last.found == describe_run("mine", runs_folder() / "mine")
    assert last.found["mrr"] > 0
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, pytest.approx(1))
    call(*shlex.split(training_command(config, "nations", ""))[1:])
    ours, theirs = load("mine"), load("nations-rotate")
    assert ours.digest == theirs.digest
    assert ours.training["losses"] == theirs.training["losses"] == list(last.losses)
    assert ours.training["evaluation"] == theirs.training["evaluation"]
    epoch, mrr = last.checks[-1]
    valid = ours.ranks("valid", filter="train+valid")["realistic"]
    assert (epoch, mrr) == (2, pytest.approx((1 / valid).mean()))


def test_stop_keeps_nothing(tmp_path):
    process = TrainingProcess("nations", TrainingConfig("TransE", epochs=100_000))
    cancelled = threading.Event()

    class Cancelled(Exception):
        pass

    def report(done, total):
        if cancelled.is_set():
            raise Cancelled

    states = process.steps(report, None)
    next(state for state in states if state.losses)
    assert list(runs_folder().iterdir())
    cancelled.set()
    process.stop()
    with pytest.raises(Cancelled):
        list(states)
    assert process._process.wait(PATIENCE) == 130
    assert nothing_left()


def test_a_process_that_dies_is_told():
    process = TrainingProcess("nations", TrainingConfig("TransE", epochs=100_000))
    states = process.steps(silent, None)
    next(states)
    os.kill(process._process.pid, signal.SIGKILL)
    with pytest.raises(KgdashError, match=r"^The process .* \(code -9\): start it again, [^.]*\.$"):
        list(states)


def test_what_is_refused_comes_with_its_reason(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tr\tb\nb\tr\n")
    with pytest.raises(KgdashError, match=r"expected 3 columns .*train\.tsv, line 2"):
        list(TrainingProcess(str(tmp_path), TINY).steps(silent, None))
    assert nothing_left()


def test_validation_is_looked_at_first_last_and_as_time_allows(monkeypatch):
    now = [0.0]

    def check(graph, spec, state, most):
        now[0] += 10
        return 0.5

    monkeypatch.setattr("kgdash.runs.validation.validation_mrr", check)
    monkeypatch.setattr(training_process.time, "monotonic", lambda: now[0])
    graph, said = load_dataset("nations"), []
    config, model = TrainingConfig("TransE", epochs=9), torch.nn.Linear(1, 1)
    checks = training_process._Checks(graph, config, lambda **line: said.append(line))
    for epoch in range(1, 10):
        now[0] += 50
        checks.watch(epoch, 1 / epoch, model, None)
    # After 170 s two checks of 10 s are over a tenth of the time, after 220 s they are not.
    assert [line["epoch"] for line in said if line["mrr"] == 0.5] == [1, 2, 4, 6, 8, 9]
    assert [line["loss"] for line in said] == [1 / epoch for epoch in range(1, 10)]


def test_a_graph_without_validation_triples_is_trained_unseen(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    said = said_of(TINY, str(tmp_path))
    assert said[0] == {"graph": tmp_path.name, "checked": 0, "valid": 0}
    assert [line["mrr"] for line in said if "epoch" in line] == [None] * 3


def test_a_name_that_is_taken_meanwhile_is_numbered():
    said = said_of(TINY, name="mine")
    keep_run(lambda out: out.mkdir(), "other")
    assert said[-1]["run"] == "mine"
    assert said_of(TINY, name="mine")[-1]["run"] == "mine-2"
    assert load("mine").digest == load("mine-2").digest
    assert {"mine", "mine-2"} <= set(own_names())


def test_what_a_visitor_trains_leaves_room_on_the_disk(as_visitor, monkeypatch):
    """A model of any size may be asked for: what is free before says nothing."""
    as_visitor(folder="ada")
    asked = TrainingProcess("nations", TINY)._request
    as_visitor()
    free = iter([2**31, 2**31 - 1])
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=next(free)))
    with pytest.raises(KgdashError, match="disk is nearly full"):
        training_process._train(asked | {"config": vars(TINY)}, lambda **line: None)
    assert nothing_left()


def test_it_keeps_to_the_roots_of_who_asked(tmp_path, as_visitor, monkeypatch):
    (tmp_path / "umls").mkdir()
    monkeypatch.chdir(tmp_path)
    as_visitor(roots=(tmp_path / "root",))
    asked = TrainingProcess("umls", quick("TransE", 1))._request
    assert (asked["dataset"], asked["roots"]) == ("umls", [str(tmp_path / "root")])
    as_visitor()
    with pytest.raises(KgdashError, match="is not below a folder that may be opened here"):
        training_process._train(asked | {"dataset": str(tmp_path / "umls")}, print)
