"""Triple classification of a run: a threshold from validation, tried on test.

Defined in numbers.md#7-triple-classification.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring.triple_scores import triple_scores
from kgdash.statistics.bootstrap import check_level
from kgdash.studies.classification.calibration import calibrated, calibration_tables
from kgdash.studies.classification.curves import precision_recall_curve, roc_curve, score_histogram
from kgdash.studies.classification.given_negatives import (
    GivenNegatives,
    find_negatives,
    read_negatives,
)
from kgdash.studies.classification.labelled_triples import (
    binary_table,
    check_choice,
    corrupted_split,
    positives_of,
)
from kgdash.studies.classification.scores import (
    confusion,
    metric_intervals,
    metric_table,
    metric_values,
)
from kgdash.studies.classification.thresholds import THRESHOLDS, Thresholds, fit_thresholds

#: raise when the meaning of a stored table changes
_VERSION = 2


@dataclass(frozen=True)
class ClassificationSetting:
    """Negatives, thresholds, seed and level of a classification.

    ``negatives``: "corrupted", "relation" (see `corrupted_split`) or "given"; ``thresholds``:
    "global", or "relation" for one per relation with validation triples; ``seed`` of the negatives
    and of the bootstrap, ≥ 0; ``level`` of the intervals, in (0, 1).

    :raises KgdashError: on an unknown choice, or a number out of range
    """

    negatives: str = "corrupted"
    thresholds: str = "global"
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        check_choice(self.negatives, self.seed)
        check_level(self.level)
        check_name("kind of thresholds", self.thresholds, THRESHOLDS, "classification")

    @property
    def paired(self) -> bool:
        """Tell whether each true triple has a false one that was made of it."""
        return self.negatives != "given"


@dataclass(frozen=True)
class Classification:
    """Labelled triples of a run, scored and classified.

    ``valid`` and ``test``: ``head, relation, tail`` (int64 ids), ``label`` (bool), ``score``
    (float64), ``predicted`` (bool: at or above the threshold); true triples first; paired ones have
    their corruptions in the same order. ``metrics``: ``figure`` (str: of `METRICS`), ``value``,
    ``low``, ``high`` on test, ``validation`` (the value on valid). ``relations``: see
    `_by_relation`. ``notes`` say what of given negatives was left out.
    """

    run: Run
    setting: ClassificationSetting
    valid: pd.DataFrame
    test: pd.DataFrame
    fitted: Thresholds
    metrics: pd.DataFrame
    relations: pd.DataFrame
    notes: tuple[str, ...]

    def about(self) -> dict[str, Any]:
        """Return the choices, counts and the threshold, as JSON can hold them.

        "majority_per_relation" is the accuracy of calling all triples of a relation what most of
        them are: given negatives may be few for one relation and many for another, which thresholds
        per relation profit from without telling any triple from another.
        """
        present, relations = np.unique(self.test["relation"]), self.relations
        own = int(self.fitted.own[present].sum())
        return {
            "run": self.run.name,
            **asdict(self.setting),
            "notes": [*self.run.notes, *self.notes],
            "threshold": self.fitted.overall,
            "relations_with_own_threshold": own,
            "relations_with_global_threshold": len(present) - own,
            "valid": {name: int(n) for name, n in _counts(self.valid).items()},
            "test": {name: int(n) for name, n in _counts(self.test).items()},
            "majority_per_relation": float(
                relations[["true", "false"]].max(axis=1).sum() / len(self.test)
            ),
            "confusion": confusion(self.test),
        }

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return everything as tables, with names in place of ids."""
        graph, probabilities = self.run.graph, calibrated(self.valid, self.test)
        bins, errors = calibration_tables(probabilities, self.test["label"], self.setting.level)
        named = [graph.with_names(self.test), probabilities.add_prefix("probability_")]
        return {
            "figures": self.metrics,
            "relations": graph.with_names(self.relations),
            "roc": roc_curve(self.test),
            "pr": precision_recall_curve(self.test),
            "histogram": score_histogram(self.test),
            "calibration": bins,
            "calibration_errors": errors,
            "scores": pd.concat(named, axis=1),
        }


def classify(
    run: Run,
    setting: ClassificationSetting = ClassificationSetting(),
    given: GivenNegatives | None = None,
    progress: Progress = silent,
) -> Classification:
    """Choose the threshold with the highest accuracy on validation, and predict test by it.

    Defined in numbers.md#7-triple-classification.

    :param run: model and graph, with valid and test triples
    :param setting: negatives, thresholds, seed and level
    :param given: false triples, for negatives "given"; default: those in the dataset's folder, if
        the run names one
    :raises KgdashError: on an empty split, no given negatives, or NaN scores
    """
    given = None if setting.paired else _given(run, given)
    cached = _cache(run, setting, given)
    reports = phases(progress, [0.3, 0.3, 0.2, 0.2])
    valid = cached("valid", {}, lambda: _scored(run, "valid", setting, given, reports[0]))
    test = cached("test", {}, lambda: _scored(run, "test", setting, given, reports[1]))
    score, label, relation = (valid[name].to_numpy() for name in ("score", "label", "relation"))
    fitted = fit_thresholds(score, label, relation, run.graph.num_relations, setting.thresholds)
    for table in (valid, test):
        table["predicted"] = fitted.predict(table["score"].to_numpy(), table["relation"].to_numpy())
    more = {"thresholds": setting.thresholds, "level": setting.level}
    metrics = cached(
        "figures",
        more,
        lambda: metric_table(test, setting.paired, setting.level, setting.seed, reports[2]),
    )
    metrics["validation"] = metrics["figure"].map(metric_values(valid))
    relations = cached("relations", more, lambda: _by_relation(test, fitted, setting, reports[3]))
    notes = given.notes if given is not None else ()
    return Classification(run, setting, valid, test, fitted, metrics, relations, notes)


def _given(run: Run, given: GivenNegatives | None) -> GivenNegatives:
    if given is not None:
        return given
    files = find_negatives(run)
    if files is None:
        raise KgdashError(
            f"no given negatives for run {run.name}: it names no dataset folder with the files "
            "valid_negatives and test_negatives. Give two files of false triples (head, relation, "
            "tail), one for validation and one for test, or take corrupted negatives"
        )
    return read_negatives(files, run.graph)


def _scored(
    run: Run,
    split: str,
    setting: ClassificationSetting,
    given: GivenNegatives | None,
    progress: Progress,
) -> pd.DataFrame:
    """Label and score a split's triples and their negatives."""
    if given is None:
        table = corrupted_split(run.graph, split, setting.negatives, setting.seed)
    else:
        false = {"valid": given.valid, "test": given.test}[split]
        table = binary_table(positives_of(run.graph, split), false)
    table["score"] = triple_scores(run.scorer, table[IDS].to_numpy(), progress)
    return table


def _by_relation(
    test: pd.DataFrame, fitted: Thresholds, setting: ClassificationSetting, progress: Progress
) -> pd.DataFrame:
    """Compute all metrics per relation.

    :return: one row per relation on test, the most frequent first: ``relation`` (id), ``true``,
        ``false`` (int64: triples), ``threshold``, ``own_threshold`` (bool), ``majority``
        (float64: the accuracy of calling all what most are), each of
        `kgdash.studies.classification.scores.METRICS` with
        ``{metric}_low`` and ``{metric}_high``, and the counts of `confusion`
    """
    rows = []
    groups = test.groupby("relation", sort=True)
    for done, (relation, table) in enumerate(groups, start=1):
        ends = metric_intervals(table, setting.paired, setting.level, (setting.seed, int(relation)))
        metrics: dict[str, float] = {}
        for name, value in metric_values(table).items():
            low, high = ends[name]
            metrics |= {name: value, f"{name}_low": low, f"{name}_high": high}
        about: dict[str, Any] = {"relation": relation, **_counts(table)}
        about["threshold"] = fitted.per_relation[relation]
        about["own_threshold"] = fitted.own[relation]
        about["majority"] = max(about["true"], about["false"]) / len(table)
        rows.append(about | metrics | confusion(table))
        progress(done, len(groups))
    table = pd.DataFrame(rows)
    order = np.lexsort((table["relation"], -table["true"]))
    return table.iloc[order].reset_index(drop=True)


def _counts(table: pd.DataFrame) -> dict[str, int]:
    true = int(table["label"].sum())
    return {"true": true, "false": len(table) - true}


def _cache(
    run: Run, setting: ClassificationSetting, given: GivenNegatives | None
) -> Callable[..., pd.DataFrame]:
    """Return what keeps a part's table on disk."""
    key = {"kind": "classification", "version": _VERSION, "run": run.digest}
    key |= {"negatives": setting.negatives, "seed": setting.seed, "given": _digest(given)}
    about = {"kind": "classification", "run": run.name, "run_digest": run.digest}
    about |= {"graph": run.graph.name, "graph_digest": run.graph.digest}
    about |= {"method": setting.negatives}
    return lambda part, more, compute: cached_table({**key, "part": part, **more}, compute, about)


def _digest(given: GivenNegatives | None) -> str:
    if given is None:
        return ""
    parts = [np.ascontiguousarray(ids, dtype="<i8").tobytes() for ids in (given.valid, given.test)]
    return hashlib.sha256(str(len(parts[0])).encode() + b"".join(parts)).hexdigest()
