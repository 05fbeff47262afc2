"""Thresholds and sets of test queries as tables on disk, several made in one pass over the scores.

Defined in numbers.md#24-answer-sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.files.event_log import Stopwatch
from kgdash.files.lock import hold_lock
from kgdash.files.table_cache import (
    cached_table,
    replace_table,
    stored_table,
    table_lock,
    table_note,
    worth_keeping,
)
from kgdash.graph import default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import answer_queries
from kgdash.studies.probability.answer_scores import (
    SCORES,
    Allowed,
    answer_scores,
    place_in_queries,
)
from kgdash.studies.probability.calibration import FITTED, Calibration, fit_calibration
from kgdash.studies.probability.conformal import allowed_of, find_thresholds
from kgdash.studies.probability.query_groups import GROUPINGS, Queries, grouping

#: how thresholds are found: one for all, or one for each group
CONDITIONS = {"none": "one threshold for all queries", **GROUPINGS}

#: raise when the meaning of a stored table changes
_VERSION = 2

#: a condition and an ε
Pair = tuple[str, float]


@dataclass(frozen=True)
class SetTables:
    """What sets there are for a condition and an ε, for each of `SCORES`.

    ``thresholds``: of `find_thresholds`, with ``score``. ``sets``: one row per side and test
    triple, all heads first: ``<score>_size`` (int32) and ``<score>_covered`` (bool).
    """

    thresholds: pd.DataFrame
    sets: pd.DataFrame


def set_tables(
    run: Run, conditions: Sequence[str], epsilons: Sequence[float], progress: Progress = silent
) -> dict[Pair, SetTables]:
    """Return the tables of each condition and ε; what is not on disk is made in one pass.

    :param conditions: of `CONDITIONS`
    :param epsilons: in (0, 1)
    :raises KgdashError: without validation or test triples; if a score is NaN or infinite
    """
    pairs = [(condition, epsilon) for condition in conditions for epsilon in epsilons]
    found = {pair: tables for pair in pairs if (tables := _stored(run, pair)) is not None}
    if len(found) < len(pairs):
        lock = table_lock(_key(run, "all"))
        with hold_lock(lock, waiting=lambda: progress(0.0, 1.0)):
            found |= {p: t for p in pairs if p not in found and (t := _stored(run, p)) is not None}
            missing = [pair for pair in pairs if pair not in found]
            found |= _made(run, missing, progress) if missing else {}
    progress(1.0, 1.0)
    return found


def answer_scores_of(run: Run, split: str, progress: Progress = silent) -> pd.DataFrame:
    """Return `kgdash.studies.probability.answer_scores.answer_scores` of a split, kept on disk.

    :raises KgdashError: as there; without validation triples
    """
    first, second = phases(progress, [3.0, 2.0])
    fitted = fit_calibration(run, progress=first)
    triples, filter = run.graph.split(split), default_filter(split)
    about = {"kind": "answer scores", "sets": _VERSION, "filter": filter}
    return cached_table(
        {**about, **FITTED, **run.table_key(triples)},
        lambda: answer_scores(run, fitted, triples, filter, second),
        run.table_about("calibration", triples, filter=filter),
        second,
    )


def _made(run: Run, pairs: Sequence[Pair], progress: Progress) -> dict[Pair, SetTables]:
    """Make tables, and keep them on disk if that took long."""
    watch = Stopwatch()
    test = run.graph.split("test")
    first, second = phases(progress, [2.0, 1.0])
    known = answer_scores_of(run, "valid", first)
    fitted = fit_calibration(run)
    thresholds: dict[Pair, pd.DataFrame] = {}
    allowed: list[Allowed] = []
    for condition in dict.fromkeys(condition for condition, _ in pairs):
        old, new = _codes(run, condition)
        for pair in (pair for pair in pairs if pair[0] == condition):
            parts = {s: find_thresholds(known[s].to_numpy(), old, pair[1]) for s in SCORES}
            allowed += [(score, allowed_of(part, new)) for score, part in parts.items()]
            thresholds[pair] = pd.concat([p.assign(score=s) for s, p in parts.items()])
    strange, sizes = _placed(run, fitted, allowed, second)
    found = {}
    for at, (pair, rows) in enumerate(thresholds.items()):
        columns: dict[str, np.ndarray] = {}
        for number, score in enumerate(SCORES):
            place = at * len(SCORES) + number
            columns[f"{score}_size"] = sizes[:, place]
            columns[f"{score}_covered"] = strange[:, number] <= allowed[place][1]
        found[pair] = SetTables(rows.reset_index(drop=True), pd.DataFrame(columns))
    if worth_keeping(watch.seconds):
        about = run.table_about("calibration", test, filter=default_filter("test"))
        for pair, tables in found.items():
            for part, table in vars(tables).items():
                about = {**about, "method": f"{part}, {pair[0]}", "seconds": watch.seconds}
                replace_table(_key(run, part, pair), table, about)
    return found


def _placed(
    run: Run, fitted: Calibration, allowed: Sequence[Allowed], progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Look at all candidates of the test queries, both sides."""
    triples, filter = run.graph.split("test"), default_filter("test")
    run.ranks(triples=triples, filter=filter)  # refuses NaN
    sides, found = answer_queries(run, triples, filter), []
    for at, report in enumerate(phases(progress, [1.0] * len(sides))):
        part = slice(at * len(triples), (at + 1) * len(triples))
        own = [(score, most[part]) for score, most in allowed]
        found.append(place_in_queries(sides[at], fitted, own, report))
    strange, sizes = zip(*found, strict=True)
    return np.concatenate(strange), np.concatenate(sizes)


def _codes(run: Run, condition: str) -> list[np.ndarray]:
    """Return the groups of validation and of test queries: int64, -1 for none."""
    splits = [Queries.of(run.graph.split(split)) for split in ("valid", "test")]
    if condition == "none":
        return [np.full(len(queries.anchor), -1) for queries in splits]
    made = grouping(run, condition)
    return [made.codes(queries) for queries in splits]


def are_stored(run: Run, pair: Pair) -> bool:
    """Tell whether the tables of a condition and ε are on disk."""
    return all(table_note(_key(run, part, pair)) for part in ("thresholds", "sets"))


def _stored(run: Run, pair: Pair) -> SetTables | None:
    thresholds = stored_table(_key(run, "thresholds", pair))
    sets = None if thresholds is None else stored_table(_key(run, "sets", pair))
    return None if thresholds is None or sets is None else SetTables(thresholds, sets)


def _key(run: Run, part: str, pair: Pair | None = None) -> dict[str, Any]:
    """Return what a stored table depends on; communities and parts follow from run and version."""
    about = {"kind": "answer sets", "sets": _VERSION, "part": part, "pair": pair}
    return {**about, **FITTED, **run.table_key(run.graph.split("test"))}
