"""Configuration files: the options of any command, read from TOML and written to it with comments.

`configurable` gives a command the options --config and --save-config, and --safe-csv where it
writes tables.
"""

import functools
import inspect
import json
import os
import re
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer

from kgdash.commands.options.output import check_outputs, is_of_a_file
from kgdash.commands.options.renamed import COMMANDS, OPTIONS
from kgdash.commands.options.terminal import visible_output
from kgdash.errors import KgdashError, unknown_name
from kgdash.files.atomic import write_atomically
from kgdash.files.table import safe_csv
from kgdash.files.text import decode_text, read_content

#: of a file, and of points in a line of it: the reader's time grows with the square of a key's
_MAX_BYTES, _MAX_POINTS = 2**18, 200

#: commands that delete, rename or replace -> options that do not say what
_TAKE_AWAY: dict[str, tuple[str, ...]] = {
    "cache clear": (),
    "groupings add": ("condition", "types", "end"),
    "groupings remove": (),
    "runs remove": (),
    "runs rename": (),
}

#: what messages call the values of a type; all that is neither number nor flag is text
_VALUES = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}


def configurable(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --config, which fills what its command line leaves open, and --save-config.

    What it prints is visible on a terminal, whatever names hold.

    The file is written once the command has done its work: what is refused writes nothing.

    :param command: a function as Typer takes it; without parameters it is returned as it is
    """
    signature = inspect.signature(command, eval_str=True)
    if not signature.parameters:
        return command

    asks = [p.name for p in signature.parameters.values() if p.annotation is typer.Context]

    @functools.wraps(command)
    def configured(config: Path | None, save_config: Path | None, **options: Any) -> None:
        context = options[asks[0]] if asks else options.pop("context")
        check_outputs(context)
        _check_trusted(context)
        with visible_output(), safe_csv(options.pop("safe_csv", False)):
            command(**options)
        if save_config is not None:
            text = config_text(context)
            write_atomically(save_config, lambda part: part.write_text(text, encoding="utf-8"))

    kind = inspect.Parameter.KEYWORD_ONLY
    extra = [
        inspect.Parameter("config", kind, default=None, annotation=_ConfigOption),
        inspect.Parameter("save_config", kind, default=None, annotation=_SaveOption),
    ]
    if any(map(_is_table, signature.parameters.values())):
        extra.insert(0, inspect.Parameter("safe_csv", kind, default=False, annotation=_SafeOption))
    if not asks:
        extra.append(inspect.Parameter("context", kind, annotation=typer.Context))
    parameters = [p.replace(kind=kind) for p in signature.parameters.values()]
    configured.__signature__ = signature.replace(parameters=[*parameters, *extra])  # type: ignore
    return configured


def _check_trusted(context: typer.Context) -> None:
    """Refuse what a file alone says of a cluster, of a server, or of what is taken away.

    Another machine's cluster runs code as whoever counts on it, one of many processes fills the
    memory; a server's settings name a cluster, too.
    """
    if (command := _command(context)) in _TAKE_AWAY:
        for name in context.params:
            if name not in _TAKE_AWAY[command] and is_of_a_file(context, name):
                raise KgdashError(
                    f"{context.params['config']} says what is taken away, or from whom: give "
                    f"{name} on the command line"
                )
    if is_of_a_file(context, "settings"):
        raise KgdashError(
            f"{context.params['config']} names settings of a server, which decide who may do what: "
            "give their file on the command line"
        )
    cluster = context.params.get("cluster") or ""
    if not cluster or not is_of_a_file(context, "cluster"):
        return
    kind, _, number = cluster.partition(":")
    most = max(2, os.cpu_count() or 1)
    is_many = number.isdecimal() and (len(number) > 9 or int(number) > most)
    if kind != "local" or is_many:
        why = f"is more than {most} processes" if kind == "local" else "may be anybody's"
        raise KgdashError(
            f"{context.params['config']} has --cluster {cluster:.80}, which {why}: give "
            "--cluster on the command line"
        )


def _is_table(parameter: inspect.Parameter) -> bool:
    """Tell whether a parameter names a file for a table."""
    about = getattr(parameter.annotation, "__metadata__", ())
    checks = [getattr(getattr(each, "callback", None), "__name__", "") for each in about]
    return any(check.endswith("known_extension") for check in checks)


def config_text(context: typer.Context) -> str:
    """Write the options of a call as TOML, in their order, each below what it means.

    :param context: of the call; options without a value stand in comments
    """
    command = _command(context)
    about = (context.command.help or "").split("\n\n")[0]
    lines = [*_comment(about), f'command = "{command}"']
    for key, parameter in _parameters(context).items():
        value = context.params.get(parameter.name)
        empty = value is None or value == () or value == []
        setting = f"# {key} =" if empty else f"{key} = {_toml(value)}"
        lines += ["", *_comment(parameter.help or ""), setting]
    return "\n".join(lines) + "\n"


def read_config(path: Path, context: typer.Context) -> dict[str, Any]:
    """Read the options of a command from a TOML file.

    :return: by parameter, as Typer names them
    :raises KgdashError: if it can not be read, is no TOML or of another command, or an option is
        unknown or has a value of another type: with file, line and what to do
    """
    text = decode_text(read_content(path, str(path), _MAX_BYTES), str(path))
    command = _command(context)
    for number, told in enumerate(text.split("\n"), start=1):
        if told.count(".") > _MAX_POINTS:
            raise KgdashError(f"more than {_MAX_POINTS} points in a line ({path}, line {number})")
    try:
        values = tomllib.loads(text)
        repr(values)  # refuses numbers of thousands of digits, which no message could quote
    except (ValueError, RecursionError) as error:
        raise KgdashError(
            f"{path} is no valid TOML: {error}; kgdash {command} --save-config writes a whole one"
        ) from error
    _check_command(values.pop("command", None), command, path)
    parameters = _parameters(context)
    assert context.command.callback is not None
    hints = inspect.signature(context.command.callback).parameters
    options = {}
    for key, value in values.items():
        line = re.search(rf"(?m)^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=", text)
        where = f"{path}, line {text.count(chr(10), 0, line.start()) + 1}" if line else str(path)
        if key not in parameters:
            if f"--{key}" in OPTIONS.get(command, {}):
                now = OPTIONS[command][f"--{key}"].removeprefix("--")
                raise KgdashError(f"{key} is now {now}: rename it ({where})")
            unknown = unknown_name("option", key, list(parameters), f"kgdash {command}")
            raise KgdashError(f"{unknown} ({where})")
        parameter = parameters[key]
        options[parameter.name] = _checked(
            value, parameter, hints[parameter.name].annotation, f"{key} in {where}"
        )
    return options


def _fill(context: typer.Context, path: Path | None) -> Path | None:
    """Let a file's options stand where the command line has none."""
    if path is not None:
        context.default_map = read_config(path, context)
    return path


def _no_folder(path: Path | None) -> Path | None:
    if path is not None and path.is_dir():
        raise KgdashError(f"can not write {path}: it is a folder; name a file in it")
    return path


_ConfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=_fill,
        help="Read options from this TOML file; those given here win.",
    ),
]
_SaveOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", callback=_no_folder, help="Write all options of this call to a TOML file."
    ),
]
_SafeOption = Annotated[
    bool,
    typer.Option(
        "--safe-csv", help="In CSV and TSV put a ' before texts that spreadsheets would calculate."
    ),
]


def _command(context: typer.Context) -> str:
    """Return what is typed to call the command, without the program: "obl2021 predict"."""
    names, at = [], context
    while at.parent is not None:
        names.append(at.info_name or "")
        at = at.parent  # type: ignore[assignment]
    return " ".join(reversed(names))


def _parameters(context: typer.Context) -> dict[str, Any]:
    """Return arguments and options by what they are called in a file: --per-type is per-type."""
    return {
        key: parameter
        for parameter in context.command.params
        if (key := parameter.opts[0].lstrip("-")) not in ("config", "save-config")
    }


def _check_command(found: object, command: str, path: Path) -> None:
    if found is None:
        raise KgdashError(
            f'expected command = "{command}" in {path}, as --save-config writes it; found none'
        )
    if found != command:
        now = COMMANDS.get(str(found), found)
        if now == command:
            raise KgdashError(f"the command {found!r} is now {now!r}: rename it in {path}")
        raise KgdashError(
            f"{path} holds options of the command {found!r}, not of {command!r}: "
            f"call kgdash {now}, or write a file with kgdash {command} --save-config"
        )


def _checked(value: Any, parameter: Any, annotation: Any, where: str) -> Any:
    """Return a file's value as the command line would have it.

    :raises KgdashError: if it is of another type
    """
    hint = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not NoneType)
    many = get_origin(hint) in (list, tuple)
    kind = get_args(hint)[0] if many else hint
    kind = kind if kind in _VALUES else str
    values = value if isinstance(value, list) else [value]
    allowed = (int, float) if kind is float else (kind,)
    if (
        isinstance(value, list) != many
        or not all(type(item) in allowed for item in values)
        or (parameter.nargs > 1 and len(values) != parameter.nargs)
    ):
        count = f"{parameter.nargs} of " if parameter.nargs > 1 else ""
        expected = f"a list [{count}{_VALUES[kind]}, …]" if many else _VALUES[kind]
        raise KgdashError(f"expected {expected}; found {value!r:.60} ({where})")
    return [kind(item) for item in values] if many else kind(value)


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    # A JSON string is a TOML string, but for one character that TOML wants escaped.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 98, initial_indent="# ", subsequent_indent="# ")
