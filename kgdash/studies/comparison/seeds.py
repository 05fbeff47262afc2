"""Several seeds of one configuration: mean ± standard deviation, as OBL2021 demands of three."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.folder_memory import FolderMemory
from kgdash.formats.run_directory import MANIFEST, read_manifest
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.library import named_runs, run_folder
from kgdash.scoring.model_spec import ModelSpec

#: seeds that OBL2021 asks for
ENOUGH = 3

#: what a training record holds besides the configuration
_RESULTS = ("random_seed", "losses", "seconds", "evaluation")


def configuration(run: Run) -> str | None:
    """Return a SHA-256 of what a run was trained with, the seed left out; None if not recorded.

    Two runs are seeds of one configuration if these are equal. A PyKEEN directory records none.
    """
    return _configuration(run.spec, run.training)


def recorded_configuration(source: str, named: Mapping[str, Path] | None = None) -> str | None:
    """Return the `configuration` of a run by its manifest alone; None, too, where that is damaged.

    :param source: a run's name, or its folder
    :param named: as for `kgdash.runs.library.run_folder`
    """
    try:
        return _configurations.get(run_folder(source, named))
    except KgdashError:
        return None


def _read_configuration(folder: Path) -> str | None:
    try:
        manifest = read_manifest(folder)
        spec = ModelSpec.from_json(manifest["model"], str(folder))
    except KgdashError:
        return None
    return _configuration(spec, manifest["training"])


_configurations = FolderMemory((MANIFEST,), _read_configuration)


def _configuration(spec: ModelSpec, training: Mapping[str, Any]) -> str | None:
    if training.get("random_seed") is None:
        return None
    recorded = {key: value for key, value in training.items() if key not in _RESULTS}
    text = json.dumps([spec.to_json(), recorded], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def seed_groups(runs: Mapping[str, Run]) -> dict[str, list[str]]:
    """Find the configurations of which there are several seeds.

    :param runs: by name
    :return: names of the runs by a name of the configuration (that of its first run); only of
        configurations with two runs or more
    """
    found: dict[str, list[str]] = {}
    for name, run in runs.items():
        if (recorded := configuration(run)) is not None:
            found.setdefault(recorded, []).append(name)
    return {names[0]: names for names in found.values() if len(names) > 1}


def other_seeds(
    runs: Mapping[str, Run], candidates: Iterable[str], progress: Progress = silent
) -> dict[str, list[str]]:
    """Find further seeds of the configurations of some runs; their weights are not loaded.

    :param runs: by name
    :param candidates: names or folders; those among ``runs`` are none
    :param progress: called for each candidate
    :return: name of a run -> names of the candidates that differ from it in the seed only
    """
    named, names = named_runs(), list(candidates)
    others = {}
    for done, name in enumerate(names):
        progress(done, len(names))
        others[name] = recorded_configuration(name, named)
    found = {}
    for name, run in runs.items():
        recorded = configuration(run)
        same = [other for other in others if other not in runs and others[other] == recorded]
        if recorded is not None and same:
            found[name] = same
    return found


def seed_spread(overall: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Summarise what runs that differ in the seed make of every metric.

    :param overall: of `kgdash.studies.comparison.comparison.overall`
    :return: one row per metric, side and rank type: ``metric, side, rank_type`` (str), ``seeds``
        (int64), ``mean``, ``standard_deviation`` (of the sample, divided by n − 1; NaN for one),
        ``low``, ``high`` (the least and the greatest value; float64)
    """
    rows = overall[overall["run"].isin(list(names))]
    grouped = rows.groupby(["metric", "side", "rank_type"], sort=False)["value"]
    table = grouped.agg(
        seeds="size",
        mean="mean",
        standard_deviation=lambda values: values.std(ddof=1),
        low="min",
        high="max",
    )
    return table.reset_index().astype({"seeds": np.int64})
