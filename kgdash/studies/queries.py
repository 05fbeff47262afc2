"""Query instances sampled from the graph: hard true answers, and false ones beside them (§8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances import Instances
from kgdash.studies.query_beam import Beam
from kgdash.studies.query_instances import query_instances
from kgdash.studies.query_sampling import draw_queries
from kgdash.studies.query_types import PAPER_TYPES


def sample_queries(
    graph: KnowledgeGraph,
    types: Sequence[str] = PAPER_TYPES,
    per_type: int = 50,
    hard: str = "outside train",
    seed: int = 0,
    max_chains: int = 10,
    max_answers: int = 1000,
    beam: Beam | None = None,
    progress: Progress = silent,
) -> Instances:
    """Sample queries, each with one hard true answer and one false one (§8).

    Queries are those of `kgdash.studies.query_sampling.draw_queries`, answers and chains those of
    `kgdash.studies.query_instances.query_instances`, whose parameters these are.

    :return: groups are the types; two instances per query
    :raises KgdashError: as these two
    """
    first, second = phases(progress, [1.0, 20.0 if beam else 1.0])
    drawn = draw_queries(graph, types, per_type, hard, seed, max_answers, progress=first)
    instances = query_instances(
        graph, drawn, seed=seed, max_chains=max_chains, beam=beam, progress=second
    )
    notes = [
        f"{kind}: {len(asked)} of {per_type} queries found; the graph has few with an answer {hard}"
        for kind, asked in drawn.items()
        if len(asked) < per_type
    ]
    return replace(instances, notes=(f"hard means {hard}", *notes, *instances.notes))
