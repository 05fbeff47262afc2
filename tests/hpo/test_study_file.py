"""Files of searches are read as they were written, and what a stranger made of one is refused."""

import pickle
import shutil
import sqlite3
import struct
from contextlib import closing
from functools import partial

import numpy as np
import optuna
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.hpo import study_file
from kgdash.hpo.selection import Budget, search
from kgdash.hpo.study_file import read_study
from kgdash.runs.bundled import DEMO_STUDY
from tests.support.small_search import altered, plan

_COUNTED = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO "
)


@pytest.fixture
def study(tmp_path):
    """Return what changes a copy of the example by SQL, and its path."""
    path = tmp_path / "OUT.study.db"
    shutil.copyfile(DEMO_STUDY, path)

    return partial(altered, path)


def test_the_example(study):
    assert len(read_study(study()).trials) == 40


@pytest.mark.parametrize(
    ("made", "what"),
    [
        ("INDEX more ON trials (hex(trial_id) LIKE '%0%')", "index more"),
        ("INDEX more ON trials (state) WHERE hex(trial_id) LIKE '%0%'", "index more"),
        ("TABLE more (a INTEGER, b TEXT NOT NULL AS (hex(a)))", "table more"),
        ("VIRTUAL TABLE more USING fts5(a)", "table more"),
        ("VIEW more AS SELECT a.trial_id FROM trials a, trials b", "view more"),
        ("TRIGGER more AFTER INSERT ON trials BEGIN DELETE FROM trials; END", "trigger more"),
    ],
)
def test_nothing_else_is_in_a_search(study, made, what):
    """An index compared texts of 1 MB with a pattern, for minutes; so did a chain of views."""
    with pytest.raises(KgdashError, match=f"holds the {what}, which Optuna .* would not have made"):
        read_study(study(f"CREATE {made}"))


@pytest.mark.parametrize(
    "made",
    [
        "TABLE {} (trial_id INTEGER, key TEXT, value_json TEXT AS (hex(zeroblob(100000))) VIRTUAL)",
        "TABLE {} (trial_id INTEGER, key TEXT, value_json TEXT DEFAULT '{{}}')",
        "VIEW {} AS SELECT 1 trial_id, 'epochs' key, '1' value_json",
        "VIRTUAL TABLE {} USING fts5(trial_id, key, value_json)",
    ],
)
def test_tables_are_as_optuna_makes_them(study, made):
    """A default of 1 MB filled the disk as it was sorted, row by row."""
    path = study(
        "DROP TABLE trial_user_attributes", "CREATE " + made.format("trial_user_attributes")
    )
    with pytest.raises(KgdashError, match="trial_user_attributes, which Optuna"):
        read_study(path)


def test_trials_of_other_studies_are_not_the_search_s(study):
    before = read_study(study())
    path = study(
        "INSERT INTO studies (study_id, study_name) VALUES (77, 'mine')",
        "INSERT INTO trials (trial_id, number, study_id, state) VALUES (7700, 0, 77, 'COMPLETE')",
        "INSERT INTO trial_values (trial_id, objective, value, value_type) "
        "VALUES (7700, 0, 0.999, 'FINITE')",
        "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
        "SELECT 7700, param_name, param_value, distribution_json FROM trial_params LIMIT 1",
    )
    pd.testing.assert_frame_equal(read_study(path).trials, before.trials)


def test_rows_values_and_parameters_have_bounds(study, monkeypatch):
    monkeypatch.setattr(study_file, "MAX_ROWS", 1000)
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
        (
            "UPDATE trial_params SET param_value = 0, distribution_json = "
            """'{"name": "CategoricalDistribution", "attributes": {"choices": ["'"""
            "|| hex(zeroblob(51)) || '\"]}}'",
            "more than 100 characters",
        ),
        (
            "UPDATE trial_params SET param_value = 0, distribution_json = "
            """'{"name": "CategoricalDistribution", "attributes": {"choices": ['"""
            f"|| '{','.join(map(str, range(101)))}' || ']}}}}'",
            "more than 100 choices",
        ),
    ],
    ids=["many", "a list", "a list to choose", "a long choice", "many choices"],
)
@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution")
def test_what_trials_hold_is_plain(study, statement, message):
    """20 MB of lists as reasons took 560 MB, and Python held for seconds."""
    with pytest.raises(KgdashError, match=message):
        read_study(study(statement))


def test_no_trial_took_less_than_nothing(study):
    """One that ended before it began had a search of two seconds go on without end."""
    path = study("UPDATE trials SET datetime_complete = '1990-01-01 00:00:00.000000'")
    assert read_study(path).trials["seconds"].dropna().eq(0).all()


def test_pages_of_what_only_optuna_reads_are_each_its_own(study):
    """An index of pages that all name one took Optuna 7 GB as a search went on, from 131 KB."""
    path = study(
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE "
        "name = 'trial_intermediate_values') WHERE name = 'trial_system_attributes'",
    )
    with pytest.raises(KgdashError, match="not the file of a search"):
        read_study(path)


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


class TestFile:
    def test_what_is_in_it(self, graph, file):
        study = search(graph, plan(check_every=1), file, Budget(trials=2))
        with closing(sqlite3.connect(file)) as connection:
            stored = connection.execute(
                "SELECT value FROM trial_values JOIN trials USING (trial_id) ORDER BY number"
            ).fetchall()
        assert study.trials["value"].tolist() == [value for (value,) in stored]
        assert (
            study.trials["best_so_far"].tolist()
            == np.maximum.accumulate(study.trials["value"]).tolist()
        )
        assert list(study.trials)[:7] == [
            *("trial", "state", "value", "best_so_far", "epochs", "seconds", "reason")
        ]
        assert study.trials["seconds"].gt(0).all()
        for row, chosen in enumerate(study.chosen):
            assert {name: study.trials[name][row] for name in chosen} == chosen
            assert all(
                study.parameters[n]._contains(study.parameters[n].to_internal_repr(v))
                for n, v in chosen.items()
            )
        assert study.about["filter"] == "train+valid"
        assert study.about["graph"] == "tiny"

    def test_parameters_that_only_some_trials_have(self, graph, file):
        chosen = plan("TransE", "DistMult", sampler="random")
        study = search(graph, chosen, file, Budget(trials=6))
        assert set(study.trials["model"]) == {"TransE", "DistMult"}
        for name in ("TransE.embedding_dim", "DistMult.embedding_dim", "TransE.scoring_fct_norm"):
            assert str(study.trials[name].dtype) == "Int64"
            has = (study.trials["model"] == name.split(".")[0]).tolist()
            assert study.trials[name].notna().tolist() == has
        assert study.trials["regularizer.weight"].dtype == "float64"


class TestForeignFiles:
    def refused(self, path, graph, message):
        before = path.read_bytes()
        for use in (read_study, lambda file: search(graph, plan(), file, Budget(trials=1))):
            with pytest.raises(KgdashError, match=message) as refusal:
                use(path)
            assert str(path) in str(refusal.value)
        assert path.read_bytes() == before

    def test_other_files(self, graph, tmp_path):
        path = tmp_path / "x.db"
        for content in (b"", b"text", pickle.dumps({"a": 1})):
            path.write_bytes(content)
            self.refused(path, graph, "expected the SQLite file of a search")
        with pytest.raises(KgdashError, match=r"can not read .*nothing\.db"):
            read_study(tmp_path / "nothing.db")
        with pytest.raises(KgdashError, match="can not read"):
            read_study(tmp_path)

    def test_other_databases_are_left_alone(self, graph, tmp_path):
        path = altered(tmp_path / "mine.db", "CREATE TABLE precious (x)")
        self.refused(path, graph, "it has no table alembic_version of Optuna's")
        storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/other.db")
        optuna.create_study(storage=storage, study_name="kgdash")
        self.refused(tmp_path / "other.db", graph, "not one of kgdash's searches")

    @pytest.mark.parametrize(
        "statement",
        [
            'UPDATE trial_params SET distribution_json = \'{"name": "os.system"}\'',
            "UPDATE trial_params SET distribution_json = '['",
            'UPDATE trial_params SET distribution_json = \'{"name": "FloatDistribution", '
            '"attributes": {"low": 0, "high": 1e308, "step": 1e-300, "log": false}}\'',
            "UPDATE trial_params SET param_value = 99 WHERE param_name = 'model.embedding_dim'",
            "UPDATE trial_params SET param_value = 1e9 WHERE param_name = 'optimizer.lr'",
            "UPDATE trial_params SET trial_id = 99 WHERE param_name = 'model.embedding_dim'",
            "UPDATE trial_values SET value = 'high'",
            "DELETE FROM trial_values",
            "UPDATE trial_values SET value_type = 'INF_POS'",
            "UPDATE trial_values SET value = 1.01",
            "UPDATE study_directions SET direction = 'MINIMIZE'",
            "INSERT INTO study_directions VALUES (2, 'MAXIMIZE', 1, 1)",
            "DELETE FROM study_directions",
            "UPDATE trials SET datetime_start = 'noon'",
            "UPDATE trials SET number = NULL",
            "UPDATE trial_user_attributes SET value_json = '{}' WHERE key = 'epochs'",
        ],
    )
    def test_damage(self, graph, study_file, statement):
        self.refused(altered(study_file, statement), graph, "is damaged or not the file of a")

    def test_a_later_version(self, graph, study_file):
        altered(
            study_file,
            "UPDATE study_user_attributes SET value_json = replace(value_json, '\"version\": 1', "
            "'\"version\": 2')",
        )
        self.refused(study_file, graph, "expected version 1 of a search; found 2")

    def test_cut_short(self, graph, study_file):
        content = study_file.read_bytes()
        study_file.write_bytes(content[: len(content) // 2])
        self.refused(study_file, graph, "is damaged or not the file of a search")
