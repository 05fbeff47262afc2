"""The command ``import-queries``: published sets of queries as one file in a safe form."""

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.options.output import write_or_print
from kgdash.commands.options.terminal import say
from kgdash.files.extensions import check_extension
from kgdash.progress import terminal


def import_queries(
    source: Annotated[
        Path, typer.Argument(help="Folder of Query2box or BetaE, or a JSON, TSV or Parquet file.")
    ],
    out: Annotated[Path, typer.Argument(help="A .parquet, .jsonl or .tsv file to write.")],
    dataset: Annotated[
        str | None,
        typer.Option(help="PyKEEN name or folder; checks names and answers against this graph."),
    ] = None,
    split: Annotated[str, typer.Option(help="Of a folder: test, valid or train.")] = "test",
) -> None:
    """Convert queries with their answers; nothing of a pickle runs."""
    from kgdash.graph.datasets import load_dataset
    from kgdash.studies.queries.files import (
        EXTENSIONS,
        read_named_queries,
        write_named_queries,
    )
    from kgdash.studies.queries.graph_agreement import agreement_notes, graph_agreement
    from kgdash.studies.queries.named_queries import in_graph

    check_extension(out, EXTENSIONS)
    graph = load_dataset(dataset) if dataset else None
    named, notes = read_named_queries(source, str(source), split, terminal("reading queries"))
    if graph is not None:
        asked, more = in_graph(named, graph, str(source))
        checked = graph_agreement(asked, graph, terminal("checking answers"))
        notes += [*more, *agreement_notes(checked, graph.name)]
        write_or_print(checked, None)
    write_named_queries(named, out)
    for note in notes:
        say(f"note: {note}")
    print(f"wrote {len(named):,} queries with {len(named.answers):,} answers to {out}")
