"""Trained models of folds on disk: each is trained once and found again.

Defined in numbers.md#16-cross-validation.
"""

import hashlib
import json
import re
from dataclasses import fields, replace
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.atomic import draft_folder, make_folder, publish
from kgdash.files.lock import hold_lock
from kgdash.files.others import others_may_change
from kgdash.files.user_data import data_folder
from kgdash.formats.run_directory import MANIFEST, check_free
from kgdash.graph.folds import Fold
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, train

#: raise when the same configuration trains something else
_VERSION = 1

#: characters of a name that a folder's is made of; each may take four of 255 bytes
_LONGEST = 50

#: rights of folders and files: nobody else may write, whatever the umask lets them
_MODE = 0o755


def default_workdir() -> Path:
    """Return where models of folds are kept: in ``$KGDASH_DATA``, or the user's data folder."""
    return data_folder() / "cross-validation"


def run_folder(workdir: Path, fold: Fold, config: TrainingConfig) -> Path:
    """Return where the run of a fold and a configuration is or will be.

    The name ends in a digest of the fold's triples and of the whole configuration, so that another
    seed, number of epochs or version of the dataset never meets an older run. What graph and model
    are called may be a stranger's words: they lead nowhere else.
    """
    about = {"version": _VERSION, "graph": fold.graph.digest, "training": config.record()}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    named = f"{_as_part(config.model)}-fold{fold.number}-{digest}"
    return workdir / _as_part(fold.graph.name) / named


def _as_part(name: str) -> str:
    """Make a name that one folder can have."""
    return re.sub(r"[^\w. -]", "_", name)[:_LONGEST].strip(". ") or "unnamed"


def is_trained(workdir: Path, fold: Fold, config: TrainingConfig) -> bool:
    """Tell whether `fold_run` would find the run and train nothing."""
    return (run_folder(workdir, fold, config) / MANIFEST).is_file()


def fold_run(workdir: Path, fold: Fold, config: TrainingConfig, progress: Progress = silent) -> Run:
    """Load the run of a fold, trained before the first time.

    A run appears whole or not at all: what was cancelled or killed is trained again from the start.
    Where another process trains the same run, this one waits for it.

    :param workdir: folder of the runs, see `run_folder`
    :param fold: what is trained on
    :param config: how; the fold's number is added to its ``random_seed``
    :raises KgdashError: if the run can not be trained or written; or one that was is damaged, was
        trained otherwise, or lies where another account may have put or changed it
    """
    folder = run_folder(workdir, fold, config)
    config = replace(config, random_seed=config.random_seed + fold.number)
    try:
        make_folder(folder.parent, _MODE)
        _check_alone(folder.parent)
        with hold_lock(folder.with_name(f"{folder.name}.lock"), waiting=lambda: progress(0.0, 1.0)):
            if not (folder / MANIFEST).is_file():
                _train(fold, config, folder, progress)
        _check_alone(folder, *folder.iterdir())
    except OSError as error:
        raise KgdashError(f"can not write {folder}: {error.strerror or error}") from error
    try:
        run = load(folder)
        if run.graph.digest != fold.graph.digest:
            raise KgdashError(f"{folder} holds a run of another graph than the fold's")
        _check_training(run, config, folder)
    except KgdashError as error:
        raise KgdashError(f"{error}; or remove {folder} to train it again") from error
    progress(1.0, 1.0)
    return run


def _train(fold: Fold, config: TrainingConfig, folder: Path, progress: Progress) -> None:
    check_free(folder)
    progress(0.0, 1.0)  # an epoch may take minutes
    with draft_folder(folder) as draft:  # where nobody else comes
        made = draft / folder.name
        train(fold.graph, config, made, progress)
        for path in (made, *made.iterdir()):
            path.chmod(path.stat().st_mode & _MODE)
        publish(made, folder)


def _check_alone(*paths: Path) -> None:
    """Refuse what another account may have made: it may be no training, or another one."""
    for path in paths:
        if others_may_change(path):
            raise KgdashError(
                f"other accounts may change {path}, or a folder above it: what is found there may "
                "not be what you trained. Name a workdir of your own where nobody else may write"
            )


def _check_training(run: Run, config: TrainingConfig, folder: Path) -> None:
    """Refuse a run whose record is of another training than the one asked for."""
    asked = json.loads(json.dumps(config.record()))
    for name in (field.name for field in fields(config)):
        told, expected = run.training.get(name), asked.get(name)
        if told != expected:
            raise KgdashError(
                f"{folder} holds a run that was trained otherwise: {name} is {told!r:.60} there; "
                f"expected {expected!r:.60}"
            )
    if run.spec != config.spec():
        raise KgdashError(f"{folder} holds another model than its training says")
