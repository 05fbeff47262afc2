"""From a graph, or a file of rules, to labelled predictions of rules (numbers.md#9-rules)."""

from dataclasses import replace

import numpy as np

from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.studies.instances.instances import Instances
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.mining import MOST_RULES, mine_bodies
from kgdash.studies.rules.rule_table import Rules
from kgdash.studies.rules.selection import RuleSelection, select_instances, usable_rules


def find_rules(
    graph: KnowledgeGraph,
    selection: RuleSelection,
    file: RuleFile | Rules | None = None,
    progress: Progress = silent,
) -> Rules:
    """Mine rules, or read them from a file: those with enough support and PCA confidence.

    They are mined on the train graph. What was mined before is not mined again. Of mined rules the
    first million is kept, by falling PCA confidence, then support; a note says so.

    :param selection: only its ``min_pca`` and ``min_support`` matter
    :param file: to read; rules that this returned before are returned again
    :raises KgdashError: as `mine_bodies`, or as `read_rules` and `usable_rules`
    """
    if isinstance(file, Rules):
        return file
    min_pca, min_support = selection.min_pca, selection.min_support
    if file is not None:
        first, second = phases(progress, [0.6, 0.4])
        return usable_rules(graph, read_rules(file, graph, first), min_support, min_pca, second)
    key = {"kind": "rules", "version": 3, "graph": graph.digest, "min_pca": min_pca}
    table = cached_table(
        key | {"min_support": min_support},
        lambda: mine_bodies(
            graph, min_support, min_pca=min_pca, max_rules=MOST_RULES, progress=progress
        ),
        {"kind": "rules", "graph": graph.name, "method": f"PCA confidence from {min_pca:g}"},
        progress,
    )
    cut = len(table) >= MOST_RULES
    return Rules(graph, table, (f"only the {MOST_RULES:,} most confident rules are kept",) * cut)


def find_instances(
    graph: KnowledgeGraph,
    selection: RuleSelection,
    file: RuleFile | Rules | None = None,
    negatives: np.ndarray | None = None,
    progress: Progress = silent,
) -> Instances:
    """Take rules in an order whose predictions have both labels.

    :param graph: rules are mined on train, their predictions labelled by valid and test
    :param file: of rules to take in place of mined ones, or what `find_rules` made of it
    :param negatives: triples known to be false: int64 ids, ``(n, 3)``; None for the closed world
    :return: groups are the rules; the notes begin with what was left out of the file
    :raises KgdashError: as `find_rules`; if train is empty
    """
    first, second = phases(progress, [0.8, 0.2] if file is None else [0.5, 0.5])
    rules = find_rules(graph, selection, file, first)
    made = select_instances(graph, rules, selection, negatives, second)
    return replace(made, notes=(*rules.notes, *made.notes))
