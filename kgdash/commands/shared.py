"""What the commands share: their arguments, loading a run, printing and writing."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.errors import KgdashError
from kgdash.files.table import check_extension, write_table

if TYPE_CHECKING:
    from kgdash.runs import Run


def known_extension(out: Path | None) -> Path | None:
    """Refuse a file that could not be written before anything is computed for it."""
    if out is not None:
        check_extension(out)
    return out


def _no_negative(seed: int) -> int:
    if seed < 0:
        raise KgdashError(f"expected a seed of at least 0; found {seed}")
    return seed


RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A bundled name, a safe directory or a PyKEEN one.")
]
DatasetOption = Annotated[
    str | None, typer.Option(help="For a PyKEEN directory: its dataset, by name or folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Write a table here (.csv, .tsv or .parquet).", callback=known_extension),
]
SplitOption = Annotated[str, typer.Option(help="train, valid or test.")]
FilterOption = Annotated[
    str | None, typer.Option(help="train+valid+test, train+valid, train+test or none (raw).")
]
RankTypeOption = Annotated[
    str, typer.Option(help="How ties count: optimistic, realistic or pessimistic.")
]
SideOption = Annotated[str, typer.Option(help="head, tail or both.")]
SeedOption = Annotated[
    int, typer.Option(help="Of the random generator, ≥ 0.", callback=_no_negative)
]
LevelOption = Annotated[float, typer.Option(help="Of the intervals, in (0, 1).")]
RelikMethodOption = Annotated[str, typer.Option(help="As --method of relik.")]
RunsArgument = Annotated[
    list[str],
    typer.Argument(metavar="RUN RUN [RUN ...]", help="2 to 8 runs on the same graph."),
]
SubgraphMethodOption = Annotated[str, typer.Option(help="rwr or neighbourhood.")]
RestartOption = Annotated[float, typer.Option(help="Restart probability of the walk.")]
HopsOption = Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")]
DirectionOption = Annotated[str, typer.Option(help="either, outgoing or incoming.")]


def load_run(source: str, dataset: str | None) -> Run:
    """Load a run and print its notes to standard error.

    :raises KgdashError: as `kgdash.runs.loading.load`
    """
    from kgdash.runs.loading import load

    run = load(source, dataset)
    for note in run.notes:
        print(f"note: {note}", file=sys.stderr)
    return run


def write_or_print(table: pd.DataFrame, out: Path | None, index: bool = False) -> None:
    """Write a table to ``out``, or print it tab-separated."""
    if out is None:
        print(table.to_csv(index=index, sep="\t"), end="")
        return
    write_table(table, out, index)
    print(f"wrote {len(table):,} rows to {out}")


def write_rounded(table: pd.DataFrame, out: Path) -> None:
    """Write a table to ``out`` with five digits: more would only differ between machines."""
    numbers = table.select_dtypes("float").columns
    write_table(table.assign(**{c: [float(f"{v:.5g}") for v in table[c]] for c in numbers}), out)


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
