"""The command ``queries``: ReliK of true against false answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgdash.commands.options.common import SeedOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.separation import SeparationOptions, compare_labels
from kgdash.errors import KgdashError
from kgdash.files.extensions import check_extension
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.studies.queries.sampling import QuerySampling


def queries(
    run: RunOptions,
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
    *,
    context: typer.Context,
    options: SeparationOptions,
) -> None:
    """Compare ReliK of queries' true and false answers (--out: per instance)."""
    from kgdash.studies.queries.beam import beam_for
    from kgdash.studies.queries.query_instances import AnswerSampling
    from kgdash.studies.queries.query_types import PAPER_TYPES
    from kgdash.studies.queries.sampling import QuerySampling
    from kgdash.studies.queries.sources import queries_of_file, sample_queries

    if save is not None:
        _check_save(save, file)
    loaded = run.load()
    graph, searching = loaded.graph, beam_for(loaded.scorer, intermediates, beam)
    progress = terminal("finding instances")
    if file is not None:
        answers = AnswerSampling(per_type, seed, beam=searching)
        found = queries_of_file(graph, file, types, answers, str(file), progress)
    else:
        sampling = QuerySampling(types or PAPER_TYPES, per_type, hard, seed, max_answers, backwards)
        if save is not None:
            _write_sampled(graph, sampling, save)
        found = sample_queries(graph, sampling, beam=searching, progress=progress)
    compare_labels(loaded, found, options, context)


def _check_save(save: Path, file: Path | None) -> None:
    from kgdash.studies.queries.files import EXTENSIONS

    check_extension(save, EXTENSIONS)
    if file is not None:
        raise KgdashError(
            "--save writes sampled queries, --file reads queries; "
            "leave one out, or convert files with: kgdash import-queries"
        )


def _write_sampled(graph: KnowledgeGraph, sampling: QuerySampling, save: Path) -> None:
    from kgdash.studies.queries.files import write_queries
    from kgdash.studies.queries.sampling import draw_queries

    write_queries(draw_queries(graph, sampling), graph, save)
