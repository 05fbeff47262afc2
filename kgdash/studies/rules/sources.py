"""Rules mined from the train graph and their labelled predictions, in one step.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instances import Instances
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.selection import check_choice, chosen_instances


def mined_rules(
    graph: KnowledgeGraph,
    min_pca: float = 0.3,
    min_support: int = 2,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Mine the train graph, or return what was mined before; see `mine_rules`.

    :param min_pca: least PCA confidence, in [0, 1]
    :param min_support: least support, ≥ 1
    """
    key = {"kind": "rules", "version": 2, "graph": graph.digest, "min_pca": min_pca}
    key |= {"min_support": min_support}
    return cached_table(
        key,
        lambda: mine_rules(graph, min_support, min_pca=min_pca, progress=progress),
        {"kind": "rules", "graph": graph.name, "method": f"PCA confidence from {min_pca:g}"},
        progress,
    )


def mined_instances(
    graph: KnowledgeGraph,
    max_rules: int = 12,
    min_pca: float = 0.3,
    per_rule: int = 30,
    seed: int = 0,
    progress: Progress = silent,
    min_support: int = 2,
    order: str = "support",
    negatives: np.ndarray | None = None,
) -> Instances:
    """Take mined rules in an order whose predictions have both labels.

    :param graph: rules are mined on train, their predictions labelled by valid and test
    :param max_rules: rules to keep, ≥ 1; fewer where too few have both labels
    :param min_pca: least PCA confidence, in [0, 1]
    :param per_rule: instances per rule and label, ≥ 1
    :param seed: of the choice of instances
    :param progress: called with (done, total); may raise to cancel
    :param min_support: least support, ≥ 1
    :param order: see `kgdash.studies.rules.selection.chosen_instances`
    :param negatives: triples known to be false; None for the closed world
    :return: groups are the rules
    :raises KgdashError: if train is empty, a number is out of range or the order is unknown
    """
    check_choice(order, max_rules)
    first, second = phases(progress, [0.8, 0.2])
    rules = mined_rules(graph, min_pca, min_support, first)
    return chosen_instances(graph, rules, max_rules, per_rule, order, negatives, seed, second)
