"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from kgdash.errors import KgdashError
from kgdash.files.extensions import check_extension


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
    str,
    typer.Argument(metavar="RUN", help="A name (kgdash runs), a safe directory or a PyKEEN one."),
]
OutRunArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[OUT]",
        help="Directory to write; must not exist. Default: a new one in the folder of runs.",
    ),
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
WidthOption = Annotated[
    float | None,
    typer.Option(
        help="Draw so many triples that the 95% interval of their mean is no wider than this."
    ),
]
RelikMethodOption = Annotated[str, typer.Option(help="As --method of relik.")]
RunsArgument = Annotated[
    list[str], typer.Argument(metavar="RUN RUN [RUN ...]", help="2 to 8 runs on the same graph.")
]
SubgraphMethodOption = Annotated[str, typer.Option(help="rwr or neighbourhood.")]
RestartOption = Annotated[float, typer.Option(help="Restart probability of the walk.")]
HopsOption = Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")]
DirectionOption = Annotated[str, typer.Option(help="either, outgoing or incoming.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local:N",
        help="Count on a Dask cluster, or in N processes of this machine.",
    ),
]
