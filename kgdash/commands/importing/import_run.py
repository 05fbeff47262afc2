"""The command ``import``: a PyKEEN directory, another library's embedding, or arrays as a run."""

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.options.common import OutRunArgument
from kgdash.commands.options.output import write_new_run
from kgdash.errors import KgdashError

_PYKEEN = "pykeen"


def import_run(
    directory: Annotated[Path, typer.Argument(help="A folder, or of some formats a file.")],
    out: OutRunArgument = None,
    dataset: Annotated[
        str | None, typer.Option(help="What it was trained on: PyKEEN name or folder.")
    ] = None,
    form: Annotated[str, typer.Option("--from", help="What wrote it: pykeen, arrays.")] = _PYKEEN,
    interaction: Annotated[
        str | None, typer.Option(help="What scores arrays: dot, DistMult, ComplEx, TransE, …")
    ] = None,
    layout: Annotated[
        str, typer.Option(help="Of complex numbers given as reals: halves or interleaved.")
    ] = "halves",
    norm: Annotated[int | None, typer.Option(help="Of TransE, RotatE, PairRE: 1 or 2.")] = None,
    names: Annotated[
        Path | None, typer.Option(help="Folder of the lists of names, if not with the vectors.")
    ] = None,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out rows that the dataset lacks.")
    ] = False,
) -> None:
    """Convert a trained model or an embedding to the safe form; nothing of a pickle runs."""
    if form == _PYKEEN:
        from kgdash.runs.loading import convert

        if interaction or norm or names or drop_unknown:
            raise KgdashError(
                "a PyKEEN directory says itself how it is scored: leave out --interaction, --norm, "
                "--names and --drop-unknown, or give --from"
            )
        write_new_run(out, lambda folder: convert(directory, folder, dataset))
        return
    from kgdash.formats.embeddings.options import Options
    from kgdash.runs.importing import import_embedding

    options = Options(interaction, layout, norm, names)

    def write(folder: Path) -> None:
        run = import_embedding(directory, folder, form, dataset, options, drop_unknown)
        for note in run.notes:
            print(f"note: {note}")

    write_new_run(out, write)
