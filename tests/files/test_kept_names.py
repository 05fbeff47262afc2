"""Nothing that is kept on the disk of a run names what its like, of other labels, would show."""

from dataclasses import replace

import pytest

from kgdash.files import table_cache
from kgdash.formats.run_directory import read_run, write_run
from kgdash.runs.bundled import DEMO

MARK = "label of "

CALLS = (
    ["overview"],
    ["breakdown", "--by", "pattern"],
    ["health"],
    ["calibrate", "--table", "relation"],
    ["answer-sets", "--by", "relation"],
    ["classify"],
    ["reliability", "--by", "communities"],
    ["rules", "--json"],
    ["discover", "--k", "20"],
    ["confounders"],
    ["predict-performance"],
)


@pytest.fixture(scope="module")
def relabelled(tmp_path_factory):
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    labels = {
        f"{kind}_labels": tuple(MARK + name for name in getattr(graph, names))
        for kind, names in (("entity", "entities"), ("relation", "relations"))
    }
    folder = tmp_path_factory.mktemp("runs") / "other"
    return write_run(folder, replace(graph, **labels), spec, state, manifest["training"], {})


@pytest.mark.parametrize("arguments", CALLS, ids=lambda arguments: arguments[0])
def test_labels_are_part_of_the_key_of_tables_that_hold_them(
    call, relabelled, arguments, monkeypatch
):
    keys, kept = {}, []
    path, write = table_cache._path, table_cache._write

    def noted_path(key):
        keys[path(key)] = key
        return path(key)

    def noted_write(table, to, *rest):
        kept.append((keys[to], table.to_csv()))
        write(table, to, *rest)

    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1.0)
    monkeypatch.setattr(table_cache, "_path", noted_path)
    monkeypatch.setattr(table_cache, "_write", noted_write)
    table_cache.clear_cache()
    command, *options = arguments
    call(command, relabelled, *options)
    assert kept
    named = [key for key, text in kept if MARK in text and "shown" not in key]
    assert not named
