"""A call as it is written into results, and tables as they are printed."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from kgdash import cli
from kgdash.commands.options import output
from kgdash.commands.options.output import command_text, write_or_print
from kgdash.errors import KgdashError
from kgdash.files.table import to_csv
from kgdash.formats.run_directory import GRAPH, MANIFEST, TRIPLES, WEIGHTS
from tests.support.cli import strict_json
from tests.support.paths import ROOT


def test_where_things_lie_here_is_not_written(tmp_path):
    """Results are for others: where data lie here is not their business."""
    (tmp_path / "my data").mkdir()
    (tmp_path / "rules.tsv").touch()
    app, told = typer.Typer(), []

    @app.command()
    def count(
        context: typer.Context,
        run: str,
        rules: str = "",
        k: list[int] = (),
        results: str = "",
        deep: bool = False,
    ) -> None:
        told.append(command_text(context))

    typed = [
        str(tmp_path / "my data"),
        "--rules",
        str(tmp_path / "rules.tsv"),
        "--k",
        "3",
        "--k",
        "5",
        "--results",
        str(tmp_path),
        "--deep",
    ]
    assert CliRunner().invoke(app, typed).exit_code == 0
    assert CliRunner().invoke(app, ["nations"]).exit_code == 0
    whole, bare = told
    assert whole == "kgdash count 'my data' --rules rules.tsv --k 3 --k 5 --deep"
    assert bare == "kgdash count nations"


def test_on_a_terminal_no_name_begins_a_row(capsys, monkeypatch):
    table = pd.DataFrame({"mrr": [0.5], "of": ["B\nC\t9.9\r"]}, index=["a\nb"])
    write_or_print(table, None, index=True)
    assert capsys.readouterr().out == to_csv(table, separator="\t")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    write_or_print(table, None, index=True)
    assert capsys.readouterr().out == "\tmrr\tof\na\\nb\t0.5\tB\\nC\\t9.9\\r\n"


@pytest.mark.parametrize("rows", [0, 1, 1_000, 2_345])
def test_a_long_table_is_printed_in_parts(rows, capsys, monkeypatch):
    """Of long names, the text of all rows takes gigabytes."""
    parts = []

    def noted(table, **options):
        parts.append(len(table))
        return to_csv(table, **options)

    monkeypatch.setattr(output, "to_csv", noted)
    table = pd.DataFrame({"name": [f"a\t{n}\rb" for n in range(rows)], "value": np.arange(rows)})
    write_or_print(table, None)
    assert capsys.readouterr().out == to_csv(table, separator="\t", index=False)
    assert max(parts) <= 1_000
    assert sum(parts) == rows


@pytest.mark.parametrize(
    "command", [["metrics"], ["subgraph", "--entity", "virus"], ["breakdown", "--by", "relation"]]
)
def test_json_is_alone_on_standard_output_while_the_table_goes_to_a_file(call, command, tmp_path):
    name, *options = command
    table = call(name, "umls-transe", *options, "--out", tmp_path / "1.csv")
    assert table.startswith("wrote ")
    assert strict_json(call(name, "umls-transe", *options, "--json", "--out", tmp_path / "2.csv"))
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_no_output_replaces_another_or_a_file_of_the_run(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "kgdash" / "demo" / "umls-transe", tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "run" / "run.json").read_bytes()
    rules = ["rules", "umls-transe", "--out", "one.tsv", "--save-rules", "./one.tsv"]
    for arguments, message in (
        (rules, "--out would replace one.tsv, which --save-rules names"),
        (["metrics", "run", "--save-config", "run/run.json"], "would replace run/run.json, which "),
        (["metrics", "run", "--save-config", "run/graph.json"], "would replace run/graph.json"),
    ):
        result = CliRunner().invoke(cli.app, arguments)
        assert message in str(result.exception)
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert not (tmp_path / "one.tsv").exists()
    assert {MANIFEST, GRAPH, TRIPLES, WEIGHTS, "groupings.json"} == set(output._OF_RUNS)


def test_a_configuration_alone_replaces_nothing_elsewhere(tmp_path, monkeypatch):
    """A stranger's replaced any file of whoever called a command with it."""
    thesis, here = tmp_path / "thesis.csv", tmp_path / "here"
    here.mkdir()
    thesis.write_text("mine")
    config = here / "m.toml"
    call = ["metrics", "umls-transe", "--config", str(config)]
    monkeypatch.chdir(here)
    for named in (str(thesis), "../thesis.csv"):
        config.write_text(f'command = "metrics"\nout = "{named}"\n')
        result = CliRunner().invoke(cli.app, call)
        assert "m.toml has --out" in str(result.exception)
        assert thesis.read_text() == "mine"
    assert not CliRunner().invoke(cli.app, [*call, "--out", str(thesis)]).exception
    assert thesis.read_text() != "mine"
    (here / "own.csv").touch()
    config.write_text('command = "metrics"\nout = "../new.csv"\n')
    assert "m.toml has --out" in str(CliRunner().invoke(cli.app, call).exception)
    assert not (tmp_path / "new.csv").exists()
    for named in ("own.csv", "new.csv"):
        config.write_text(f'command = "metrics"\nout = "{named}"\n')
        assert not CliRunner().invoke(cli.app, call).exception
        assert (here / named).stat().st_size


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("relik", "cluster", "127.0.0.1:1"),
        ("relik", "cluster", "local:9999"),
        ("relik", "cluster", "local:00000009999"),
        ("train", "study", "../search.db"),
        ("train", "out", "../run"),
        ("serve", "settings", "s.toml"),
    ],
)
def test_a_configuration_alone_names_no_cluster_and_nothing_elsewhere(
    command, option, value, tmp_path, monkeypatch
):
    """A stranger's led to a scheduler whose answers ran code, and wrote what a shell reads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(f'command = "{command}"\n{option} = "{value}"\n')
    (tmp_path / "s.toml").write_text('cluster = "tcp://127.0.0.1:1"\n')
    call = [command, *(["umls-transe"] if command == "relik" else []), "--config", "m.toml"]
    call += ["--dataset", "umls", "--model", "TransE", "--search"] if command == "train" else []
    result = CliRunner().invoke(cli.app, call)
    assert "on the command line" in str(result.exception)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("runs remove", 'name = "mine"'),
        ("runs rename", 'old = "mine"\nnew = "other"'),
        ("groupings remove", 'run = "umls-transe"\nname = "mine"'),
        ("groupings add", 'run = "umls-transe"\nname = "mine"\ncondition = ["x: frequency < 1"]'),
        ("cache clear", 'kind = "ranks"'),
    ],
)
def test_a_configuration_alone_takes_nothing_away(command, text, tmp_path, monkeypatch):
    """A stranger's removed a run of whoever used it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(f'command = "{command}"\n{text}\n')
    result = CliRunner().invoke(cli.app, [*command.split(), "--config", "m.toml"])
    assert "on the command line" in str(result.exception)


def test_a_link_to_itself_in_a_configuration_s_output_is_said(tmp_path, monkeypatch):
    """It ended in a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "m.toml").write_text('command = "metrics"\nout = "loop/x.csv"\n')
    result = CliRunner().invoke(cli.app, ["metrics", "umls-transe", "--config", "m.toml"])
    assert "loop is not a folder" in str(result.exception)


def test_what_can_not_be_written_is_told_before_anything_is_computed(tmp_path, monkeypatch):
    """It was told when the training was over."""
    (tmp_path / "file").write_text("")
    train = ["train", "--dataset", "umls", "--model", "TransE", str(tmp_path / "file" / "a" / "b")]
    monkeypatch.setattr("kgdash.graph.datasets.load_dataset", lambda name: pytest.fail("too late"))
    error = str(CliRunner().invoke(cli.app, train).exception)
    assert error == f"can not write out {train[-1]}: {tmp_path / 'file'} is not a folder"
    monkeypatch.setattr(output.os, "access", lambda path, mode: mode != output.os.W_OK)
    (tmp_path / "there.csv").write_text("")  # what replaces it is written beside it
    metrics = ["metrics", "umls-transe", "--out", str(tmp_path / "there.csv")]
    for asked, option in (([*train[:-1], str(tmp_path / "new")], "out"), (metrics, "--out")):
        error = str(CliRunner().invoke(cli.app, asked).exception)
        assert error == f"can not write {option} {asked[-1]}: no permission to write in {tmp_path}"


@pytest.mark.parametrize(
    "arguments",
    [["queries", "umls-transe"], ["rules", "umls-transe"], ["cross-validate", "umls"]],
)
def test_a_file_in_place_of_a_folder_is_told_before_anything_is_computed(
    arguments, tmp_path, monkeypatch
):
    """It was told when all was computed, by a traceback."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for load in ("kgdash.runs.loading.load", "kgdash.graph.datasets.load_dataset"):
        monkeypatch.setattr(load, lambda *_: pytest.fail("too late"))
    for place, stands in (("file", "file"), ("file/new", "file"), ("link", "link")):
        typed = [*arguments, "--results", str(tmp_path / place)]
        error = CliRunner().invoke(cli.app, typed).exception
        assert isinstance(error, KgdashError)
        assert (
            str(error)
            == f"can not write --results {typed[-1]}: {tmp_path / stands} is not a folder"
        )
    monkeypatch.setattr(output.os, "access", lambda path, mode: mode != output.os.W_OK)
    error = CliRunner().invoke(cli.app, [*arguments, "--results", str(tmp_path)]).exception
    assert str(error) == f"can not write --results {tmp_path}: no permission to write in {tmp_path}"
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("output", ["--out", "--save-config"])
def test_no_output_replaces_what_is_read(output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read = tmp_path / "own.tsv"
    read.write_text("acquired_abnormality\taffects\tcell\n")
    (tmp_path / "link.csv").symlink_to(read)
    for path in ("own.tsv", tmp_path / "link.csv"):
        result = CliRunner().invoke(
            cli.app, ["relik", "umls-transe", "--triples", str(read), output, str(path)]
        )
        message = f"{output} would replace {path}, which --triples names: name another file"
        assert str(result.exception) == message
    assert read.read_text().startswith("acquired")
