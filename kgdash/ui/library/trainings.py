"""The training that pages started: one at a time, in the background, seen by all sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import check_right, visitor
from kgdash.runs.library import check_room_for_run
from kgdash.runs.training_process import TrainingProcess, TrainingState
from kgdash.ui.runtime.background import Job, time_left
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.sidebar import footer

if TYPE_CHECKING:
    from kgdash.runs.training import TrainingConfig

#: seconds between two looks at a running one
POLL = 1.0


@dataclass(frozen=True)
class Training:
    """A training, running or ended: what it was started with, and its job."""

    dataset: str
    config: TrainingConfig
    command: str
    process: TrainingProcess
    job: Job

    @property
    def state(self) -> TrainingState:
        """Return how far it is."""
        return self.job.latest or TrainingState()

    @property
    def title(self) -> str:
        """Return the model and the dataset, as Markdown."""
        return f"{plain(self.config.model)} on {plain(self.state.graph or self.dataset)}"

    def stop(self) -> None:
        """End it, if the visitor may; nothing is kept."""
        if not visitor().may("train"):
            return
        self.job.stop()
        self.process.stop()

    def summary(self) -> str:
        """Say which epoch it is at, and how long it will take if that can be told."""
        epochs, done = self.config.epochs, len(self.state.losses)
        if not self.state.graph:
            return "loading the dataset"
        most = f"{'at most ' * bool(self.config.loop_kwargs)}{epochs:,}"
        text = f"epoch {done:,} of {most}" if done else f"the first of {most} epochs"
        if done == epochs:
            text = "evaluating on test"
        return text + time_left(self.job)


class _Trainings:
    """The latest training; the next one begins after it has ended."""

    def __init__(self) -> None:
        self.latest: Training | None = None
        self._guard = threading.Lock()

    def start(self, dataset: str, config: TrainingConfig, name: str, command: str) -> None:
        check_right("train")
        check_room_for_run()
        with self._guard:
            if self.latest is not None and self.latest.job.status == "running":
                raise KgdashError(
                    f"{self.latest.config.model} is being trained: stop that, or wait for its end"
                )
            process = TrainingProcess(dataset, config, name)
            job = Job(process.steps, kind="training")
            self.latest = Training(dataset, config, command, process, job)

    def forget(self) -> None:
        with self._guard:
            if not visitor().may("train"):
                return
            if self.latest is not None and self.latest.job.status != "running":
                self.latest = None


@st.cache_resource(show_spinner=False)
def trainings() -> _Trainings:
    """Return the process's trainings."""
    return _Trainings()


@st.fragment(run_every=POLL)
def watch(show: Callable[[Training], None]) -> None:
    """Show the latest training by a function again and again."""
    training = trainings().latest
    if training is not None:
        show(training)


def show_bar(training: Training) -> None:
    """Show how far a running training is."""
    text = f"Training {training.title}: {training.summary()}"
    st.progress(training.job.share() or 0.0, text=text)


def show_training_line() -> None:
    """Show at the sidebar's end what is trained, or was; a click leads there."""
    training = trainings().latest
    if training is None:
        return
    with footer():
        if training.job.status == "running":
            watch(_line)
        else:
            _line(training)


def _line(training: Training) -> None:
    status = training.job.status
    with st.container(key="training_line", gap="xsmall"):
        if status == "running":
            show_bar(training)
            label = "See the training"
        else:
            ends = {"done": "ended", "stopped": "was stopped", "failed": "failed"}
            label = f"Training {training.title} {ends[status]}"
        st.page_link("pages/runs.py", label=label, icon=":material/model_training:")
