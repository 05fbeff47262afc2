"""What makes a LaTeX table of the command ``metrics``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kgdash.commands.options.output import load_others
from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.files.extensions import TABLES, check_extension
from kgdash.progress import terminal


def _known_extension(out: Path | None) -> Path | None:
    """Refuse a file that could not be written before anything is computed for it."""
    if out is not None:
        check_extension(out, (*TABLES, ".tex"))
    return out


LatexOption = Annotated[
    bool, typer.Option("--latex", help="Print the main metrics as a LaTeX table.")
]
WithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with", help="Another run of the same graph in the LaTeX table; repeat for several."
    ),
]
MetricsOutOption = Annotated[
    Path | None,
    typer.Option(
        help="Write a table here (.csv, .tsv, .parquet, or .tex).", callback=_known_extension
    ),
]


def latex(
    run: Any, compared: list[str] | None, out: Path | None, split: str, filter: str, only: Any
) -> None:
    """Print or write the main metrics of some runs as LaTeX; the best of several are bold.

    :param compared: other runs, as the command line names them
    :param only: the `kgdash.graph.restriction.Restriction`
    :raises KgdashError: if a run is of another graph, two have one name, or a file is no .tex
    """
    from kgdash.ranking.latex_table import latex_caption, latex_table
    from kgdash.ranking.main_table import evaluated_text, main_table
    from kgdash.ranking.metrics import metrics

    if out is not None and out.suffix != ".tex":
        raise KgdashError(f"expected an output file in .tex for LaTeX; found {out}")
    values = {}
    for one in _runs(run, compared or []):
        ranks = one.ranks(
            split=split, filter=filter, progress=terminal(f"ranks of {one.name}"), restriction=only
        )
        values[one.name] = metrics(ranks)
    table, left = main_table(values), only.count(run.graph, run.graph.split(split))
    evaluated = evaluated_text(run.graph.name, split, filter, left["triples"], left["entities"])
    text = latex_table(table, latex_caption(table, evaluated))
    if out is None:
        print(text, end="")
        return
    write_atomically(out, lambda part: part.write_text(text, encoding="utf-8"))
    print(f"wrote {out}")


def _runs(first: Any, others: list[str]) -> list[Any]:
    """Load the other runs; all must be of one graph, each with a name of its own."""
    runs = [first]
    for other in load_others(others):
        if other.graph.digest != first.graph.digest:
            raise KgdashError(
                f"{other.name} is of another graph than {first.name}: a table has runs of one graph"
            )
        if other.name in [run.name for run in runs]:
            raise KgdashError(f"two runs are called {other.name}: rename the folder of one")
        runs.append(other)
    return runs
