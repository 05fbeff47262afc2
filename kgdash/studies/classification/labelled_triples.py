"""Triples labelled true or false, to classify: those of a split, and as many false ones.

Defined in numbers.md#7-triple-classification.
"""

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.graph import IDS, SPLITS, KnowledgeGraph
from kgdash.studies.classification.corruption import (
    DRAWS,
    all_entities,
    corrupt,
    type_constrained_entities,
)

#: where negatives come from: any entity in place of an end; one that a known triple of the relation
#: has there; or a file of false triples
NEGATIVES = ("corrupted", "relation", "given")


def corrupted_split(
    graph: KnowledgeGraph, split: str, negatives: str = "corrupted", seed: int = 0
) -> pd.DataFrame:
    """Label a split's triples true, and one corruption of each false.

    A triple neither of whose ends can be replaced is left out, so that both labels are equally
    frequent.

    :param split: "valid" or "test" (or "train")
    :param negatives: "corrupted" (the new end is any entity) or "relation" (one that a known triple
        of the relation has in that place: harder)
    :param seed: of the corruption, ≥ 0
    :return: ``head, relation, tail`` (int64 ids), ``label`` (bool): first the n positives, then
        their n negatives in the same order
    :raises KgdashError: if the split holds no triple, none can be corrupted, or on an unknown
        choice
    """
    check_choice(negatives, seed)
    positives = positives_of(graph, split)
    relations = positives[:, 1]
    if negatives == "relation":
        candidates = {side: type_constrained_entities(graph, side) for side in ("head", "tail")}
    else:
        candidates = dict.fromkeys(("head", "tail"), all_entities(graph))
        relations = np.zeros_like(relations)
    draws = np.random.default_rng([seed, SPLITS.index(split)]).random((len(positives), DRAWS))
    false, found = corrupt(graph.known(), positives, draws, candidates, relations)
    if not found.any():
        raise KgdashError(
            f"no triple of split {split!r} of graph {graph.name} can be corrupted: every candidate "
            "makes a known triple; give files of negatives instead"
        )
    return binary_table(positives[found], false[found])


def positives_of(graph: KnowledgeGraph, split: str) -> np.ndarray:
    """Return the triples of a split: int64, ``(n, 3)``, n ≥ 1.

    :raises KgdashError: if there are none
    """
    if not len(graph.splits[split]):
        raise KgdashError(
            f"split {split!r} of graph {graph.name} holds no triples; classification needs valid "
            "to choose its threshold and test to judge: load the run with a dataset that has both"
        )
    return graph.splits[split]


def binary_table(positives: np.ndarray, negatives: np.ndarray) -> pd.DataFrame:
    """Put true and false triples, int64 ``(n, 3)`` each, into one table as `corrupted_split`."""
    table = pd.DataFrame(np.concatenate([positives, negatives]), columns=IDS)
    table["label"] = np.repeat([True, False], [len(positives), len(negatives)])
    return table


def check_choice(negatives: str, seed: int) -> None:
    """Refuse a kind of negatives that there is not, or a seed below 0.

    :raises KgdashError: which says what there is
    """
    check_name("kind of negatives", negatives, NEGATIVES, "classification")
    if seed < 0:
        raise KgdashError(f"expected a seed ≥ 0; found {seed}")
