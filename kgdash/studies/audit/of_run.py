"""An audit of a run: its graph, and models trained as it was (numbers.md#28-wrong-facts)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.training import TrainingConfig, check_memory
from kgdash.scoring.model_spec import check_arguments
from kgdash.studies.audit.cross_fitting import AuditPlan, cross_fit, kept_audit
from kgdash.studies.correlation.fold_runs import default_workdir

#: field of `TrainingConfig` -> what its value is, where that is no text; those that must be there
_KINDS = {"epochs": int, "batch_size": int, "random_seed": int, "create_inverse_triples": bool}
_NEEDED = frozenset({"model", "epochs", "random_seed", "training_loop", "optimizer"})

_SCALARS = (int, float, bool, str)


def audit(
    run: Run,
    folds: int = 5,
    seed: int = 0,
    workdir: Path | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """List a run's training triples, the most likely wrong first.

    :param folds: models that are trained, as the run was, each judging what it did not see
    :param workdir: where they are kept; default: in the user's data folder
    :return: as `cross_fit`
    :raises KgdashError: as `cross_fit` and `config_of_run`
    """
    plan = plan_of_run(run, folds, seed)
    return cross_fit(run.graph, plan, workdir or default_workdir(), progress)


def plan_of_run(run: Run, folds: int, seed: int, epochs: int | None = None) -> AuditPlan:
    """Return how a run is audited.

    :param folds: as of `AuditPlan`, and ``seed``
    :param epochs: of each training; default: the run's
    :raises KgdashError: as `config_of_run`
    """
    config = config_of_run(run)
    changed = config if epochs is None else replace(config, epochs=epochs)
    return AuditPlan(changed, folds, seed, run.name)


def latest_audit(run: Run) -> pd.DataFrame:
    """Return what an audit of a run found last.

    :raises KgdashError: if there was none, or as `config_of_run`
    """
    config = _told(run) if "epochs" in run.training else None
    table = None if config is None else kept_audit(run.graph, config)
    if table is None:
        raise KgdashError(
            f"run {run.name} is not audited yet; this trains models to do so: "
            f"kgdash audit {shlex.quote(run.name)}"
        )
    return table


def config_of_run(run: Run) -> TrainingConfig:
    """Return how a run was trained.

    :raises KgdashError: if the run does not say so, or what it says is none of a training, or takes
        more memory than there is, or than a stranger's may (`check_memory`)
    """
    config = _told(run)
    check_memory(run.graph, config, run.name)
    return config


def _told(run: Run) -> TrainingConfig:
    told: Mapping[str, Any] = run.training
    if not {"epochs", "model"} <= set(told):
        raise KgdashError(
            f"run {run.name} does not say how it was trained; give its dataset instead, and say "
            "how to train, as: kgdash audit DATASET --model TransE --epochs 100"
        )
    known = {field.name: told[field.name] for field in fields(TrainingConfig) if field.name in told}
    for name, value in known.items():
        if not _is_of_training(name, value):
            raise KgdashError(
                f"run {run.name} does not say how it was trained in words of kgdash: training."
                f"{name} is {value!r:.60}; give its dataset instead, and say how to train"
            )
    config = TrainingConfig(**known)
    check_arguments(config.spec(), f"run {run.name}")
    if config.spec() != run.spec:  # what it holds was bounded when it was loaded
        raise KgdashError(
            f"run {run.name} says that another model than its own was trained: "
            f"{config.spec().to_json()!r:.120}; give its dataset instead, and say how to train"
        )
    return config


def _is_of_training(name: str, value: object) -> bool:
    """Tell whether a value, which a stranger may have written, is one of a training's field."""
    if name.endswith("_kwargs"):
        return isinstance(value, dict) and all(
            each is None or isinstance(each, _SCALARS) for each in value.values()
        )
    if name not in _NEEDED and value is None:
        return True
    kind: type = _KINDS.get(name, str)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
