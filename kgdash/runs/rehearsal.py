"""Trying a configuration on next to nothing, before it is trained."""

from dataclasses import replace

import torch

from kgdash.graph import KnowledgeGraph
from kgdash.graph.datasets import load_dataset
from kgdash.runs.training import TrainingConfig, fit
from kgdash.scoring.build_model import skeleton
from kgdash.scoring.model_spec import ModelSpec
from kgdash.scoring.reckoned_memory import most_bytes

#: triples and negatives of a batch
_BATCH, _FEW = 64, 4

#: weights, bytes that a batch takes, and modules that are many
_WEIGHTS, _BYTES, _MODULES = 2**21, 2**27, 100


def rehearse(config: TrainingConfig) -> None:
    """Train one epoch on a few triples of Nations: in tenths of a second it says what is wrong.

    A few negatives stand for many. A large model is only built, without weights: whoever asks may
    be a server that has others to answer.

    :raises KgdashError: if the configuration is not one that PyKEEN can train
    """
    graph = load_dataset("nations")
    few = replace(graph, splits={split: rows[:200] for split, rows in graph.splits.items()})
    if is_large(config.spec(), few):
        return
    sampler = dict(config.negative_sampler_kwargs)
    if type(many := sampler.get("num_negs_per_pos")) is int:
        sampler["num_negs_per_pos"] = min(many, _FEW)
    # Some models refuse batches larger than what there is.
    size = min(config.batch_size or _BATCH, _BATCH)
    fit(few, replace(config, epochs=1, batch_size=size, negative_sampler_kwargs=sampler))


def is_large(spec: ModelSpec, graph: KnowledgeGraph) -> bool:
    """Tell whether a model on a graph has many weights or parts, or takes much for a batch.

    :raises KgdashError: if PyKEEN can not build it
    """
    sizes = graph.num_entities, graph.num_relations
    model = skeleton(spec, graph.splits["train"], *sizes, "train")
    batch = torch.zeros((_BATCH * (1 + _FEW), 3), dtype=torch.long, device="meta")
    taken = most_bytes(lambda: model.score_hrt(batch)) or 0
    weights = sum(each.numel() for each in model.parameters())
    return weights > _WEIGHTS or taken > _BYTES or len(list(model.modules())) > _MODULES
