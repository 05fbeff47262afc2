"""``kgdash import``: a PyKEEN directory in our own form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.shared import DatasetOption


def import_run(
    directory: Annotated[Path, typer.Argument(help="As PyKEEN's save_to_directory wrote it.")],
    out: Annotated[Path, typer.Argument(help="Directory to write; must not exist.")],
    dataset: DatasetOption = None,
) -> None:
    """Convert a PyKEEN directory to the safe form; nothing of its pickle runs."""
    from kgdash.runs.loading import convert

    print(f"wrote {convert(directory, out, dataset)}")
