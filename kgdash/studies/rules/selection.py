"""Which of many rules to look at: by their figures, and by what their predictions turn out as."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.instances.instances import Instances, make_instances
from kgdash.studies.rules.confidence import FIGURES, count_rules
from kgdash.studies.rules.predictions import rule_instances

#: which rules come first
ORDERS = ("support", "confidence", "both labels")

#: rules tried for each one asked for, since many predict nothing that has a label
_TRIED = 20


def chosen_instances(
    graph: KnowledgeGraph,
    rules: pd.DataFrame,
    max_rules: int = 12,
    per_rule: int = 30,
    order: str = "support",
    negatives: np.ndarray | None = None,
    seed: int = 0,
    progress: Progress = silent,
    judged: pd.DataFrame | None = None,
) -> Instances:
    """Take rules in an order, label their predictions, and keep those with both labels.

    :param graph: bodies are read on train, labels from valid and test
    :param rules: `rule` and `FIGURES`, such as `usable_rules` returns
    :param max_rules: rules to keep, ≥ 1; fewer where too few have predictions of both labels
    :param per_rule: most instances per rule and label, ≥ 1
    :param order: one of `ORDERS`: by falling support, by falling PCA confidence (the standard one
        where that is not known), or by how many instances the rarer label has
    :param negatives: see `rule_instances`
    :param seed: of the choice of instances
    :param progress: called with (done, total); may raise to cancel
    :param judged: a user's labels, see `rule_instances`
    :return: groups are the rules
    :raises KgdashError: if train is empty, a number is out of range or the order is unknown
    """
    check_choice(order, max_rules)
    ordered = in_order(rules, order).head(_TRIED * max_rules)
    found = rule_instances(
        graph,
        ordered,
        per_rule,
        negatives,
        seed=seed,
        progress=progress,
        judged=judged,
        max_rules=None if order == "both labels" else max_rules,
    )
    if order != "both labels" or not len(found):
        return found
    counts = found.counts().set_index("group")[["n_true", "n_false"]].min(axis=1)
    best = counts.sort_values(ascending=False, kind="stable").index[:max_rules]
    triples, table = (part[part["group"].isin(best)] for part in (found.triples, found.table))
    return make_instances(triples, table[["instance", "question", "answer"]], found.notes)


def check_choice(order: str, max_rules: int) -> None:
    """Refuse what `chosen_instances` can not do, before anything is computed for it.

    :raises KgdashError: if the order is unknown or the number below 1
    """
    if order not in ORDERS:
        raise unknown_name("order", order, ORDERS, "rules")
    if max_rules < 1:
        raise KgdashError(f"expected at least one rule; found {max_rules}")


def in_order(rules: pd.DataFrame, order: str) -> pd.DataFrame:
    """Sort rules by falling support, or confidence; ties by the other one."""
    keys = [rules["support"], confidence(rules)]
    keys = keys[::-1] if order == "confidence" else keys
    by = pd.concat(keys, axis=1, keys=[0, 1]).sort_values([0, 1], ascending=False, kind="stable")
    return rules.loc[by.index]


def confidence(rules: pd.DataFrame) -> pd.Series:
    """Return each rule's PCA confidence, or the standard one where that is not known."""
    return rules["pca_confidence"].fillna(rules["standard_confidence"])


def usable_rules(
    graph: KnowledgeGraph,
    rules: pd.DataFrame,
    min_support: int = 2,
    min_pca: float = 0.3,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Keep the rules of a file that have enough support and confidence.

    :param graph: rules whose support or confidence the file does not give are counted on its train
    :param rules: the table of `kgdash.studies.rules.files.RuleFile`
    :param min_support: least support
    :param min_pca: least PCA confidence, in [0, 1]; of the standard one where that is not known
    :param progress: called with (done, total)
    :raises KgdashError: if no rule is left
    """
    bare = rules["support"].isna() | confidence(rules).isna()
    if bare.any():
        counted = count_rules(graph, rules.loc[bare, "rule"].tolist(), progress)
        rules = rules.copy()
        rules.loc[bare, list(FIGURES)] = counted[[*FIGURES]].to_numpy(dtype=float)
    kept = rules[(rules["support"] >= min_support) & (confidence(rules) >= min_pca)]
    if kept.empty:
        raise KgdashError(
            f"none of {len(rules):,} rules has a support of {min_support} and a confidence of "
            f"{min_pca:g} or more; the highest are {rules['support'].max():g} and "
            f"{confidence(rules).max():g}"
        )
    return kept.reset_index(drop=True)
