"""Where predictions to judge come from: rules, mined or of a file, and instances of a table."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from kgdash.graph import IDS, KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.instances.instances import Instances
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.predictions import Predictions, PredictionSampling, unlabelled_predictions
from kgdash.studies.rules.rule_table import Rules
from kgdash.studies.rules.selection import RuleSelection, in_order
from kgdash.studies.rules.sources import find_rules

#: what is judged where nothing else is chosen
JUDGED = RuleSelection(per_rule=10)

#: groundings shown per prediction and rule
_GROUNDINGS = 3


def predictions_to_judge(
    graph: KnowledgeGraph,
    selection: RuleSelection,
    file: RuleFile | Rules | None = None,
    negatives: np.ndarray | None = None,
    progress: Progress = silent,
) -> Predictions:
    """Take the first rules in an order, and predictions of theirs that are no fact.

    :param selection: ``per_rule`` predictions of each rule
    :param file: of rules to take in place of mined ones, or what `find_rules` made of it
    :param negatives: triples known to be false, which are left out too: int64 ids, ``(n, 3)``
    :raises KgdashError: as `find_rules`; if train is empty
    """
    first, second = phases(progress, [0.8, 0.2] if file is None else [0.5, 0.5])
    rules = find_rules(graph, selection, file, first)
    rules = in_order(rules, selection.order).take(slice(selection.max_rules))
    sampling = PredictionSampling(selection.per_rule, _GROUNDINGS, seed=selection.seed)
    found = unlabelled_predictions(graph, rules.rules, sampling, negatives, second)
    return replace(found, notes=rules.notes)


def table_predictions(
    source: Path | bytes, graph: KnowledgeGraph, name: str | None = None
) -> Predictions:
    """Read predictions of a table of instances, as `read_rule_table` does, without their labels."""
    return instance_predictions(read_rule_table(source, graph, name))


def instance_predictions(instances: Instances) -> Predictions:
    """Take instances as predictions to judge anew; the labels that they have are not shown."""
    rows = instances.triples.drop(columns=["label", "predicted_side"])
    heads = rows[rows["is_answer_triple"]].drop_duplicates("instance", keep="last")
    about = instances.table[["instance", "question", "answer", "groundings"]]
    columns = ["instance", "group", *IDS]
    return Predictions(rows, heads[columns].merge(about, on="instance"))
