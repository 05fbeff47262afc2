"""Rules of a file and their labelled predictions, in one step (numbers.md#9-rules)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instances import Instances
from kgdash.studies.rules.files import read_rules
from kgdash.studies.rules.selection import chosen_instances, usable_rules


def rule_file_instances(
    graph: KnowledgeGraph,
    source: str | Path | bytes,
    max_rules: int = 12,
    min_pca: float = 0.3,
    per_rule: int = 30,
    seed: int = 0,
    progress: Progress = silent,
    min_support: int = 2,
    order: str = "support",
    negatives: np.ndarray | None = None,
    name: str | None = None,
) -> Instances:
    """Take rules of a file in an order whose predictions have both labels.

    Other parameters as of `kgdash.studies.rules.sources.mined_instances`.

    :param source: path or content of a file that `read_rules` reads
    :param name: what to call the file in messages
    :return: groups are the rules; the notes begin with what was left out of the file
    :raises KgdashError: as `read_rules`, `usable_rules` and `chosen_instances`
    """
    first, second, third = phases(progress, [0.3, 0.2, 0.5])
    read = read_rules(source, graph, name, first)
    rules = usable_rules(graph, read.table, min_support, min_pca, second)
    found = chosen_instances(graph, rules, max_rules, per_rule, order, negatives, seed, third)
    return replace(found, notes=(*read.notes, *found.notes))
