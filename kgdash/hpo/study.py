"""The study of a search: made, opened again, and refused where it is another search's."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import optuna
from sqlalchemy.exc import SQLAlchemyError

from kgdash.errors import KgdashError
from kgdash.files.atomic import atomic_file, share
from kgdash.files.bounded_reading import reads
from kgdash.files.lock import hold_lock
from kgdash.files.regular import open_regular
from kgdash.hpo.sqlite_file import connect, open_to_read, optuna_schema
from kgdash.hpo.study_file import ATTRIBUTE, MAX_ROWS, STUDY, read_study

#: what SQLite's journals begin with, and end with where they name another file
_JOURNAL = bytes.fromhex("d9d505f920a163d7")

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
def opened(path: Path, about: Mapping[str, Any]) -> Iterator[optuna.Study]:
    """Open a study for trials, or make it; its running trials, cut short before, are failed.

    :param about: what is searched, JSON-ready
    :raises KgdashError: if the file is another search's or no study, or another process has it open
    """

    def busy() -> None:
        raise KgdashError(f"another search is running on {path}; wait, or name another file")

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        place = path.resolve()  # by a link, it is one and the same search
        with hold_lock(place.with_name(f".{place.name}.lock"), busy):
            yield _open(path, about)
    except (SQLAlchemyError, sqlite3.Error, optuna.exceptions.StorageInternalError) as error:
        cause = getattr(error.__cause__ or error, "orig", None) or error.__cause__ or error
        raise KgdashError(
            f"can not write {path}: {cause}. Make room there, or write access to file and folder; "
            "the same command then goes on with the search"
        ) from error
    finally:
        optuna.logging.set_verbosity(before)


def _open(path: Path, about: Mapping[str, Any]) -> optuna.Study:
    """Open the study, or make it; refuse that of another search, naming the difference."""
    _check_journal(path)
    goes_on = path.exists()
    if goes_on:
        _take_back(path)
        _check_same(path, read_study(path).about, about)
        _check_made_here(path)
        if not os.access(path, os.W_OK):
            raise KgdashError(f"can not write {path}: it is read-only")
    try:
        with atomic_file(path.resolve()) as part:
            study = _study(part, create=True)
            study.set_user_attr(ATTRIBUTE, dict(about))
            study._storage.remove_session()
            if goes_on:
                _copy_trials(path, part)
            # Whose it was may be another account: whom they let write, this one does not.
            share(part, path.stat().st_mode & ~stat.S_IWOTH if goes_on else None)
    except OSError as error:
        raise KgdashError(f"can not write {path}: {error.strerror or error}") from error
    return _study(path)


@reads
def _copy_trials(path: Path, part: Path) -> None:
    """Take the rows of trials over into a file that Optuna has made here.

    It opens none but its own: what a stranger's is beside its rows, pages that are shared, indices
    that lie, a schema, is left behind.
    """
    with open_to_read(path) as source, closing(connect(part, "rw")) as target, target:
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


def _check_journal(path: Path) -> None:
    """Refuse a journal beside the file that would do more than undo what was half-written there.

    One of several files ends with the name of another one, which SQLite would delete whatever it is
    (sqlite.org/fileformat.html#the_rollback_journal): a search's never does. Nor has it a
    write-ahead log, whose pages SQLite lays over whatever file has the name.
    """
    for ending in ("-wal", "-shm"):
        if os.path.lexists(log := _beside(path, ending)):
            raise KgdashError(f"{log} is not what a search leaves: remove it, or name another file")
    journal = _beside(path, "-journal")
    if not os.path.lexists(journal):
        return
    if not path.exists():
        raise KgdashError(f"{journal} is there without its file; remove it, or name another file")
    try:
        with open_regular(journal) as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - len(_JOURNAL)))
            names_another = stream.read() == _JOURNAL
    except OSError as error:
        raise KgdashError(f"can not read {journal}: {error.strerror or error}") from error
    if names_another:
        raise KgdashError(
            f"{journal} is not what a search leaves: it would have another file deleted. Remove "
            "it, and take the search's own file from where you have it"
        )


def _take_back(path: Path) -> None:
    """Let SQLite undo what a killed process had half-written, which takes leave to write.

    A journal that it would play back later must not stay: it is of this file, not of the next one.
    """
    if not os.path.lexists(journal := _beside(path, "-journal")):
        return
    with suppress(sqlite3.Error), closing(connect(path, "rw")) as connection:
        connection.execute("PRAGMA schema_version").fetchall()  # judges nothing else yet
    with suppress(FileNotFoundError), journal.open("rb") as stream:
        if stream.read(1).strip(b"\0"):
            raise KgdashError(
                f"{journal} can not be played back into {path}, which has half of what a killed "
                "search wrote: take write access to both, or remove them"
            )


def _beside(path: Path, ending: str) -> Path:
    """Return where SQLite has a journal of a file, or of what a link leads to."""
    place = path.resolve()
    return place.with_name(f"{place.name}{ending}")


def _study(path: Path, create: bool = False) -> optuna.Study:
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{quote(str(path.resolve()))}")
        if create:
            return optuna.create_study(storage=storage, study_name=STUDY, direction="maximize")
        study = optuna.load_study(storage=storage, study_name=STUDY)
        study.get_trials(deepcopy=False)  # which reads all that it ever will of what is there
        return study
    except (SQLAlchemyError, sqlite3.Error, optuna.exceptions.StorageInternalError):
        raise
    except Exception as error:  # it takes what is there for its own
        what = str(error) or type(error).__name__
        raise KgdashError(f"{path}: Optuna can not go on with it: {what:.300}") from error


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
