"""Triple classification of a run: a threshold from validation, judged on test.

Defined in numbers.md#7-triple-classification.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.table_cache import cached_table
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring.triple_scores import triple_scores
from kgdash.statistics.bootstrap import check_level
from kgdash.studies.classification.calibration import (
    brier_score,
    calibration_error,
    fit_calibrations,
    reliability_bins,
)
from kgdash.studies.classification.given_negatives import (
    GivenNegatives,
    find_negatives,
    read_negatives,
)
from kgdash.studies.classification.labelled_triples import (
    check_choice,
    corrupted_split,
    labelled,
    positives_of,
)
from kgdash.studies.classification.scores import (
    confusion,
    figure_intervals,
    figure_table,
    figure_values,
)
from kgdash.studies.classification.thresholds import THRESHOLDS, Thresholds, fit_thresholds

#: bins of the histogram of scores
_BINS = 60

_IDS = ["head", "relation", "tail"]

#: raise when the meaning of a stored table changes
_VERSION = 1


@dataclass(frozen=True)
class Classification:
    """Labelled triples of a run, scored and judged.

    ``valid`` and ``test``: ``head, relation, tail`` (int64 ids), ``label`` (bool), ``score``
    (float64), ``called`` (bool: at or above the threshold); true triples first. ``paired``: each
    true triple has its corruption, in the same order. ``figures``: ``figure``, ``value``, ``low``,
    ``high`` on test, ``validation`` (the value on valid). ``relations``: see `_by_relation`.
    """

    run: Run
    negatives: str
    thresholds: str
    seed: int
    level: float
    notes: tuple[str, ...]
    valid: pd.DataFrame
    test: pd.DataFrame
    fitted: Thresholds
    figures: pd.DataFrame
    relations: pd.DataFrame

    @property
    def paired(self) -> bool:
        """Tell whether each true triple has a false one that was made of it."""
        return self.negatives != "given"

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
            "negatives": self.negatives,
            "thresholds": self.thresholds,
            "seed": self.seed,
            "level": self.level,
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

    def roc(self) -> pd.DataFrame:
        """Return the ROC curve on test, by scikit-learn.

        :return: ``threshold``, ``false_positive_rate``, ``true_positive_rate`` (float64), from
            calling nothing true (∞) on; corners only. No rows unless both labels are there
        """
        from sklearn.metrics import roc_curve

        columns = ["threshold", "false_positive_rate", "true_positive_rate"]
        if self.test["label"].nunique() < 2:
            return pd.DataFrame(columns=columns, dtype=np.float64)
        values, places = np.unique(self.test["score"], return_inverse=True)
        false, true, at = roc_curve(self.test["label"], places)
        scores = np.append(np.inf, values[at[1:].astype(np.int64)])
        return pd.DataFrame(dict(zip(columns, (scores, false, true), strict=True)))

    def pr(self) -> pd.DataFrame:
        """Return the precision-recall curve on test, by scikit-learn.

        :return: ``threshold``, ``precision``, ``recall`` (float64), from the lowest threshold on;
            the last row is the end at recall 0. No rows unless both labels are there
        """
        from sklearn.metrics import precision_recall_curve

        columns = ["threshold", "precision", "recall"]
        if self.test["label"].nunique() < 2:
            return pd.DataFrame(columns=columns, dtype=np.float64)
        values, places = np.unique(self.test["score"], return_inverse=True)
        precision, recall, at = precision_recall_curve(
            self.test["label"], places, drop_intermediate=True
        )
        scores = np.append(values[at.astype(np.int64)], np.inf)
        return pd.DataFrame(dict(zip(columns, (scores, precision, recall), strict=True)))

    def histogram(self, relation: int | None = None) -> pd.DataFrame:
        """Count test scores in bins of one width: ``left``, ``right``, ``true``, ``false``.

        Infinite scores are in none.

        :param relation: id, for its triples alone
        """
        rows = self.test if relation is None else self.test[self.test["relation"] == relation]
        scores, label = rows["score"].to_numpy(), rows["label"].to_numpy()
        finite = np.isfinite(scores)
        true, edges = np.histogram(scores[finite & label], _BINS, _range(scores[finite]))
        false = np.histogram(scores[finite & ~label], edges)[0]
        return pd.DataFrame({"left": edges[:-1], "right": edges[1:], "true": true, "false": false})

    def probabilities(self) -> pd.DataFrame:
        """Return each test triple's probability by each way of calibration, in [0, 1]."""
        return self._probabilities.copy()

    @cached_property
    def _probabilities(self) -> pd.DataFrame:
        fitted = fit_calibrations(self.valid["score"].to_numpy(), self.valid["label"].to_numpy())
        scores = self.test["score"].to_numpy()
        return pd.DataFrame({name: function(scores) for name, function in fitted.items()})

    def calibration(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return how far the probabilities on test are right.

        :return: the bins of `reliability_bins` with ``calibration``
            before; and one row per ``calibration`` with ``expected_calibration_error`` and
            ``brier_score`` (both in [0, 1], lower is better)
        """
        label, bins, errors = self.test["label"].to_numpy(), [], []
        for name, values in self.probabilities().items():
            found = reliability_bins(values.to_numpy(), label, level=self.level)
            error = calibration_error(found), brier_score(values.to_numpy(), label)
            found.insert(0, "calibration", name)
            bins.append(found)
            errors.append((name, *error))
        columns = ["calibration", "expected_calibration_error", "brier_score"]
        return pd.concat(bins, ignore_index=True), pd.DataFrame(errors, columns=columns)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return everything as tables, with names in place of ids."""
        bins, errors = self.calibration()
        graph, probabilities = self.run.graph, self.probabilities().add_prefix("probability_")
        scores = pd.concat([graph.labelled(self.test), probabilities], axis=1)
        return {
            "figures": self.figures,
            "relations": graph.labelled(self.relations),
            "roc": self.roc(),
            "pr": self.pr(),
            "histogram": self.histogram(),
            "calibration": bins,
            "calibration_errors": errors,
            "scores": scores,
        }


def classify(
    run: Run,
    negatives: str = "corrupted",
    thresholds: str = "global",
    seed: int = 0,
    given: GivenNegatives | None = None,
    level: float = 0.95,
    progress: Progress = silent,
) -> Classification:
    """Choose the threshold with the highest accuracy on validation, and judge test by it.

    Defined in numbers.md#7-triple-classification.

    :param run: model and graph, with valid and test triples
    :param negatives: "corrupted", "relation" (see `corrupted_split`) or "given"
    :param thresholds: "global", or "relation": one for each relation with validation triples
    :param seed: of the negatives and of the bootstrap, ≥ 0
    :param given: false triples, for "given"; default: those in the dataset's folder, if the run
        names one
    :param level: of the intervals, in (0, 1)
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown choice, an empty split, no given negatives, or NaN scores
    """
    check_choice(negatives, seed)
    check_level(level)
    if thresholds not in THRESHOLDS:
        raise unknown_name("kind of thresholds", thresholds, list(THRESHOLDS), "classification")
    given = _given(run, given) if negatives == "given" else None
    kept = _keeper(run, {"negatives": negatives, "seed": seed, "given": _digest(given)})
    reports = phases(progress, [0.3, 0.3, 0.2, 0.2])
    valid = kept("valid", {}, lambda: _scored(run, "valid", negatives, seed, given, reports[0]))
    test = kept("test", {}, lambda: _scored(run, "test", negatives, seed, given, reports[1]))
    score, label, relation = (valid[name].to_numpy() for name in ("score", "label", "relation"))
    fitted = fit_thresholds(score, label, relation, run.graph.num_relations, thresholds)
    for table in (valid, test):
        table["called"] = fitted.judge(table["score"].to_numpy(), table["relation"].to_numpy())
    paired, more = negatives != "given", {"thresholds": thresholds, "level": level}
    figures = kept("figures", more, lambda: figure_table(test, paired, level, seed, reports[2]))
    figures["validation"] = figures["figure"].map(figure_values(valid))
    relations = kept(
        "relations", more, lambda: _by_relation(test, fitted, paired, level, seed, reports[3])
    )
    notes = given.notes if given is not None else ()
    return Classification(
        run, negatives, thresholds, seed, level, notes, valid, test, fitted, figures, relations
    )


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
    negatives: str,
    seed: int,
    given: GivenNegatives | None,
    progress: Progress,
) -> pd.DataFrame:
    """Label and score a split's triples and their negatives."""
    if given is None:
        table = corrupted_split(run.graph, split, negatives, seed)
    else:
        false = {"valid": given.valid, "test": given.test}[split]
        table = labelled(positives_of(run.graph, split), false)
    table["score"] = triple_scores(run.scorer, table[_IDS].to_numpy(), progress)
    return table


def _by_relation(
    test: pd.DataFrame,
    fitted: Thresholds,
    paired: bool,
    level: float,
    seed: int,
    progress: Progress,
) -> pd.DataFrame:
    """Compute all figures per relation.

    :return: one row per relation on test, the most frequent first: ``relation`` (id), ``true``,
        ``false`` (int64: triples), ``threshold``, ``own_threshold`` (bool), ``majority``
        (float64: the accuracy of calling all what most are), each of
        `kgdash.studies.classification.scores.FIGURES` with
        ``{figure}_low`` and ``{figure}_high``, and the counts of `confusion`
    """
    rows = []
    groups = test.groupby("relation", sort=True)
    for done, (relation, table) in enumerate(groups, start=1):
        ends = figure_intervals(table, paired, level, (seed, int(relation)))
        figures: dict[str, float] = {}
        for name, value in figure_values(table).items():
            low, high = ends[name]
            figures |= {name: value, f"{name}_low": low, f"{name}_high": high}
        about: dict[str, Any] = {"relation": relation, **_counts(table)}
        about["threshold"] = fitted.per_relation[relation]
        about["own_threshold"] = fitted.own[relation]
        about["majority"] = max(about["true"], about["false"]) / len(table)
        rows.append(about | figures | confusion(table))
        progress(done, len(groups))
    table = pd.DataFrame(rows)
    order = np.lexsort((table["relation"], -table["true"]))
    return table.iloc[order].reset_index(drop=True)


def _counts(table: pd.DataFrame) -> dict[str, int]:
    true = int(table["label"].sum())
    return {"true": true, "false": len(table) - true}


def _range(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _keeper(run: Run, key: dict[str, Any]) -> Callable[..., pd.DataFrame]:
    """Return what keeps a part's table on disk."""
    about = {"kind": "classification", "run": run.name, "run_digest": run.digest}
    about |= {"graph": run.graph.name, "method": key["negatives"]}

    def kept(part: str, more: dict[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        whole = {"kind": "classification", "version": _VERSION, "run": run.digest, "part": part}
        return cached_table(whole | key | more, compute, about)

    return kept


def _digest(given: GivenNegatives | None) -> str:
    if given is None:
        return ""
    parts = [np.ascontiguousarray(ids, dtype="<i8").tobytes() for ids in (given.valid, given.test)]
    return hashlib.sha256(str(len(parts[0])).encode() + b"".join(parts)).hexdigest()
