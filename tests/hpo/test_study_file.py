"""Files of searches by strangers: small ones that would cost much are refused."""

import shutil
import sqlite3
import struct
from contextlib import closing

import pytest

from kgdash.errors import KgdashError
from kgdash.hpo import study_file
from kgdash.hpo.study_file import read_study
from kgdash.runs.bundled import DEMO_STUDY

_COUNTED = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO "
)


@pytest.fixture
def study(tmp_path):
    """Return what changes a copy of the example by SQL, and its path."""
    path = tmp_path / "OUT.study.db"
    shutil.copyfile(DEMO_STUDY, path)

    def change(*statements):
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path

    return change


def test_the_example(study):
    assert len(read_study(study()).trials) == 40


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
def test_computed_columns_could_hold_anything(study, kind):
    path = study(
        "DROP TABLE trial_user_attributes",
        "CREATE TABLE trial_user_attributes (trial_id INTEGER, key TEXT, "
        f"value_json TEXT AS (hex(zeroblob(length(key) * 100000))) {kind})",
        "INSERT INTO trial_user_attributes VALUES (1, 'reason')",
    )
    with pytest.raises(KgdashError, match="trial_user_attributes has computed columns"):
        read_study(path)


@pytest.mark.parametrize(
    "made",
    [
        "VIEW trial_values AS SELECT 1 trial_id, 0 objective, 0.5 value, 'FINITE' value_type",
        "VIRTUAL TABLE trial_values USING fts5(trial_id, objective, value, value_type)",
    ],
)
def test_views_and_virtual_tables_are_none_of_a_search(study, made):
    path = study("DROP TABLE trial_values", f"CREATE {made}")
    with pytest.raises(KgdashError, match="it has no table trial_values of Optuna's"):
        read_study(path)


def test_rows_values_and_parameters_have_bounds(study, monkeypatch):
    monkeypatch.setattr(study_file, "_MAX_ROWS", 1000)
    path = study(
        _COUNTED.format(1000) + "trial_user_attributes (trial_id, key, value_json) "
        "SELECT i + 10000, 'reason', '1' FROM n"
    )
    with pytest.raises(KgdashError, match="more than 1,000 rows in a table"):
        read_study(path)
    path = study(
        "DELETE FROM trial_user_attributes",
        _COUNTED.format(201) + "trial_params (trial_id, param_name, param_value, "
        "distribution_json) SELECT trial_id, 'p' || i, param_value, distribution_json "
        "FROM n, (SELECT * FROM trial_params LIMIT 1)",
    )
    with pytest.raises(KgdashError, match="more than 200 parameters"):
        read_study(path)
    path = study(
        "DELETE FROM trial_params WHERE param_name GLOB 'p[0-9]*'",
        "UPDATE study_user_attributes SET value_json = hex(zeroblob(600000))",
    )
    with pytest.raises(KgdashError, match="too big"):
        read_study(path)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE trial_user_attributes SET key = 'reason', value_json = "
            "'[' || replace(hex(zeroblob(2000)), '00', '1,') || '0]' WHERE key = 'epochs'",
            "more than 1,000 objects, lists or numbers",
        ),
        (
            "UPDATE trial_user_attributes SET value_json = '[1]' WHERE key = 'epochs'",
            "a list where a number or a text belongs",
        ),
        (
            "UPDATE trial_params SET param_value = 0, distribution_json = "
            """'{"name": "CategoricalDistribution", "attributes": {"choices": [[1, 2]]}}'""",
            "a list where a number or a text belongs",
        ),
    ],
    ids=["many", "a list", "a list to choose"],
)
@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution")
def test_what_trials_hold_is_plain(study, statement, message):
    """20 MB of lists as reasons took 560 MB, and Python held for seconds."""
    with pytest.raises(KgdashError, match=message):
        read_study(study(statement))


def test_a_page_is_read_once(study):
    """Pages of pages could name one of them thousands of times: 1.2 MB gave 20 GB."""
    path = study("DELETE FROM trials WHERE trial_id > 1")
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'trials' AND type = 'table'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    leaf, times = len(content) // size + 1, 40
    # An inner page: its kind, ..., cells, where they begin, 0, the last child; then the cells.
    cells = [12 + 2 * times + 5 * cell for cell in range(times)]
    page = struct.pack(f">BHHHBI{times}H", 5, 0, times, cells[0], 0, leaf, *cells)
    page += b"".join(struct.pack(">IB", leaf, 1) for _ in cells)
    place = slice((root - 1) * size, root * size)
    assert content[place.start] == 13  # a leaf
    content += content[place]
    content[place] = page.ljust(size, b"\0")
    content[28:32] = struct.pack(">I", leaf)
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        assert len(connection.execute("SELECT state FROM trials").fetchall()) == times + 1
    with pytest.raises(KgdashError, match=r"not the file of a search: \*\*\*"):
        read_study(path)
