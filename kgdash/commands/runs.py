"""The commands ``runs`` and ``import``: the bundled runs, and a safe copy of a PyKEEN directory."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from kgdash.commands.options.common import DatasetOption, JsonOption
from kgdash.commands.options.output import print_json


def runs(as_json: JsonOption = False) -> None:
    """List the bundled runs."""
    from kgdash.runs.bundled import bundled_runs

    rows = bundled_runs()
    if as_json:
        print_json({"runs": rows})
    else:
        print(pd.DataFrame(rows).to_string(index=False))


def import_run(
    directory: Annotated[Path, typer.Argument(help="As PyKEEN's save_to_directory wrote it.")],
    out: Annotated[Path, typer.Argument(help="Directory to write; must not exist.")],
    dataset: DatasetOption = None,
) -> None:
    """Convert a PyKEEN directory to the safe form; nothing of its pickle runs."""
    from kgdash.runs.loading import convert

    print(f"wrote {convert(directory, out, dataset)}")
