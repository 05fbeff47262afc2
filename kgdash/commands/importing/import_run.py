"""The command ``import``: a PyKEEN directory, another library's embedding, or arrays as a run."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.options.common import OutRunArgument
from kgdash.commands.options.output import write_new_run
from kgdash.commands.options.terminal import say
from kgdash.errors import KgdashError
from kgdash.progress import terminal

_PYKEEN = "pykeen"


def import_run(
    directory: Annotated[Path, typer.Argument(help="A folder, or of some formats a file.")],
    out: OutRunArgument = None,
    dataset: Annotated[
        str | None, typer.Option(help="What it was trained on: PyKEEN name or folder.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--from",
            help="pykeen, arrays, word2vec, dglke, torchkge, openke, libkge, pbg, graphvite, "
            "ampligraph.",
        ),
    ] = _PYKEEN,
    interaction: Annotated[
        str | None, typer.Option(help="What scores vectors: dot, DistMult, ComplEx, TransE, …")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="Of complex numbers as reals: halves (default), interleaved.")
    ] = None,
    norm: Annotated[int | None, typer.Option(help="Of TransE, RotatE, PairRE: 1 or 2.")] = None,
    names: Annotated[
        Path | None, typer.Option(help="Folder of the lists of names, if not with the vectors.")
    ] = None,
    unit: Annotated[
        bool | None, typer.Option("--unit/--no-unit", help="Scale vectors to length 1 first.")
    ] = None,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out rows that the dataset lacks.")
    ] = False,
    reported: Annotated[
        list[str] | None,
        typer.Option(help="What was reported of test, to compare: mrr=0.31, or a JSON file."),
    ] = None,
) -> None:
    """Convert a trained model or an embedding to the safe form; nothing of a pickle runs."""
    from kgdash.formats.embeddings.options import Options
    from kgdash.runs.importing import import_embedding
    from kgdash.runs.loading import convert
    from kgdash.runs.reported import read_reported

    claims = read_reported(reported or [])
    options = Options(interaction, layout, norm, names, unit)
    if form == _PYKEEN and (options != Options() or drop_unknown):
        raise KgdashError(
            "a PyKEEN directory says itself how it is scored: leave out --interaction, "
            "--layout, --norm, --names, --unit and --drop-unknown, or give --from"
        )

    def write(folder: Path) -> None:
        if form == _PYKEEN:
            convert(directory, folder, dataset)
        else:
            run = import_embedding(directory, folder, form, dataset, options, drop_unknown)
            for note in run.notes:
                say(f"note: {note}")
        if claims:
            _compare(folder, claims)

    write_new_run(out, write)


def _compare(folder: Path, claims: dict[str, Decimal | float]) -> None:
    """Print reported metrics beside those found, and what explains the difference."""
    from kgdash.runs.loading import load
    from kgdash.runs.reported import check_reported

    check = check_reported(load(folder), claims, terminal("ranking"))
    print(check.table.round(4).to_string(index=False))
    print(f"nearest protocol: {check.protocol}")
    for finding in check.findings:
        print(f"check: {finding}")
