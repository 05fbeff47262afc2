"""Configuration files: every command's options written, read again, and refused where wrong."""

import functools
import inspect
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_args

import pytest
import typer
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from kgdash.cli import GROUPS, app
from kgdash.commands.options.config import configurable
from kgdash.errors import KgdashError

EXAMPLE = """\
# Count things, at length, so that this first line of the file is so long that it goes on in the
# next one.
command = "count"

# What is counted.
things = ["a", "say \\"b\\""]

# How many.
most = 3

# no help
# level =

# Twice.
again = true
"""


def registered() -> dict[str, object]:
    """Return what each command computes with, by what is typed."""
    parts = {"": app} | {f"{name} ": group for name, group in GROUPS.items()}
    return {
        prefix + (info.name or info.callback.__name__): info.callback.__wrapped__
        for prefix, part in parts.items()
        for info in part.registered_commands
        if hasattr(info.callback, "__wrapped__")
    }


def recording(function, calls: list):
    """Stand in for a command: same parameters, but they are only recorded."""

    @functools.wraps(function)
    def record(**options) -> None:
        calls.append({n: v for n, v in options.items() if not hasattr(v, "params")})

    return record


def command_line(*functions) -> typer.Typer:
    """Make an application of configurable commands, with one more so that they keep their names."""
    made = typer.Typer()
    made.command("nothing")(lambda: None)
    for function in functions:
        made.command(function.__name__)(configurable(function))
    return made


def call_with(made: typer.Typer, *arguments: object) -> None:
    result = CliRunner().invoke(made, list(map(str, arguments)))
    if isinstance(result.exception, KgdashError):
        raise result.exception
    assert result.exit_code == 0, result.output


#: what can stand on a command line
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def odd_values(kind, info, name) -> st.SearchStrategy:
    """Draw values of a parameter's type that are hard to write."""
    if inspect.isclass(kind) and issubclass(kind, StrEnum):
        return st.sampled_from([member.value for member in kind])
    if kind is Path:
        # Two outputs are not one file.
        return TEXT.map(lambda text: f"dir/{name}{text.replace('/', '')}.csv")
    if kind is int:
        return st.integers(info.min or 0, info.max)
    return {
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        str: TEXT | st.sampled_from(['"', "a # b", "\\", "\x7f", "'''", "true", "1", "ü\n="]),
    }[kind]


def draw_arguments(function, data) -> list[str]:
    """Draw a command line that gives every parameter of a command a value."""
    options, positional = [], []
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.annotation is typer.Context:
            continue
        hint, info = get_args(parameter.annotation)[:2]
        hint = next((part for part in get_args(hint) if get_args(hint)[1:] == (type(None),)), hint)
        many = getattr(hint, "__origin__", None)
        kind = get_args(hint)[0] if many else hint
        count = {None: 1, list: 2, tuple: len(get_args(hint))}[many]
        values = [str(data.draw(odd_values(kind, info, name), label=name)) for _ in range(count)]
        flag = (info.param_decls or (None,))[0] or info.default
        flag = flag.split("/")[0] if isinstance(flag, str) else "--" + name.replace("_", "-")
        if isinstance(info, typer.models.ArgumentInfo):
            positional += values
        elif kind is bool:
            on, _, off = flag.partition("/")  # as --unit/--no-unit
            options += filter(None, [on if values[0] == "True" else off])
        elif many is tuple:
            options += [flag, *(f"x{value}" for value in values)]
        else:
            options += [f"{flag}={value}" for value in values]
    return [*options, "--", *positional]


@pytest.mark.parametrize("name", registered())
@settings(max_examples=4, phases=[Phase.generate])
@given(data=st.data())
def test_every_command_reads_what_it_wrote(name, data, tmp_path_factory):
    calls: list = []
    function = registered()[name]
    made = command_line(recording(function, calls))
    path = tmp_path_factory.mktemp("config") / "options.toml"
    given_ones = draw_arguments(function, data)
    # Other clusters, outputs elsewhere and a server's settings want the command line.
    given_ones = [
        "--cluster=local:2" if each.startswith("--cluster=") else each.replace("/", "|")
        for each in given_ones
    ]
    call_with(made, function.__name__, "--save-config", path, *given_ones)
    again = given_ones[given_ones.index("--") :] if name == "serve" else []
    call_with(made, function.__name__, "--config", path, *again)
    assert calls[0] == calls[1]
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    assert calls[0].keys() == {p.name for p in parameters if p.annotation is not typer.Context}


def test_every_command_with_parameters_takes_a_file():
    names = {"study", "classify", "queries", "rules", "reliability", "compare", "which-model"}
    names |= {"metrics", "breakdown", "train", "confounders", "health", "report", "obl2021 predict"}
    assert registered().keys() >= names


def count(
    things: Annotated[list[str], typer.Argument(help="What is counted.")],
    most: Annotated[int, typer.Option(help="How many.")] = 2,
    level: Annotated[float | None, typer.Option(help="no help")] = None,
    twice: Annotated[bool, typer.Option("--again", help="Twice.")] = False,
) -> None:
    """Count things, at length, so that this first line of the file is so long that it goes on in
    the next one.

    This is not for the file.
    """


def test_the_file_holds_each_option_below_its_help(tmp_path):
    calls: list = []
    made, path = command_line(recording(count, calls)), tmp_path / "new" / "count.toml"
    arguments = ("count", "a", 'say "b"', "--most", 3, "--again")
    call_with(made, *arguments, "--save-config", path)
    assert path.read_text(encoding="utf-8") == EXAMPLE
    assert tomllib.loads(EXAMPLE)["things"] == ["a", 'say "b"']


def test_the_command_line_wins(tmp_path):
    calls: list = []
    made, path = command_line(recording(count, calls)), tmp_path / "count.toml"
    path.write_text('command = "count"\nthings = ["a"]\nmost = 5\nlevel = 1\n', encoding="utf-8")
    call_with(made, "count", "--config", path)
    call_with(made, "count", "b", "c", "--most", 6, "--again", "--config", path)
    assert calls == [
        {"things": ["a"], "most": 5, "level": 1.0, "twice": False},
        {"things": ["b", "c"], "most": 6, "level": 1.0, "twice": True},
    ]
    assert type(calls[0]["level"]) is float


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('most = "3"', "expected a whole number; found '3' (most in FILE, line 3)"),
        ("most = true", "expected a whole number; found True (most in FILE, line 3)"),
        ("most = 3.0", "expected a whole number; found 3.0 (most in FILE, line 3)"),
        ("most = [3]", "expected a whole number; found [3] (most in FILE, line 3)"),
        ("level = '0.5'", "expected a number; found '0.5' (level in FILE, line 3)"),
        ("again = 1", "expected true or false; found 1 (again in FILE, line 3)"),
        ("things = 'a'", "expected a list [text in quotes, …]; found 'a' (things in FILE, line 3)"),
        ("things = [1]", "expected a list [text in quotes, …]; found [1] (things in FILE, line 3)"),
        ("\nmots = 3", "did you mean 'most'? (FILE, line 4)"),
        ("twice = true", "unknown option 'twice' in kgdash count (things, most, level, again)"),
        ("[most]\na = 1", "expected a whole number; found {'a': 1} (most in FILE"),
        ("most = ", "FILE is no valid TOML: Invalid value (at line 3, column 8)"),
        ("most = 1\nmost = 1", "FILE is no valid TOML: Cannot overwrite a value (at line 4"),
        ("a" + ".a" * 201 + " = 1", "more than 200 points in a line (FILE, line 3)"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(text, message, tmp_path):
    calls: list = []
    made, path = command_line(recording(count, calls)), tmp_path / "count.toml"
    path.write_text(f'# mine\ncommand = "count"\n{text}\n', encoding="utf-8")
    with pytest.raises(KgdashError) as refusal:
        call_with(made, "count", "a", "--config", path, "--save-config", tmp_path / "new.toml")
    assert message in str(refusal.value).replace(str(path), "FILE")
    assert calls == []
    assert [file.name for file in tmp_path.iterdir()] == ["count.toml"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "can not read FILE: No such file or directory"),
        (b"\xff", "expected UTF-8 text; found byte 0xff (FILE, line 1)"),
        (b'run = "umls-transe"', 'expected command = "queries" in FILE'),
        (b'command = "rules"', "the command 'rules', not of 'queries': call kgdash rules"),
        (b'command = "queries"\nchains = "best"', "chains is now aggregate"),
        (b'command = "queries"\nrun = "umls-tranze"', "umls-tranze"),
    ],
)
def test_what_can_not_be_is_refused(refused, tmp_path, content, message):
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    error = refused("queries", "--config", path, "--save-config", tmp_path / "new.toml")
    assert message in error.replace(str(path), "FILE")
    path.write_text('command = "prognosis"', encoding="utf-8")
    assert "is now 'predict-performance'" in refused("predict-performance", "--config", path)
    assert "is a folder" in refused("queries", "umls-transe", "--save-config", tmp_path)


def test_a_call_from_its_file_prints_the_same(call, tmp_path):
    path = tmp_path / "metrics.toml"
    printed = call("metrics", "umls-transe", "--k", 7, "--json", "--save-config", path)
    assert call("metrics", "--config", path) == printed
    assert call("metrics", "umls-distmult", "--config", path) != printed
