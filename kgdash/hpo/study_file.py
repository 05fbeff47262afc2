"""The file of a search: an Optuna study in SQLite, read as plain tables.

Optuna is not asked to open a file that may be a stranger's: it would write its tables into any
database, and one of its samplers unpickles what it finds. Here SQLite opens it for reading only,
and nothing but numbers and JSON is taken from it.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from optuna.distributions import (
    BaseDistribution,
    FloatDistribution,
    IntDistribution,
    json_to_distribution,
)

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.text import parse_json, parse_plain_json
from kgdash.hpo.sqlite_file import check_tables, open_to_read

FORMAT, VERSION = "kgdash-search", 1

#: name of the one study in a file, and of the attribute that tells what was searched
STUDY, ATTRIBUTE = "kgdash", "kgdash"

#: state of a trial as Optuna writes it -> as people read it
STATES = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running"}

#: states of trials that came to an end by themselves, and count
ENDED = ("finished", "pruned", "failed")

#: a failed trial without a reason was cut short, by Ctrl-C or a kill
INTERRUPTED = "interrupted"

_MAX_TRIALS, _MAX_PARAMETERS = 20_000, 200
#: rows of a table
MAX_ROWS = 20 * _MAX_TRIALS
#: numbers in a value: it is one, or a text
_MAX_NUMBERS = 1_000
#: characters of a choice or a parameter's name, choices of a parameter, and characters that are
#: kept of a reason: pages send them with each trial
MAX_TEXT, MAX_CHOICES, _REASON = 100, 100, 2_000


#: trials of other studies in the same file
_OF_OTHERS = "SELECT trial_id FROM trials JOIN studies USING (study_id) WHERE study_name != ?"


#: what a study seeks
_SOUGHT = (
    "SELECT objective, direction FROM study_directions JOIN studies USING (study_id) "
    "WHERE study_name = ?"
)


@dataclass(frozen=True)
class StudyFile:
    """What a search has tried so far.

    ``about`` tells what is searched and how it is judged. ``trials`` has one row per trial, in
    order: ``trial`` (its number: one that was interrupted shares it with
    the trial that was run in its place), ``state`` ("finished", "pruned", "failed", "interrupted",
    "running"), ``value`` (MRR on valid, NaN if there is none), ``best_so_far`` (of the finished
    ones), ``epochs`` (trained when the value was reached), ``seconds``, ``reason`` (of a failure),
    then a column per parameter. ``chosen`` holds each trial's parameters, ``parameters`` what they
    were chosen from.
    """

    path: Path
    about: Mapping[str, Any]
    trials: pd.DataFrame
    chosen: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, BaseDistribution]

    @property
    def best(self) -> int | None:
        """Return the row of the best finished trial, the first of equals, or None."""
        values = self.trials["value"].where(self.trials["state"] == "finished")
        return int(values.idxmax()) if values.notna().any() else None

    @property
    def counted(self) -> int:
        """Return the number of trials that came to an end by themselves."""
        return int(self.trials["state"].isin(ENDED).sum())


@reads
def read_study(path: Path) -> StudyFile:
    """Read the file of a search; nothing in it runs, and it is not changed.

    :raises KgdashError: if it is missing, no SQLite file, damaged, or not of a search
    """
    with open_to_read(path) as connection:
        try:
            return _read(path, connection)
        except (
            sqlite3.Error,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            if isinstance(error, KgdashError):
                raise
            raise KgdashError(
                f"{path} is damaged or not the file of a search: {error or type(error).__name__}"
            ) from error


def _read(path: Path, connection: sqlite3.Connection) -> StudyFile:
    check_tables(path, connection)
    about = _about(path, connection)
    rows = connection.execute(
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials "
        "JOIN studies USING (study_id) WHERE study_name = ? ORDER BY number LIMIT ?",
        (STUDY, _MAX_TRIALS + 1),
    ).fetchall()
    if len(rows) > _MAX_TRIALS:
        raise KgdashError(f"{path}: more than {_MAX_TRIALS:,} trials")
    if (sought := connection.execute(_SOUGHT, (STUDY,)).fetchmany(2)) != [(0, "MAXIMIZE")]:
        raise ValueError(f"it does not maximize one number: {sought!r:.100}")
    values = {
        trial: float(value)
        for trial, value, kind in _rows(
            connection, "SELECT trial_id, value, value_type FROM trial_values WHERE objective = 0"
        )
        if kind == "FINITE"
    }
    attributes: dict[tuple[int, str], Any] = {
        (trial, key): _plain(parse_plain_json(value.encode(), _MAX_NUMBERS))
        for trial, key, value in _rows(
            connection,
            "SELECT trial_id, key, value_json FROM trial_user_attributes "
            "WHERE key IN ('epochs', 'reason')",
        )
    }
    chosen: dict[int, dict[str, Any]] = {row[0]: {} for row in rows}
    others = {row[0] for row in connection.execute(_OF_OTHERS, (STUDY,))}
    parameters: dict[str, BaseDistribution] = {}
    read = lru_cache(_MAX_PARAMETERS)(json_to_distribution)
    for trial, name, value, distribution in _rows(
        connection,
        "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params "
        "ORDER BY param_id",
    ):
        if trial in others:
            continue
        parameters[name] = _short(name, read(distribution))
        if len(parameters) > _MAX_PARAMETERS:
            raise ValueError(f"more than {_MAX_PARAMETERS} parameters")
        chosen[trial][name] = _choice(parameters[name], float(value))
    table = [
        _row(
            row,
            values.get(row[0]),
            attributes.get((row[0], "epochs")),
            attributes.get((row[0], "reason")),
        )
        for row in rows
    ]
    trials = _with_best(pd.DataFrame(table, columns=_COLUMNS))
    picked = tuple(chosen.values())
    named = pd.DataFrame({name: _column([one.get(name) for one in picked]) for name in parameters})
    return StudyFile(path, about, pd.concat([trials, named], axis=1), picked, parameters)


def _rows(connection: sqlite3.Connection, query: str) -> Iterator[tuple]:
    for number, row in enumerate(connection.execute(query)):
        if number >= MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS:,} rows in a table")
        yield row


def _short(name: str, distribution: BaseDistribution) -> BaseDistribution:
    """Return a parameter's distribution, unless a page could not show it."""
    choices = getattr(distribution, "choices", ())
    if len(choices) > MAX_CHOICES or max(len(str(c)) for c in (name, *choices)) > MAX_TEXT:
        raise ValueError(
            f"parameter {name:.100} has more than {MAX_CHOICES} choices, or more than {MAX_TEXT} "
            "characters in one"
        )
    return distribution


def _choice(distribution: BaseDistribution, value: float) -> str | float | None:
    """Return what a number stands for; refuse one that the distribution does not hold."""
    choice = _plain(distribution.to_external_repr(value))
    if isinstance(distribution, IntDistribution | FloatDistribution) and not (
        distribution.low <= value <= distribution.high
    ):
        raise ValueError(f"{value:g} is not from {distribution.low:g} to {distribution.high:g}")
    return choice


def _plain(value: Any) -> str | float | None:
    """Return a value, unless others are nested in it: those of all trials are kept together."""
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a {type(value).__name__} where a number or a text belongs")


_COLUMNS = ["trial", "state", "value", "epochs", "seconds", "reason"]


def _row(row: tuple, value: float | None, epochs: Any, reason: Any) -> list[Any]:
    _, number, state, start, end = row
    if state not in STATES:  # one that waits would be tried with what it brings
        raise ValueError(f"trial {number} is {state:.20}")
    named = STATES[state]
    if named == "finished" and value is None:
        raise ValueError(f"trial {number} finished without a value")
    if value is not None and not 0 <= value <= 1:
        raise ValueError(f"trial {number} has an MRR of {value:g}: it is between 0 and 1")
    if named == "failed" and reason is None:
        named = INTERRUPTED
    seconds = None
    if start and end:
        lasted = datetime.fromisoformat(end) - datetime.fromisoformat(start)
        seconds = max(0.0, lasted.total_seconds())  # a clock may be set back
    trained = None if epochs is None else int(epochs)
    told = "" if reason is None else str(reason)[:_REASON]
    return [int(number), named, value, trained, seconds, told]


def _column(values: list[Any]) -> pd.Series:
    """Give values one type, whole numbers also where some trials have none."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return pd.Series(values, dtype="Int64")
    if kinds <= {int, float}:
        return pd.Series(values, dtype="float64")
    texts = [None if value is None else str(value) for value in values]
    return pd.Series(texts, dtype="object")


def _with_best(trials: pd.DataFrame) -> pd.DataFrame:
    trials = trials.astype({"value": "float64", "seconds": "float64"})
    trials["trial"] = trials["state"].isin(ENDED).cumsum().shift(fill_value=0)
    trials["epochs"] = trials["epochs"].astype("Int64")
    finished = trials["value"].where(trials["state"] == "finished")
    trials.insert(3, "best_so_far", finished.cummax().ffill())
    return trials


def _about(path: Path, connection: sqlite3.Connection) -> dict[str, Any]:
    found = connection.execute(
        "SELECT value_json FROM study_user_attributes a JOIN studies s USING (study_id) "
        "WHERE s.study_name = ? AND a.key = ?",
        (STUDY, ATTRIBUTE),
    ).fetchone()
    about = parse_json(found[0]) if found else None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise KgdashError(
            f"{path} is a study of Optuna's, but not one of kgdash's searches; start a search on a "
            "new file"
        )
    if about.get("version") != VERSION:
        raise KgdashError(
            f"{path}: expected version {VERSION} of a search; found {about.get('version')!r}"
        )
    return about
