"""The command ``queries``: ReliK of true against false answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.output import (
    DatasetOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
)
from kgdash.commands.separated import ChainsOption, compare_labels
from kgdash.progress import terminal


def queries(
    run: RunArgument,
    dataset: DatasetOption = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            help="1p, 2p, 3p, 2i, 3i, pi, ip, 2u or up; repeat for several. Default: the first "
            "five, or all that --file has.",
        ),
    ] = None,
    per_type: Annotated[int, typer.Option(help="Queries per type.")] = 50,
    hard: Annotated[
        str, typer.Option(help='Where true answers do not hold: "outside train" or with valid.')
    ] = "outside train",
    seed: SeedOption = 0,
    max_answers: Annotated[
        int, typer.Option(help="Most entities that a sampled query may reach by any step.")
    ] = 1000,
    backwards: Annotated[
        bool, typer.Option("--backwards", help="Sampled queries follow relations both ways.")
    ] = False,
    intermediates: Annotated[
        str, typer.Option(help="Entities between anchors and answer: of the graph or the model.")
    ] = "graph",
    beam: Annotated[int, typer.Option(help="With the model: entities kept after a step.")] = 10,
    file: Annotated[
        Path | None,
        typer.Option(
            help="Queries of a JSON, TSV or Parquet file, or a Query2box or BetaE folder."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the sampled queries with all answers (.jsonl, .tsv, .parquet)."),
    ] = None,
    chains: ChainsOption = "best",
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Compare ReliK of queries' true and false answers (--out: per instance)."""
    from kgdash.studies.queries import queries_of_file, sample_queries
    from kgdash.studies.query_beam import beam_for
    from kgdash.studies.query_files import check_extension, write_queries
    from kgdash.studies.query_sampling import draw_queries
    from kgdash.studies.query_types import PAPER_TYPES

    if save is not None:
        check_extension(save)
    loaded = load_run(run, dataset)
    model, show = beam_for(loaded.scorer, intermediates, beam), terminal("finding instances")
    if file is not None:
        found = queries_of_file(
            loaded.graph, file, types, per_type, seed, beam=model, name=str(file), progress=show
        )
    else:
        chosen = tuple(types) if types else PAPER_TYPES
        drawing = (loaded.graph, chosen, per_type, hard, seed)
        if save is not None:
            asked = draw_queries(*drawing, max_answers, backwards)
            write_queries(asked, loaded.graph, save)
        found = sample_queries(
            *drawing,
            max_answers=max_answers,
            follow_backwards=backwards,
            beam=model,
            progress=show,
        )
    compare_labels(loaded, found, chains, as_json, out)
