"""Readers of what kgdash itself keeps: cache, journals of labels, groupings, searches, settings."""

import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import typer

from kgdash.cli import app
from kgdash.commands.options.config import config_text, read_config
from kgdash.errors import KgdashError
from kgdash.files.row_table import RowTable
from kgdash.files.table_cache import clear_cache, replace_table, stored_table
from kgdash.hpo.importance import importances
from kgdash.hpo.selection import best_command
from kgdash.hpo.study_file import read_study
from kgdash.runs.bundled import DEMO_STUDY
from kgdash.runs.saved_groupings import delete_grouping, saved_groupings
from kgdash.studies.labelling.events import LABEL, SKIP, UNDO, Event, RuleGroundings
from kgdash.studies.labelling.journal import add_events, journal_file, read_journal
from kgdash.studies.labelling.results import label_table
from tests.fuzz.harness import scratch
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH
from tests.support.fakes import fake_run, random_scorer

_KEY = {"kind": "ranks", "graph": "tiny"}
_COLUMNS, _ROWS = ("optimistic", "realistic"), 5
RUN = fake_run(GRAPH, random_scorer(GRAPH.num_entities, GRAPH.num_relations))


@cache
def _stored() -> tuple[str, list[bytes]]:
    """Return the name of a table in the cache, and its content: with all rows, and with some."""
    whole = pd.DataFrame({name: np.arange(_ROWS) - 1 for name in _COLUMNS})
    some = whole[2:].reset_index(drop=True)
    some.insert(0, f"row of {_ROWS}", np.arange(2, _ROWS))
    about = {"kind": "ranks", "run": "a", "graph": "tiny", "triples": 4, "seconds": 1.5}
    with scratch() as folder:
        contents = []
        for table in (whole, some):
            replace_table(_KEY, table, about)
            (path,) = (folder / "cache").glob("*.parquet")
            contents.append(path.read_bytes())
        return path.name, contents


def _use_cache(path: Path) -> None:
    size = path.stat().st_size
    RowTable(_KEY, _COLUMNS, _ROWS, {}).values(np.arange(_ROWS))
    stored_table(_KEY)
    if size % 16 == 0:  # takes much longer than the rest
        clear_cache(kind="ranks")


_SHOWN = RuleGroundings("?a r0 ?b => ?a r1 ?b", ((("e0", "r0", "e1"),),))
_EVENTS = (
    Event(LABEL, ("e0", "r1", "e1"), True, groundings=(_SHOWN,), by="a", at="2026-01-01T00:00:00Z"),
    Event(SKIP, ("e1", "r1", "e2"), by="b"),
    Event(UNDO, of=0, by="a"),
    Event(LABEL, ("e2", "r1", "e4"), False, by="b", at="2026-01-02T00:00:00Z"),
)


def _journals() -> list[bytes]:
    with scratch():
        for event in _EVENTS:
            add_events(GRAPH, event)
        return [journal_file(GRAPH).read_bytes()]


def _use_journal(path: Path) -> None:
    labelling = read_journal(GRAPH)
    labelling.latest("a")
    labelling.labels()
    after = add_events(GRAPH, _EVENTS[0])
    assert read_journal(GRAPH).events == after.events
    label_table(after, GRAPH)


def _groupings() -> list[bytes]:
    buckets = {"rare": [["frequency", "<", 100]], "tails": [["side", "==", "tail"]]}
    types = {"a": ["e0", "e1"], "b": ["e1"]}
    return [
        json.dumps(
            {
                "format": "kgdash-groupings",
                "version": 2,
                "groupings": [
                    {"name": "one", "by": "conditions", "buckets": buckets},
                    {"name": "two", "by": "types", "end": "head", "types": types},
                ],
            }
        ).encode()
    ]


def _use_groupings(path: Path) -> None:
    saved = saved_groupings(RUN)
    for name, grouping in saved.items():
        grouping.describe().encode()
        json.dumps(grouping.to_json(GRAPH), ensure_ascii=False).encode()
        delete_grouping(RUN, name)


@cache
def _studies() -> list[bytes]:
    """Return the first trials of the example of a search."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(DEMO_STUDY.read_bytes())
        tables = connection.execute(
            "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND c.name = 'trial_id'"
        ).fetchall()
        for (table,) in tables:
            connection.execute(f'DELETE FROM "{table}" WHERE trial_id > 12')
        connection.execute("VACUUM")
        return [connection.serialize()]


def _use_study(path: Path) -> None:
    study = read_study(path)
    _ = study.best, study.counted
    for ask in (importances, best_command):
        try:
            ask(study)
        except KgdashError as error:
            str(error).encode()


@cache
def _contexts() -> dict[str, typer.Context]:
    """Return a call of each command that has options, without any."""
    program = typer.main.get_command(app)
    top, found = typer.Context(program, info_name="kgdash"), {}
    for name, command in program.commands.items():  # type: ignore[attr-defined]
        outer = typer.Context(command, top, info_name=name)
        for inner, called in getattr(command, "commands", {}).items():
            found[f"{name} {inner}"] = typer.Context(called, outer, info_name=inner)
        if not hasattr(command, "commands"):
            found[name] = outer
    return {name: context for name, context in found.items() if context.command.params}


def _settings() -> list[bytes]:
    """Write every option of each command, with its default or a value of its type."""
    found = []
    for context in _contexts().values():
        for parameter in context.command.params:
            value = parameter.get_default(context)
            empty = value is None or value == () or value == []
            context.params[parameter.name or ""] = "a" if empty else value
        found.append(config_text(context).encode())
    return found


def _use_settings(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    contexts = _contexts()
    named = [name for name in contexts if f'"{name}"' in text.partition("\n\n")[0]]
    read_config(path, contexts[named[-1] if named else "train"])


READERS = (
    Reader("cache", lambda: _stored()[1], _use_cache, f"cache/{_stored()[0]}"),
    Reader("journals", _journals, _use_journal, f"data/labels/{GRAPH.digest}.jsonl"),
    Reader("groupings", _groupings, _use_groupings, f"data/groupings/{GRAPH.digest}.json"),
    Reader("searches", _studies, _use_study, "case.db"),
    Reader("settings", _settings, _use_settings, "case.toml"),
)
