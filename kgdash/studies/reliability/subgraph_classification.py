"""Triple classification inside subgraphs: how often the model tells true from false there.

Defined in numbers.md#7-triple-classification.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.graph import IDS
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.graph.subgraph import Subgraph
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring.triple_scores import triple_scores
from kgdash.studies.classification.classification import Classification
from kgdash.studies.classification.corruption import DRAWS, Candidates, all_entities, corrupt
from kgdash.studies.classification.labelled_triples import corrupted_split
from kgdash.studies.classification.scores import confusion, metric_table
from kgdash.studies.classification.thresholds import THRESHOLDS, Thresholds, fit_thresholds
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation


@dataclass(frozen=True)
class LocalClassification:
    """What classification and ReliK say of a subgraph.

    ``triples``: of `predict_subgraph`. ``metrics``: ``figure`` (those of classification, then
    "relik": the mean over the known triples inside), ``value``, ``low``, ``high`` (float64;
    bootstrap, NaN for ReliK), ``count`` (int64: triples behind it).
    """

    subgraph: Subgraph
    evaluated: str
    triples: pd.DataFrame
    metrics: pd.DataFrame

    def summary(self) -> dict[str, Any]:
        """Lay it out as JSON can hold it, with names."""
        return {
            **self.subgraph.named(),
            "evaluated": self.evaluated,
            "figures": self.metrics.to_dict("records"),
            "confusion": confusion(self.triples),
            "triples": self.subgraph.graph.with_names(self.triples).to_dict("records"),
        }


def classify_subgraph(
    found: Classification,
    subgraph: Subgraph,
    evaluated: str = "test",
    corrupt: str = "inside",
    relik_method: str = "exact",
    progress: Progress = silent,
) -> LocalClassification:
    """Classify the triples inside a subgraph by thresholds that there are, with their mean ReliK.

    Negatives are corruptions whatever ``found`` took: given ones hardly ever lie inside a subgraph.

    :param found: gives run, thresholds, seed and level
    :param evaluated: "test" or "all": the true triples that are classified
    :param corrupt: "inside" or "anywhere": who may replace an end
    :raises KgdashError: on an unknown choice, or NaN scores
    """
    setting = found.setting
    evaluation = SubgraphEvaluation(evaluated, relik_method, corrupt=corrupt, seed=setting.seed)
    predicted = predict_subgraph(found.run, subgraph, found.fitted, evaluation)
    metrics = metric_table(predicted, True, setting.level, setting.seed)
    metrics["count"] = len(predicted)
    rows, relik, nothing = subgraph.triples(), float("nan"), float("nan")
    if len(rows):
        table = found.run.relik(triples=rows, method=relik_method, progress=progress)
        relik = float(table["relik"].mean())
    metrics.loc[len(metrics)] = ["relik", relik, nothing, nothing, len(rows)]
    return LocalClassification(subgraph, evaluated, predicted, metrics)


def subgraph_accuracies(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    thresholds: str = "global",
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the accuracy of triple classification in each subgraph.

    Defined in numbers.md#7-triple-classification.

    Positives are the evaluated triples with both ends inside; each has one negative, as
    `local_triples` tells. The threshold is the one with the highest accuracy on validation, with
    negatives out of all entities. A subgraph's row does not depend on the other subgraphs.

    :param evaluation: which triples are true, and where their negatives come from
    :param thresholds: "global" or "relation"
    :return: one row per subgraph: ``labelled`` (int64: positives and negatives classified),
        ``accuracy`` (float64 in [0, 1], NaN where none)
    :raises KgdashError: on an unknown choice, NaN scores, or without validation triples
    """
    first, second = phases(progress, [0.3, 0.7])
    fitted = validation_thresholds(run, thresholds, evaluation.seed, first)
    triples = local_triples(run, subgraphs, evaluation)
    scores = _scores_of_each(run, triples[IDS].to_numpy(), second)
    correct = fitted.predict(scores, triples["relation"].to_numpy()) == triples["label"].to_numpy()
    part, count = triples["subgraph"].to_numpy(), len(subgraphs)
    correct = np.bincount(part, weights=correct, minlength=count)
    total = np.bincount(part, minlength=count)
    with np.errstate(invalid="ignore"):
        return pd.DataFrame({"labelled": total, "accuracy": correct / total})


def local_triples(
    run: Run, subgraphs: Sequence[Subgraph], evaluation: SubgraphEvaluation = SubgraphEvaluation()
) -> pd.DataFrame:
    """Label the evaluated triples inside each subgraph true, and one corruption of each false.

    The corruption has a new end that makes no known triple: an entity of the subgraph ("inside"),
    so that the negative is inside as well, or any ("anywhere"). A positive that has no such
    corruption is left out.

    :return: ``head, relation, tail`` (int64 ids), ``label`` (bool), ``subgraph`` (int64: position
        in ``subgraphs``): first the positives of all, then their negatives in the same order
    """
    parts = [part.triples(evaluation.splits) for part in subgraphs]
    none = np.empty((0, 3), dtype=np.int64)
    positives = np.concatenate([none, *parts])
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    draws, ends = np.empty((len(positives), DRAWS)), np.cumsum([len(part) for part in parts])
    for part, start, end in zip(subgraphs, np.append(0, ends), ends, strict=False):
        _generator(part, evaluation.seed).random(out=draws[start:end])
    negatives, found = _corrupted(run, subgraphs, positives, owner, draws, evaluation.corrupt)
    table = pd.DataFrame(np.concatenate([positives[found], negatives[found]]), columns=IDS)
    table["label"] = np.repeat([True, False], int(found.sum()))
    table["subgraph"] = np.tile(owner[found], 2)
    return table


def validation_thresholds(
    run: Run, thresholds: str = "global", seed: int = 0, progress: Progress = silent
) -> Thresholds:
    """Choose the thresholds on validation, with negatives out of all entities.

    :raises KgdashError: on an unknown choice, NaN scores, or without validation triples
    """
    check_name("kind of thresholds", thresholds, THRESHOLDS, "classification")
    valid = corrupted_split(run.graph, "valid", seed=seed)
    scores = triple_scores(run.scorer, valid[IDS].to_numpy(), progress)
    return fit_thresholds(
        scores,
        valid["label"].to_numpy(),
        valid["relation"].to_numpy(),
        run.graph.num_relations,
        thresholds,
    )


def predict_subgraph(
    run: Run,
    subgraph: Subgraph,
    fitted: Thresholds,
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
) -> pd.DataFrame:
    """Predict the labelled triples of one subgraph by thresholds that there are already.

    :param fitted: of `classify` or `validation_thresholds`
    :return: as `local_triples`, and ``score`` (float64), ``predicted`` (bool)
    :raises KgdashError: on NaN scores
    """
    table = local_triples(run, [subgraph], evaluation).drop(columns="subgraph")
    table["score"] = triple_scores(run.scorer, table[IDS].to_numpy())
    table["predicted"] = fitted.predict(table["score"].to_numpy(), table["relation"].to_numpy())
    return table


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
        candidates, owner = all_entities(graph), np.zeros_like(owner)
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
    distinct = distinct_rows(triples)
    return triple_scores(run.scorer, distinct.rows, progress)[distinct.of]
