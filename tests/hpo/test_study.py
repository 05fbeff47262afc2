"""The file of a search: opened for writing, whoever it comes from."""

import os
import sqlite3
import stat
import struct
from contextlib import closing
from pathlib import Path

import pytest

from kgdash.errors import KgdashError
from kgdash.files import atomic
from kgdash.files.lock import hold_lock
from kgdash.hpo import study as module
from kgdash.hpo.study import opened
from kgdash.hpo.study_file import FORMAT, VERSION, read_study
from tests.support.small_search import altered

ABOUT = {"format": FORMAT, "version": VERSION}

MAGIC = bytes.fromhex("d9d505f920a163d7")


def journal_of_several(database, other):
    """Return a journal that was left by a transaction over several files, as ``other`` lists."""
    size = struct.unpack(">H", database.read_bytes()[16:18])[0]
    pages = database.stat().st_size // size
    head = MAGIC + struct.pack(">IIIII", 0, 1, pages, 512, size)
    name = os.fsencode(other)
    tail = struct.pack(">I", 2**30 // size + 1) + name
    tail += struct.pack(">II", len(name), sum(name) & 0xFFFFFFFF) + MAGIC
    return head.ljust(512, b"\0") + tail


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "search.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    return path


def read(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_lies_beside_a_search_is_left_alone(ending, when, tmp_path):
    """By a journal that names another file SQLite deletes it, whenever it looks for one.

    Who may make files in the folder had anything of whoever searched there deleted.
    """
    path, other = tmp_path / "search.db", tmp_path / "thesis.txt"
    with opened(path, ABOUT) as study:
        study.tell(study.ask(), 0.5)
    other.write_text("mine")
    beside = path.with_name(f"search.db{ending}")
    content = journal_of_several(path, other)
    if when == "before":
        beside.write_bytes(content)
    with opened(path, ABOUT) as study:
        beside.write_bytes(content)
        study.tell(study.ask(), 0.7)
    assert read_study(path).trials["value"].tolist() == [0.5, 0.7]
    assert other.read_text() == "mine"
    assert beside.read_bytes() == content
    if ending == "-journal":
        read(path)
        assert not other.exists()  # so would SQLite


def test_the_file_that_is_opened_is_the_one_that_was_named(database, tmp_path, monkeypatch):
    """SQLite takes a name that begins with ``file:`` for an address, which leads elsewhere."""
    named = tmp_path / "file:search.db"
    with opened(named, ABOUT) as study:
        study.tell(study.ask(), 0.5)
    monkeypatch.chdir(tmp_path)
    with opened(Path(named.name), ABOUT) as study:
        assert study.best_value == 0.5
    with pytest.raises(KgdashError, match="not the file of a search"), opened(database, {}):
        pass


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("CREATE TRIGGER run AFTER INSERT ON trials BEGIN DELETE FROM trials; END", "trigger run"),
        ("CREATE VIEW seen AS SELECT * FROM trials", "view seen"),
        ("CREATE TABLE more (x DEFAULT (hex(randomblob(1000000000))))", "table more"),
        ("CREATE INDEX slow ON trials (hex(state))", "index slow"),
        ("ALTER TABLE trials ADD COLUMN more DEFAULT 1", "table trials"),
    ],
)
def test_what_would_run_as_optuna_writes_is_refused(tmp_path, sql, what):
    """A trigger that never ends kept the command for ever, and did not hear Ctrl-C."""
    path = tmp_path / "search.db"
    for _ in range(2):  # made, and gone on with
        with opened(path, ABOUT) as study:
            study.ask()
    assert read_study(path).trials["state"].tolist() == ["interrupted", "running"]
    altered(path, sql)
    with pytest.raises(KgdashError, match=f"holds the {what}, which"), opened(path, ABOUT):
        pass


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO trial_system_attributes (trial_id, key, value_json) "
        "VALUES (1, 'fixed_params', '{\"optimizer.lr\": 9}')",
        "INSERT INTO study_system_attributes (study_id, key, value_json) VALUES (1, 'x', '1')",
        "INSERT INTO studies (study_name) VALUES ('another')",
        "INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (1, '2026-01-01')",
    ],
)
def test_rows_that_no_search_leaves_are_refused(tmp_path, sql):
    """Parameters that a file kept for its next trial were tried, whatever the space."""
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        study.ask()
    altered(path, sql)
    with pytest.raises(KgdashError, match="no search of kgdash leaves"), opened(path, ABOUT):
        pass


def test_a_trial_that_waits_with_what_it_brings_is_refused(tmp_path):
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        study.enqueue_trial({"optimizer.lr": 9})
        study.keep()
    for read in (lambda: read_study(path), lambda: opened(path, ABOUT).__enter__()):
        with pytest.raises(KgdashError, match="trial 0 is WAITING"):
            read()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE trial_user_attributes SET value_json = 'no JSON'",
        pytest.param(
            f"UPDATE trial_user_attributes SET value_json = '{'[' * 50_000}'", id="nested"
        ),
        "UPDATE trial_user_attributes SET value_json = x'ff'",
    ],
)
def test_what_optuna_can_not_read_is_said(tmp_path, sql):
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        trial = study.ask()
        trial.set_user_attr("other", 1)
        study.tell(trial, 1.0)
    altered(path, sql)
    with pytest.raises(KgdashError, match="Optuna can not go on with it"), opened(path, ABOUT):
        pass


def test_an_index_that_names_a_row_again_and_again_is_damage(tmp_path):
    """Optuna read a row of 1 MB as often: 5,500 times, 5.5 GB, of a file of 1.25 MB."""
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        study.ask()
    index = "sqlite_autoindex_trial_user_attributes_1"
    altered(
        path,
        "INSERT INTO trial_user_attributes VALUES (1000, 1, 'note', '1')",
        "CREATE TABLE forged (a, b, c, PRIMARY KEY (a, b, c)) WITHOUT ROWID",
        "INSERT INTO forged WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50) "
        "SELECT 1, printf('note%02d', i), 1000 FROM n",
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        places = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
        connection.execute("PRAGMA writable_schema = ON")
        for name, place in ((index, places["forged"]), ("forged", places[index])):
            connection.execute(
                "UPDATE sqlite_master SET rootpage = ? WHERE name = ?", (place, name)
            )
    altered(path, "PRAGMA writable_schema = RESET", "DROP TABLE forged")
    with pytest.raises(KgdashError, match="is damaged"), opened(path, ABOUT):
        pass


def test_a_value_that_only_optuna_would_read_has_a_bound(tmp_path):
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        (trial := study.ask()).set_user_attr("other", "x" * (2**20 + 1))
        study.tell(trial, 0.5)
    read_study(path)
    with pytest.raises(KgdashError, match="value of trial_user_attributes is too long"):
        opened(path, ABOUT).__enter__()


def test_a_search_that_goes_on_is_no_program(tmp_path):
    """It may be another account's: its set-user-ID bit would be that of whoever goes on with it."""
    path = tmp_path / "search.db"
    with opened(path, ABOUT) as study:
        study.tell(study.ask(), 0.5)
    path.chmod(0o6777)
    with opened(path, ABOUT):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o666


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
def test_whom_another_account_lets_write_this_one_does_not(tmp_path):
    path = tmp_path / "search.db"
    with opened(path, ABOUT):
        pass
    path.chmod(0o666)
    os.chown(path, 12345, 12345)
    with opened(path, ABOUT):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~atomic._UMASK


def test_a_link_that_is_made_meanwhile_is_not_followed(tmp_path):
    """Who may make files in the folder had any file of whoever searched there written over."""
    path, other = tmp_path / "search.db", tmp_path / "thesis.txt"
    other.write_text("mine")
    with opened(path, ABOUT) as study:
        path.unlink()
        path.symlink_to(other)
        study.tell(study.ask(), 0.5)
    assert other.read_text() == "mine"
    assert not path.is_symlink()
    assert read_study(path).trials["value"].tolist() == [0.5]


def test_a_link_that_goes_meanwhile_leaves_what_it_led_to(tmp_path, monkeypatch):
    """It was taken for a new search's file then, and what the link had led to was written over."""
    path, other = tmp_path / "search.db", tmp_path / "thesis.txt"
    other.write_text("mine")
    path.symlink_to(other)

    def hold(*given):
        path.unlink()
        return hold_lock(*given)

    monkeypatch.setattr(module, "hold_lock", hold)
    with pytest.raises(KgdashError), opened(path, ABOUT):
        pass
    assert other.read_text() == "mine"


def test_what_is_beside_the_rows_of_trials_is_made_anew(tmp_path):
    """Optuna opens no file but its own; a link to it stays one, and its mode what it was."""
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    with opened(real, ABOUT) as study:
        study.tell(study.ask(), 0.5)
    altered(real, "UPDATE alembic_version SET version_num = 'x'", "PRAGMA user_version = 7")
    real.chmod(0o600)
    link.symlink_to(real)
    with (
        opened(real, ABOUT),
        pytest.raises(KgdashError, match="another search is running"),
        opened(link, ABOUT),
    ):
        pass
    with opened(link, ABOUT) as study:
        assert study.best_value == 0.5
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    with closing(sqlite3.connect(real)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)
