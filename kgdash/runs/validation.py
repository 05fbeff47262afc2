"""How good a model is on validation while it is trained; test triples are not read."""

from collections.abc import Mapping

import numpy as np
import torch

from kgdash.graph import FILTERS, KnowledgeGraph
from kgdash.ranking.metrics import mean_reciprocal_rank
from kgdash.ranking.ranks import rank_triples
from kgdash.runs.loading import assemble
from kgdash.scoring.model_spec import ModelSpec

#: what a model is judged by: ranks of the validation triples, both sides pooled, realistic
METRIC, SPLIT, FILTER = "inverse_harmonic_mean_rank", "valid", "train+valid"

#: validation triples that a check during training ranks at most
MOST_CHECKED = 2_000


def validation_mrr(
    graph: KnowledgeGraph,
    spec: ModelSpec,
    state: Mapping[str, torch.Tensor],
    most: int | None = None,
) -> float:
    """Return the MRR of a model on valid, filtered by train and valid, as a written run has it.

    :param graph: its test triples are not read
    :param state: the model's weights, as `kgdash.scoring.build_model.scoring_state` has them
    :param most: of so many validation triples at most, evenly spread over them; default: all
    """
    run = assemble("trial", graph, spec, state, {}, {})
    rows = graph.split(SPLIT)
    if most is not None and len(rows) > most:
        rows = rows[np.arange(most) * len(rows) // most]
    known = graph.known_with(rows, FILTERS[FILTER])
    return mean_reciprocal_rank(rank_triples(run.scorer, rows, known), ("head", "tail"))
