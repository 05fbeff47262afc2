"""Triple classification inside subgraphs: how often the model tells true from false there.

Defined in numbers.md#7-triple-classification.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.errors import unknown_name
from kgdash.graph.subgraph import Subgraph
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring.triple_scores import triple_scores
from kgdash.studies.classification.corruption import DRAWS, Candidates, corrupt, everyone
from kgdash.studies.classification.labelled_triples import check_choice, corrupted_split
from kgdash.studies.classification.thresholds import THRESHOLDS, Thresholds, fit_thresholds
from kgdash.studies.reliability.local_comparison import EVALUATED

#: whom the replaced end of a negative is drawn from
CORRUPT = ("inside", "anywhere")

_IDS = ["head", "relation", "tail"]


def accuracies(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluated: str = "test",
    thresholds: str = "global",
    corrupt: str = "inside",
    seed: int = 0,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the accuracy of triple classification in each subgraph.

    Defined in numbers.md#7-triple-classification.

    Positives are the evaluated triples with both ends inside; each has one negative, as
    `local_triples` tells. The threshold is the one with the highest accuracy on validation, with
    negatives out of all entities. A subgraph's row does not depend on the other subgraphs.

    :param subgraphs: of the run's graph
    :param evaluated: "test" or "all"; training triples flatter the model
    :param thresholds: "global" or "relation"
    :param corrupt: "inside" or "anywhere"
    :param seed: of the negatives, ≥ 0
    :param progress: called with (done, total); may raise to cancel
    :return: one row per subgraph: ``labelled`` (int64: positives and negatives judged),
        ``accuracy`` (float64 in [0, 1], NaN where none)
    :raises KgdashError: on an unknown choice, NaN scores, or without validation triples
    """
    first, second = phases(progress, [0.3, 0.7])
    fitted = validation_thresholds(run, thresholds, seed, first)
    judged = local_triples(run, subgraphs, evaluated, corrupt, seed)
    judged["score"] = _scores_of_each(run, judged[_IDS].to_numpy(), second)
    called = fitted.judge(judged["score"].to_numpy(), judged["relation"].to_numpy())
    part, count = judged["subgraph"].to_numpy(), len(subgraphs)
    correct = np.bincount(part, weights=called == judged["label"], minlength=count)
    total = np.bincount(part, minlength=count)
    with np.errstate(invalid="ignore"):
        return pd.DataFrame({"labelled": total, "accuracy": correct / total})


def local_triples(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluated: str = "test",
    corrupt: str = "inside",
    seed: int = 0,
) -> pd.DataFrame:
    """Label the evaluated triples inside each subgraph true, and one corruption of each false.

    The corruption has a new end that makes no known triple: an entity of the subgraph ("inside"),
    so that the negative is inside as well, or any ("anywhere"). A positive that has no such
    corruption is left out.

    :return: ``head, relation, tail`` (int64 ids), ``label`` (bool), ``subgraph`` (int64: position
        in ``subgraphs``): first the positives of all, then their negatives in the same order
    :raises KgdashError: on an unknown choice, or a seed below 0
    """
    check_choice("corrupted", seed)
    if evaluated not in EVALUATED:
        raise unknown_name("choice of evaluated triples", evaluated, list(EVALUATED), "studies")
    if corrupt not in CORRUPT:
        raise unknown_name("choice of candidates", corrupt, list(CORRUPT), "local classification")
    parts = [part.triples(EVALUATED[evaluated]) for part in subgraphs]
    none = np.empty((0, 3), dtype=np.int64)
    positives = np.concatenate([none, *parts])
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    draws = [
        _generator(part, seed).random((len(triples), DRAWS))
        for part, triples in zip(subgraphs, parts, strict=True)
    ]
    negatives, found = _corrupted(
        run, subgraphs, positives, owner, np.concatenate([np.empty((0, DRAWS)), *draws]), corrupt
    )
    table = pd.DataFrame(np.concatenate([positives[found], negatives[found]]), columns=_IDS)
    table["label"] = np.repeat([True, False], int(found.sum()))
    table["subgraph"] = np.tile(owner[found], 2)
    return table


def validation_thresholds(
    run: Run, thresholds: str = "global", seed: int = 0, progress: Progress = silent
) -> Thresholds:
    """Choose the thresholds on validation, with negatives out of all entities.

    :raises KgdashError: on an unknown choice, NaN scores, or without validation triples
    """
    if thresholds not in THRESHOLDS:
        raise unknown_name("kind of thresholds", thresholds, list(THRESHOLDS), "classification")
    valid = corrupted_split(run.graph, "valid", seed=seed)
    scores = triple_scores(run.scorer, valid[_IDS].to_numpy(), progress)
    return fit_thresholds(
        scores,
        valid["label"].to_numpy(),
        valid["relation"].to_numpy(),
        run.graph.num_relations,
        thresholds,
    )


def judge_subgraph(
    run: Run,
    subgraph: Subgraph,
    fitted: Thresholds,
    evaluated: str = "test",
    corrupt: str = "inside",
    seed: int = 0,
) -> pd.DataFrame:
    """Judge the labelled triples of one subgraph by thresholds that there are already.

    :param fitted: of `classify` or `validation_thresholds`
    :return: as `local_triples`, and ``score`` (float64), ``called`` (bool)
    :raises KgdashError: as `accuracies`
    """
    judged = local_triples(run, [subgraph], evaluated, corrupt, seed).drop(columns="subgraph")
    judged["score"] = triple_scores(run.scorer, judged[_IDS].to_numpy())
    judged["called"] = fitted.judge(judged["score"].to_numpy(), judged["relation"].to_numpy())
    return judged


def _generator(subgraph: Subgraph, seed: int) -> np.random.Generator:
    entities = np.sort(subgraph.entities).astype("<i8")
    digest = hashlib.sha256(entities.tobytes()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def _corrupted(
    run: Run,
    subgraphs: Sequence[Subgraph],
    positives: np.ndarray,
    owner: np.ndarray,
    draws: np.ndarray,
    among: str,
) -> tuple[np.ndarray, np.ndarray]:
    graph = run.graph
    if among == "anywhere":
        candidates, owner = everyone(graph), np.zeros_like(owner)
    else:
        keys = [
            number * graph.num_entities + np.unique(part.entities)
            for number, part in enumerate(subgraphs)
        ]
        together = np.concatenate([np.empty(0, dtype=np.int64), *keys])
        candidates = Candidates(together, len(subgraphs), graph.num_entities)
    both = {"head": candidates, "tail": candidates}
    return corrupt(graph.known(), positives, draws, both, owner)


def _scores_of_each(run: Run, triples: np.ndarray, progress: Progress) -> np.ndarray:
    """Score triples, each distinct one once: subgraphs overlap."""
    distinct, inverse = np.unique(triples, axis=0, return_inverse=True)
    return triple_scores(run.scorer, distinct, progress)[inverse.reshape(-1)]
