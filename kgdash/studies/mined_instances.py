"""Rules mined from the train graph and their labelled predictions, in one step (§9)."""

from __future__ import annotations

from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.store import cached_table
from kgdash.studies.instances import Instances, make_instances
from kgdash.studies.rule_mining import mine_rules
from kgdash.studies.rule_predictions import rule_instances

#: rules looked at for each one asked for, since many predict nothing that is held out
_TRIED = 5


def mined_instances(
    graph: KnowledgeGraph,
    max_rules: int = 12,
    min_pca: float = 0.3,
    per_rule: int = 30,
    seed: int = 0,
    progress: Progress = silent,
) -> Instances:
    """Take the mined rules with most support whose predictions have both labels.

    :param graph: rules are mined on train, their predictions labelled by valid and test
    :param max_rules: rules to keep, ≥ 1; fewer where too few have both labels
    :param min_pca: least PCA confidence, in [0, 1]
    :param per_rule: instances per rule and label, ≥ 1
    :param seed: of the choice of instances
    :param progress: called with (done, total); may raise to cancel
    :return: groups are the rules
    :raises KgdashError: if train is empty or a number is out of range
    """
    first, second = phases(progress, [0.8, 0.2])
    key = {"kind": "rules", "version": 1, "graph": graph.digest, "min_pca": min_pca}
    rules = cached_table(
        key,
        lambda: mine_rules(graph, min_pca=min_pca, progress=first),
        {"kind": "rules", "graph": graph.name, "method": f"PCA confidence from {min_pca:g}"},
        first,
    )
    rules = rules.sort_values("support", ascending=False, kind="stable").head(_TRIED * max_rules)
    found = rule_instances(graph, rules, per_rule, seed=seed, progress=second)
    kept = found.table["group"].drop_duplicates().head(max_rules)
    triples = found.triples[found.triples["group"].isin(kept)]
    described = found.table.loc[found.table["group"].isin(kept), ["instance", "question", "answer"]]
    return make_instances(triples, described, found.notes)
