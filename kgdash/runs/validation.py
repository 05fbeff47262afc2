"""How good a model is on validation while it is trained; test triples are not read."""

from typing import Any

import numpy as np

from kgdash.graph import FILTERS, KnowledgeGraph
from kgdash.ranking.metrics import mean_reciprocal_rank
from kgdash.ranking.ranks import rank_triples
from kgdash.runs.loading import assemble
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.build_model import scoring_state

#: what a model is judged by: ranks of the validation triples, both sides pooled, realistic
METRIC, SPLIT, FILTER = "inverse_harmonic_mean_rank", "valid", "train+valid"


def validation_mrr(
    graph: KnowledgeGraph, config: TrainingConfig, model: Any, most: int | None = None
) -> float:
    """Return the MRR of a model on valid, filtered by train and valid, as a written run has it.

    :param graph: its test triples are not read
    :param model: the PyKEEN model that ``config`` trains
    :param most: of so many validation triples at most, evenly spread over them; default: all
    """
    run = assemble("trial", graph, config.spec(), scoring_state(model), {}, {})
    rows = graph.split(SPLIT)
    if most is not None and len(rows) > most:
        rows = rows[np.arange(most) * len(rows) // most]
    known = graph.known_with(rows, FILTERS[FILTER])
    return mean_reciprocal_rank(rank_triples(run.scorer, rows, known), ("head", "tail"))
