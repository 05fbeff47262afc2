"""Which of many rules to look at: by their metrics, and by what their predictions turn out as."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.instances.instances import Instances, make_instances
from kgdash.studies.rules.confidence import METRICS, count_rules
from kgdash.studies.rules.predictions import PredictionSampling, rule_instances
from kgdash.studies.rules.rule_table import Rules

#: which rules come first
ORDERS = ("support", "confidence", "both labels")

#: rules tried for each one asked for, since many predict nothing that has a label
_TRIED = 20


#: what stands behind the source of a rule whose metrics are not the file's
COUNTED = ", counted here"


@dataclass(frozen=True)
class RuleSelection:
    """Which rules are taken, and how many of their predictions.

    ``max_rules``: ≥ 1; fewer where too few have predictions of both labels. ``min_pca``: least PCA
    confidence, in [0, 1]; the standard one counts where that is not known. ``min_support``: least
    support, ≥ 1. ``per_rule``: most instances per rule and label, ≥ 1, a random choice. ``order``:
    one of `ORDERS`: by falling support, by falling confidence, or by how many instances the rarer
    label has. ``seed``: of the choice of instances.

    :raises KgdashError: if the order is unknown, or there is to be no rule or no instance
    """

    max_rules: int = 12
    min_pca: float = 0.3
    min_support: int = 2
    per_rule: int = 30
    order: str = "support"
    seed: int = 0

    def __post_init__(self) -> None:
        check_name("order", self.order, ORDERS, "rules")
        if self.max_rules < 1:
            raise KgdashError(f"expected at least one rule; found {self.max_rules}")
        PredictionSampling(self.per_rule)


def select_instances(
    graph: KnowledgeGraph,
    rules: Rules,
    selection: RuleSelection,
    negatives: np.ndarray | None = None,
    progress: Progress = silent,
) -> Instances:
    """Take rules in an order, label their predictions, and keep those with both labels.

    :param graph: bodies are read on train, labels from valid and test
    :param rules: with enough support and confidence, see `usable_rules`
    :param negatives: see `rule_instances`
    :return: groups are the rules
    :raises KgdashError: if train is empty
    """
    most = selection.max_rules
    ordered = in_order(rules, selection.order).take(slice(_TRIED * most))
    sampling = PredictionSampling(selection.per_rule, seed=selection.seed)
    if selection.order != "both labels":
        return rule_instances(graph, ordered.rules, sampling, negatives, most, progress)
    made = rule_instances(graph, ordered.rules, sampling, negatives, progress=progress)
    if not len(made):
        return made
    counts = made.counts().set_index("group")[["n_true", "n_false"]].min(axis=1)
    best = counts.sort_values(ascending=False, kind="stable").index[:most]
    triples, table = (part[part["group"].isin(best)] for part in (made.triples, made.table))
    return make_instances(triples, table[["instance", "question", "answer"]], made.notes)


def in_order(rules: Rules, order: str) -> Rules:
    """Sort rules by falling support, or confidence; ties by the other one."""
    keys = [rules.table["support"].to_numpy(), confidence(rules.table).to_numpy()]
    keys = keys[::-1] if order == "confidence" else keys
    by = pd.DataFrame(dict(enumerate(keys))).sort_values([0, 1], ascending=False, kind="stable")
    return rules.take(by.index.to_numpy())


def confidence(table: pd.DataFrame) -> pd.Series:
    """Return each rule's PCA confidence, or the standard one where that is not known."""
    return table["pca_confidence"].fillna(table["standard_confidence"])


def usable_rules(
    graph: KnowledgeGraph,
    rules: Rules,
    min_support: int = 2,
    min_pca: float = 0.3,
    progress: Progress = silent,
) -> Rules:
    """Keep the rules of a file that have enough support and confidence.

    :param graph: rules whose support or confidence the file does not give are counted on its train
    :param min_pca: minimum PCA confidence, in [0, 1]; of the standard one where that is not known
    :return: with `COUNTED` behind the source of those
    :raises KgdashError: if no rule is left
    """
    table = rules.table
    bare = (table["support"].isna() | confidence(table).isna()).to_numpy()
    if bare.any():
        counted = count_rules(graph, rules.take(np.flatnonzero(bare)).rules, progress)
        table = table.copy()
        table.loc[bare, list(METRICS)] = counted[[*METRICS]].to_numpy(dtype=float)
        if "source" in table:
            table.loc[bare, "source"] += COUNTED
    kept = (table["support"] >= min_support) & (confidence(table) >= min_pca)
    if not kept.any():
        raise KgdashError(
            f"none of {len(table):,} rules has a support of {min_support} and a confidence of "
            f"{min_pca:g} or more; the highest are {table['support'].max():g} and "
            f"{confidence(table).max():g}"
        )
    return replace(rules, table=table).take(np.flatnonzero(kept))
