"""Loading what a command asks of, printing and writing what it answers."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import typer

from kgdash.commands.options.terminal import tell_notes, unbroken
from kgdash.errors import KgdashError
from kgdash.files.table import row_parts, to_csv, with_texts, write_table

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.graph.entity_types import EntityTypes
    from kgdash.runs import Run

#: options that say where things are, and how they are shown
_OF_HERE = ("results", "workdir", "out", "as_json", "config", "save_config")

#: options that name files to write
_WRITTEN = ("out", "save", "save_rules", "save_instances", "suspicious", "plausible", "report")

#: where Click says that an option is from which a file by --config has
_OF_A_FILE = "DEFAULT_MAP"

#: options that name folders to write files in, and what is written further
_FOLDERS, _GONE_ON_WITH = ("results",), ("study", "workdir")

#: files of a run's folder, which an output does not replace
_OF_RUNS = (
    "run.json",
    "graph.json",
    "triples.safetensors",
    "weights.safetensors",
    "groupings.json",
)

#: runs that --with takes
_MOST_OTHERS = 100

#: rows of a table that are printed at once
_AT_ONCE = 1_000


def load_run(source: str, dataset: str | None) -> Run:
    """Load a run and print its notes to standard error.

    :raises KgdashError: as `kgdash.runs.loading.load`
    """
    from kgdash.runs.loading import load

    run = load(source, dataset)
    tell_notes(run.notes)
    return run


def load_types(types: Path, graph: KnowledgeGraph) -> EntityTypes:
    """Read a file of entity types, and tell on standard error how many lines are left out.

    :raises KgdashError: as `kgdash.graph.entity_types.read_entity_types`
    """
    from kgdash.graph.entity_types import read_entity_types

    found = read_entity_types(types, graph)
    if found.unknown:
        tell_notes([f"{found.unknown:,} lines of {types} name no entity of graph {graph.name}"])
    return found


def load_others(sources: list[str]) -> list[Run]:
    """Load the runs of --with and print their notes to standard error.

    :raises KgdashError: as `kgdash.runs.loading.load`, and before any is loaded if there are more
        than 100
    """
    if len(sources) > _MOST_OTHERS:
        raise KgdashError(f"--with takes {_MOST_OTHERS} runs at most; found {len(sources)}")
    return [load_run(source, None) for source in sources]


def write_new_run(out: Path | None, write: Callable[[Path], Any]) -> None:
    """Let a run be written to ``out``, or into the folder of runs, and say where it is.

    :param write: is given the path of a folder that does not exist
    """
    from kgdash.runs.library import keep_run

    if out is None:
        kept = keep_run(write)
        print(f"wrote {kept}; its name is {kept.name}")
    else:
        write(out)
        print(f"wrote {out}")


def write_or_print(
    table: pd.DataFrame, out: Path | None, index: bool = False, silent: bool = False
) -> None:
    """Write a table to ``out``, or print it tab-separated, on a terminal a line for each row.

    :param silent: nothing is said of the file, since JSON stands alone on standard output
    """
    if out is None:
        for number, part in enumerate(row_parts(table, _AT_ONCE)):
            # In a file quotes hold what a name breaks; on a terminal it would be a row of its own.
            shown = with_texts(part, unbroken) if sys.stdout.isatty() else part
            print(to_csv(shown, separator="\t", index=index, header=number == 0), end="")
        return
    write_table(table, out, index)
    if not silent:
        print(f"wrote {len(table):,} rows to {out}")


def write_rounded(table: pd.DataFrame, out: Path) -> None:
    """Write a table to ``out`` with five digits: more would only differ between machines."""
    numbers = table.select_dtypes("float").columns
    write_table(table.assign(**{c: [float(f"{v:.5g}") for v in table[c]] for c in numbers}), out)


def records(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return tables as JSON holds them, each a list of its rows."""
    return {name: table.to_dict("records") for name, table in tables.items()}


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinities become null."""
    print(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Turn NaN and infinities into null and NumPy numbers into Python's."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_outputs(context: typer.Context) -> None:
    """Refuse outputs that can not be written before anything is computed.

    These are files over one that the same call reads or writes, in a run, or below what is no
    folder, or none to write to; folders where something else stands; and what a configuration alone
    names elsewhere than where the command is called.

    :raises KgdashError: naming the option, or both
    """
    options = {str(p.name): p.opts[0] for p in context.command.params}
    for name in (*_WRITTEN, *_FOLDERS, *_GONE_ON_WITH):
        is_read = name in _GONE_ON_WITH and not options.get(name, "").startswith("--")
        if is_of_a_file(context, name) and context.params[name] is not None and not is_read:
            _check_near(options[name], str(context.params[name]), str(context.params["config"]))
    for name in _FOLDERS:
        if context.params.get(name) is not None:
            _check_place(options[name], str(context.params[name]), is_folder=True)
    written = [name for name in (*_WRITTEN, "save_config") if context.params.get(name) is not None]
    for place, output in enumerate(written):
        path = str(context.params[output])
        _check_place(options[output], path, is_folder=False)
        # A configuration may be saved over the one that it came from.
        others = options.keys() - {*written[: place + 1], *(["config"] * (output == "save_config"))}
        for name in sorted(others):
            value = context.params[name]
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, str | Path) and _would_replace(path, str(one), name in written):
                    raise KgdashError(
                        f"{options[output]} would replace {path}, which {options[name]} names: "
                        "name another file"
                    )


def is_of_a_file(context: typer.Context, name: str) -> bool:
    """Tell whether an option has its value from a file by --config alone."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == _OF_A_FILE


def _check_near(option: str, path: str, config: str) -> None:
    """Refuse to write elsewhere at the word of a configuration, which may be a stranger's."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(".")):
        raise KgdashError(
            f"{config} has {option} {path}, which is not below this folder: give {option} on the "
            "command line to write there"
        )


def _check_place(option: str, path: str, is_folder: bool) -> None:
    place = Path(path).absolute()
    folders = [place, *place.parents] if is_folder else place.parents
    above = next(filter(os.path.lexists, map(str, folders)))
    if not os.path.isdir(above):
        raise KgdashError(f"can not write {option} {path}: {above} is not a folder")
    # Of one that is there, too: what is new is written beside it, and takes its place.
    is_new = is_folder or os.path.isfile(path) or not os.path.lexists(path)
    if is_new and not os.access(above, os.W_OK):
        raise KgdashError(f"can not write {option} {path}: no permission to write in {above}")


def _would_replace(path: str, other: str, is_written: bool) -> bool:
    """Tell whether a path is another one, or a file of the run in the folder of that name."""
    try:
        if is_written and os.path.realpath(path) == os.path.realpath(other):
            return True
        if os.path.basename(path) in _OF_RUNS and os.path.isdir(other):
            other = os.path.join(other, os.path.basename(path))
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def command_text(context: typer.Context) -> str:
    """Write a call as a line for a shell, files without their place: that is of this machine."""
    words = ["kgdash", str(context.info_name)]
    for param in context.command.params:
        name = str(param.name)
        source = context.get_parameter_source(name)
        if name in _OF_HERE or source is None or source.name not in ("COMMANDLINE", _OF_A_FILE):
            continue
        value = context.params[name]
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [] if param.param_type_name == "argument" else [param.opts[0]]
            path = Path(str(one)).absolute()
            said = path.name if path.exists() else str(one)
            # By its name alone a folder could be taken for an option.
            words += [] if isinstance(one, bool) else [f"./{said}" if said[:1] == "-" else said]
    return shlex.join(words)
