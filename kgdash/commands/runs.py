"""The commands ``runs`` and ``import``: all runs by name, and a safe copy of a PyKEEN directory."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from kgdash.commands.options.common import DatasetOption, JsonOption, OutRunArgument
from kgdash.commands.options.output import print_json, write_new_run


def runs(as_json: JsonOption = False) -> None:
    """List the runs that go by a name: yours, in the folder of runs, and the bundled ones."""
    from kgdash.runs.library import list_runs

    rows = list_runs()
    if as_json:
        print_json({"runs": rows})
    else:
        print(pd.DataFrame(rows).astype(object).fillna("–").to_string(index=False))


def import_run(
    directory: Annotated[Path, typer.Argument(help="As PyKEEN's save_to_directory wrote it.")],
    out: OutRunArgument = None,
    dataset: DatasetOption = None,
) -> None:
    """Convert a PyKEEN directory to the safe form; nothing of its pickle runs."""
    from kgdash.runs.loading import convert

    write_new_run(out, lambda folder: convert(directory, folder, dataset))
