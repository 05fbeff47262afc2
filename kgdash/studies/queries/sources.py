"""Instances of queries, sampled from the graph or read from a file (numbers.md#8-queries)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instances import Instances
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.files import ReadQueries, read_queries
from kgdash.studies.queries.graph_agreement import agreement_notes, graph_agreement
from kgdash.studies.queries.query_instances import AnswerSampling, query_instances
from kgdash.studies.queries.sampling import QuerySampling, draw_queries


def sample_queries(
    graph: KnowledgeGraph,
    sampling: QuerySampling | None = None,
    max_paths: int = 10,
    beam: Beam | None = None,
    progress: Progress = silent,
) -> Instances:
    """Sample queries, each with one hard true answer and one false one (numbers.md#8-queries).

    :param sampling: as `kgdash.studies.queries.sampling.draw_queries` takes it
    :param max_paths: as of `AnswerSampling`, like ``beam``
    :return: groups are the types; two instances per query
    :raises KgdashError: as `draw_queries` and `query_instances`
    """
    sampling = sampling or QuerySampling()
    answers = AnswerSampling(None, sampling.seed, max_paths, beam)
    first, second = phases(progress, [1.0, _share(beam)])
    drawn = draw_queries(graph, sampling, first)
    made = query_instances(graph, drawn, answers, second)
    notes = [
        f"{kind}: {len(asked)} of {sampling.per_type} queries found; "
        f"the graph has few with an answer {sampling.hard}"
        for kind, asked in drawn.items()
        if len(asked) < sampling.per_type
    ]
    return replace(
        made, notes=(f"true answers need at least one triple {sampling.hard}", *notes, *made.notes)
    )


def queries_of_file(
    graph: KnowledgeGraph,
    source: str | Path | bytes | ReadQueries,
    types: Sequence[str] | None = None,
    sampling: AnswerSampling | None = None,
    name: str | None = None,
    progress: Progress = silent,
) -> Instances:
    """Take queries from a file, each with one hard true answer and one false one.

    Defined in numbers.md#8-queries.

    :param source: as `kgdash.studies.queries.files.read_queries` takes it, or what that returned
    :param sampling: None for fifty queries per type
    :param name: what to call the file in messages
    :return: groups are the types; two instances per query. Notes say whether the file's answers are
        the graph's, and what "hard" means in it
    :raises KgdashError: as reading and `query_instances`; if the file has none of the types
    """
    sampling = sampling or AnswerSampling(per_type=50)
    first, second = phases(progress, [1.0, _share(sampling.beam)])
    asked, notes = source if isinstance(source, tuple) else read_queries(source, graph, name)
    chosen = {kind: asked[kind] for kind in (types or asked) if kind in asked}
    if not chosen:
        raise KgdashError(
            f"{name or 'the file'} has queries of type {', '.join(asked)}; none of the chosen "
            f"{', '.join(types or ())}. Choose another type"
        )
    notes = [*notes, *agreement_notes(graph_agreement(chosen, graph, first), graph.name)]
    made = query_instances(graph, chosen, sampling, second)
    return replace(made, notes=(*notes, *made.notes))


def _share(beam: Beam | None) -> float:
    """Return how much longer making instances takes than finding queries, roughly."""
    return 20.0 if beam else 1.0
