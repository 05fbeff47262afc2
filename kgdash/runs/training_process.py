"""A training in a process of its own, watched from another; it writes what ``kgdash train`` would.

In a process that serves pages other threads draw from torch's random generators, so that a seed
would not give the weights that it gives on the command line.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgdash.errors import InterruptedWork, KgdashError
from kgdash.files.bounded_reading import bound_readings
from kgdash.files.priority import give_way
from kgdash.files.visitor import Visitor, visitor, working_for
from kgdash.progress import Progress
from kgdash.runs.own_program import start_module

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.runs.training import TrainingConfig

#: share of the time that checks of validation may take
_SHARE = 0.1

#: by how much pages go first, in steps of the system's scheduler, and what they compute beside it
_POLITE = 15

#: seconds that a process gets to end and to clear away after itself
_PATIENCE = 60


@dataclass(frozen=True)
class TrainingState:
    """How far a training is.

    ``graph`` is empty until the dataset is loaded. ``losses`` has one entry per epoch; ``checks``
    are pairs of an epoch and the MRR after it on ``checked`` of the ``valid`` validation triples.
    ``run`` is the name of the run, once it is in the folder of runs, and ``found`` what
    `kgdash.runs.description.describe_run` said of it there: another may be put under its name.
    """

    graph: str = ""
    checked: int = 0
    valid: int = 0
    losses: tuple[float, ...] = ()
    checks: tuple[tuple[int, float], ...] = ()
    run: str = ""
    found: Mapping[str, Any] = field(default_factory=dict, hash=False)


class TrainingProcess:
    """One training, from its start until its run is kept or nothing is."""

    def __init__(self, dataset: str, config: TrainingConfig, name: str = "") -> None:
        """Take what to train; `steps` starts it.

        :param dataset: as for `kgdash.graph.datasets.load_dataset`
        :param name: of the run; if empty, or taken meanwhile, as `keep_run` makes it
        """
        roots = visitor().roots
        # Visitors' bare names are PyKEEN's, whatever lies where the server was started.
        is_here = roots is None and os.path.isdir(dataset)
        source = os.path.abspath(dataset) if is_here else dataset
        within = None if roots is None else list(map(str, roots))
        request = {"dataset": source, "config": asdict(config), "name": name}
        self._request = request | {"roots": within, "folder": visitor().folder}
        self._process: subprocess.Popen[str] | None = None

    def steps(self, progress: Progress, latest: object) -> Iterator[TrainingState]:
        """Train, and yield how far that is, in the end with the name of the run.

        :param progress: called with (done, total); may raise to cancel, then nothing is kept
        :param latest: not read: a training begins anew
        :raises KgdashError: as `load_dataset`, `train` and `keep_run`, or if the process dies
        """
        state = TrainingState()
        process = self._process = _start(self._request)
        try:
            yield state
            for line in process.stdout or ():
                said = json.loads(line)
                if "error" in said:
                    raise KgdashError(said["error"])
                if "progress" in said:
                    progress(*said["progress"])
                else:
                    state = _with(state, said)
                    yield state
        finally:
            _end(process)
        if not state.run:
            progress(0, 1)  # raises if it was asked to end
            raise InterruptedWork(
                "The process of this training",
                process.returncode,
                "start it again, with fewer dimensions or a smaller batch if memory is short",
            )

    def stop(self) -> None:
        """End it at once; nothing is kept."""
        if self._process is not None:
            self._process.terminate()


def _start(request: dict[str, Any]) -> subprocess.Popen[str]:
    process = start_module(
        "kgdash.runs.training_process",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    if process.stdin:
        with contextlib.suppress(OSError), process.stdin:  # if it died, its end says so
            process.stdin.write(json.dumps(request))
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()  # does nothing to one that ended
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _with(state: TrainingState, said: dict[str, Any]) -> TrainingState:
    if "epoch" not in said:
        return replace(state, **said)
    losses = (*state.losses, said["loss"])
    check = [] if said["mrr"] is None else [(said["epoch"], said["mrr"])]
    return replace(state, losses=losses, checks=(*state.checks, *check))


class _Checks:
    """Looks at validation now and then: after the first epoch, the last one, and as time allows."""

    def __init__(
        self, graph: KnowledgeGraph, config: TrainingConfig, say: Callable[..., None]
    ) -> None:
        self._graph, self._config, self._say = graph, config, say
        self._start, self._spent = time.monotonic(), 0.0

    def watch(self, epoch: int, loss: float, model: Any, mrr: float | None) -> None:
        """Say how an epoch went."""
        from kgdash.runs.softmax_training import SOFTMAX
        from kgdash.runs.validation import MOST_CHECKED, SPLIT, validation_mrr
        from kgdash.scoring.build_model import scoring_state

        now = time.monotonic()
        due = self._spent <= _SHARE * (now - self._start) or epoch == self._config.epochs
        looks = self._config.training_loop == SOFTMAX  # itself
        if due and not looks and len(self._graph.splits[SPLIT]):
            state = scoring_state(model)
            mrr = validation_mrr(self._graph, self._config.spec(), state, MOST_CHECKED)
            self._spent += time.monotonic() - now
        self._say(epoch=epoch, loss=loss, mrr=mrr)


def _train(request: dict[str, Any], say: Callable[..., None]) -> None:
    # Imported here: PyKEEN takes seconds, which who only watches does not need.
    from kgdash.graph.datasets import load_dataset
    from kgdash.runs.description import describe_run
    from kgdash.runs.library import keep_run
    from kgdash.runs.training import TrainingConfig, train
    from kgdash.runs.validation import MOST_CHECKED, SPLIT

    roots, folder = request["roots"], request["folder"]
    with working_for(Visitor(roots=None if roots is None else tuple(map(Path, roots)))):
        graph = load_dataset(request["dataset"])
    config = TrainingConfig(**request["config"])
    valid = len(graph.splits[SPLIT])
    say(graph=graph.name, checked=min(valid, MOST_CHECKED), valid=valid)
    say(progress=[0, 1])
    checks = _Checks(graph, config, say)

    def report(done: float, total: float) -> None:
        say(progress=[done, total])

    def write(out: Path) -> None:
        train(graph, config, out, report, watch=checks.watch)

    with working_for(Visitor(folder=folder)):  # whose runs leave room on the disk
        kept = keep_run(write, request["name"], numbered=True)
    say(run=kept.name, found=describe_run(kept.name, kept))


def main() -> None:
    """Train what standard input asks for, and say on standard output, line by line, how it goes."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no line of ours

    def say(**said: Any) -> None:
        print(json.dumps(said), file=lines, flush=True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    give_way(_POLITE)
    bound_readings()
    try:
        _train(json.load(sys.stdin), say)
    except KgdashError as error:
        say(error=str(error))
    except (KeyboardInterrupt, BrokenPipeError):  # stopped, or nobody listens any more
        os._exit(130)
    except Exception as error:  # nobody sees its traceback
        say(error=f"training failed: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
