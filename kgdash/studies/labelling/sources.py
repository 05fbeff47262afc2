"""Where predictions to judge come from: rules, mined or of a file, and instances of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instances import Instances
from kgdash.studies.rules.files import read_rules
from kgdash.studies.rules.predictions import Predictions, unlabelled_predictions
from kgdash.studies.rules.selection import in_order, usable_rules
from kgdash.studies.rules.sources import mined_rules

#: groundings shown per prediction and rule
_GROUNDINGS = 3

#: least support of a rule
_SUPPORT = 2


def mined_predictions(
    graph: KnowledgeGraph,
    max_rules: int = 12,
    min_pca: float = 0.3,
    per_rule: int = 10,
    seed: int = 0,
    progress: Progress = silent,
    negatives: np.ndarray | None = None,
) -> Predictions:
    """Take the mined rules with most support, and predictions of theirs that nobody has judged.

    :param max_rules: rules to take, ≥ 1
    :param min_pca: least PCA confidence, in [0, 1]
    :param per_rule: predictions per rule, ≥ 1, a random choice
    :param seed: of the choice
    :param progress: called with (done, total); may raise to cancel
    :param negatives: triples known to be false, which are left out too: int64 ids, ``(n, 3)``
    :raises KgdashError: if train is empty or a number is out of range
    """
    first, second = phases(progress, [0.8, 0.2])
    rules = mined_rules(graph, min_pca, _SUPPORT, first)
    return _predictions(graph, rules, max_rules, per_rule, seed, negatives, second)


def file_predictions(
    graph: KnowledgeGraph,
    source: str | Path | bytes,
    max_rules: int = 12,
    min_pca: float = 0.3,
    per_rule: int = 10,
    seed: int = 0,
    progress: Progress = silent,
    negatives: np.ndarray | None = None,
    name: str | None = None,
) -> Predictions:
    """Take the rules of a file with most support; else like `mined_predictions`.

    :param source: path or content of a file that `kgdash.studies.rules.files.read_rules` reads
    :param name: what to call the file in messages
    :raises KgdashError: also if the file is malformed, or no rule is confident enough
    """
    first, second, third = phases(progress, [0.3, 0.2, 0.5])
    read = read_rules(source, graph, name, first)
    rules = usable_rules(graph, read.table, _SUPPORT, min_pca, second)
    return _predictions(graph, rules, max_rules, per_rule, seed, negatives, third)


def instance_predictions(instances: Instances) -> Predictions:
    """Take instances as predictions to judge anew; the labels that they have are not shown."""
    rows = instances.triples.drop(columns=["label", "predicted_side"])
    heads = rows[rows["is_answer_triple"]].drop_duplicates("instance", keep="last")
    about = instances.table[["instance", "question", "answer", "groundings"]]
    columns = ["instance", "group", "head", "relation", "tail"]
    return Predictions(rows, heads[columns].merge(about, on="instance"))


def _predictions(
    graph: KnowledgeGraph,
    rules: pd.DataFrame,
    max_rules: int,
    per_rule: int,
    seed: int,
    negatives: np.ndarray | None,
    progress: Progress,
) -> Predictions:
    if max_rules < 1:
        raise KgdashError(f"expected at least one rule; found {max_rules}")
    return unlabelled_predictions(
        graph,
        in_order(rules, "support").head(max_rules),
        per_rule,
        seed,
        negatives,
        max_groundings=_GROUNDINGS,
        progress=progress,
    )
