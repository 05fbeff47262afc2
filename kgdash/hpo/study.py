"""The study of a search: made, opened again, and refused where it is another search's.

Optuna works on a database in memory, and what that holds is written whole after each trial's begin
and end. SQLite never opens the file to write: it would look for a journal beside it again and
again, and do what that says, such as delete other files, whoever laid it there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial
from sqlalchemy.pool import StaticPool

from kgdash.errors import KgdashError
from kgdash.files.atomic import atomic_file, share
from kgdash.files.bounded_reading import reads
from kgdash.files.lock import hold_lock
from kgdash.hpo.sqlite_file import open_to_read, optuna_schema
from kgdash.hpo.study_file import ATTRIBUTE, MAX_ROWS, STUDY, read_study

#: rows of Optuna's tables that no search of ours fills further
_ROWS = {
    "alembic_version": 1,
    "studies": 1,
    "study_directions": 1,
    "study_system_attributes": 0,
    "study_user_attributes": 1,
    "trial_heartbeats": 0,
    "version_info": 1,
}

#: tables of which all rows belong to trials
_OF_TRIALS = (
    "trials",
    "trial_params",
    "trial_values",
    "trial_intermediate_values",
    "trial_user_attributes",
    "trial_system_attributes",
)

#: what Optuna's TPE keeps of a trial beside its parameters, and does not read once it ended
_OF_TPE = "tpe:relative_params:*"


@contextmanager
def opened(path: Path, about: Mapping[str, Any]) -> Iterator[KeptStudy]:
    """Open a study for trials, or make it; its running trials, cut short before, are failed.

    :param about: what is searched, JSON-ready
    :raises KgdashError: if the file is another search's or no study, or can not be written, or
        another process has it open
    """

    def busy() -> None:
        raise KgdashError(f"another search is running on {path}; wait, or name another file")

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        # By a link it is one and the same search; where it leads is asked once.
        place = path.resolve()
        with hold_lock(place.with_name(f".{place.name}.lock"), busy):
            yield _open(place, about)
    finally:
        optuna.logging.set_verbosity(before)


class KeptStudy(optuna.Study):
    """A study in memory that is written to its file when a trial begins, and when it ends."""

    def __init__(self, path: Path) -> None:
        """Make a new one, which has no file yet."""
        # One connection: each would have a database of its own.
        one = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
        self._path = path
        self._database = RDBStorage("sqlite://", engine_kwargs=one)
        optuna.create_study(storage=self._database, study_name=STUDY, direction="maximize")
        super().__init__(STUDY, self._database)

    @property
    def connection(self) -> sqlite3.Connection:
        """Return the connection to what is in memory."""
        pooled = self._database.engine.raw_connection()
        return cast(sqlite3.Connection, pooled.driver_connection)

    def ask(self, *given: Any, **more: Any) -> optuna.Trial:
        """Begin a trial."""
        trial = super().ask(*given, **more)
        self.keep()
        return trial

    def tell(self, *given: Any, **more: Any) -> FrozenTrial:
        """End a trial."""
        ended = super().tell(*given, **more)
        self.keep()
        return ended

    def read_again(self) -> None:
        """Have Optuna read what was put in, which is all that it ever will of a file.

        :raises KgdashError: if it takes that for its own, and can not read it
        """
        try:
            super().__init__(STUDY, self._database)
            self.get_trials(deepcopy=False)
        except Exception as error:
            what = str(error) or type(error).__name__
            raise KgdashError(f"{self._path}: Optuna can not go on with it: {what:.300}") from error

    def keep(self) -> None:
        """Write the file, whole.

        :raises KgdashError: if it can not be written
        """
        try:
            with atomic_file(self._path) as part:
                part.write_bytes(self.connection.serialize())
                share(part, self._path)
        except OSError as error:
            raise KgdashError(
                f"can not write {self._path}: {error.strerror or error}. Make room there, or write "
                "access to file and folder; the same command then goes on with the search"
            ) from error


def _open(path: Path, about: Mapping[str, Any]) -> KeptStudy:
    """Open the study, or make it; refuse that of another search, naming the difference."""
    goes_on = path.exists()
    if goes_on:
        _check_same(path, read_study(path).about, about)
        _check_made_here(path)
        if not os.access(path, os.W_OK):
            raise KgdashError(f"can not write {path}: it is read-only")
    study = KeptStudy(path)
    study.set_user_attr(ATTRIBUTE, dict(about))
    if goes_on:
        _copy_trials(path, study.connection)
        study.read_again()
    study.keep()
    return study


@reads
def _copy_trials(path: Path, target: sqlite3.Connection) -> None:
    """Take the rows of trials over into a database that Optuna has made here.

    It opens none but its own: what a stranger's is beside its rows, pages that are shared, indices
    that lie, a schema, is left behind.
    """
    with open_to_read(path) as source, target:
        for table in _OF_TRIALS:
            try:
                rows = source.execute(f"SELECT * FROM {table} NOT INDEXED").fetchmany(MAX_ROWS)
            except sqlite3.DataError as error:
                raise KgdashError(f"{path}: a value of {table} is too long: {error}") from error
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                target.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        target.execute("UPDATE trials SET study_id = (SELECT study_id FROM studies)")
        target.execute(
            "UPDATE trials SET state = 'FAIL', datetime_complete = datetime_start "
            "WHERE state = 'RUNNING'"  # cut short, after a time that nobody knows
        )


@reads
def _check_made_here(path: Path) -> None:
    """Refuse what no search of ours leaves: only rows of trials are taken over.

    Parameters that a file keeps for a trial would be tried whatever the space.
    """
    tables = sorted(name for kind, name, _ in optuna_schema() if kind == "table")
    with open_to_read(path) as connection:
        for table in tables:
            most = _ROWS.get(table, MAX_ROWS)
            query = f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT ?)"
            (rows,) = connection.execute(query, (most + 1,)).fetchone()
            if rows > most:
                raise KgdashError(
                    f"{path} holds more than {most:,} rows of {table}, which no search of kgdash "
                    "leaves there; start a search on a new file"
                )
        other = connection.execute(
            "SELECT substr(key, 1, 100) FROM trial_system_attributes WHERE key NOT GLOB ? LIMIT 1",
            (_OF_TPE,),
        ).fetchone()
        if other:
            raise KgdashError(
                f"{path} holds {other[0]} of a trial, which no search of kgdash leaves there; "
                "start a search on a new file"
            )


def _check_same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    was, now = _flat(found), _flat(wanted)
    differences = [
        f"{key} was {was.get(key)!r}, now {now.get(key)!r}"
        for key in sorted(was.keys() | now.keys())
        if was.get(key) != now.get(key)
    ]
    if differences:
        raise KgdashError(
            f"{path} holds another search: {'; '.join(differences)}. Repeat its options, or name a "
            "new file"
        )


def _flat(about: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in about.items():
        name = f"{prefix}{key}"
        if key in ("space", "values") and isinstance(value, Mapping):
            flat |= _flat(value, "" if key == "space" else f"{key} of ")
        else:
            flat[name] = list(value) if isinstance(value, tuple) else value
    return flat
