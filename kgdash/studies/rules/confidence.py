"""Support and confidence of any rule by our own count, with AMIE's definitions.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.rule import Rule, parse_rule, rule_reading
from kgdash.studies.rules.triple_steps import Steps

#: the figures of a rule
FIGURES = (
    *("support", "body_size", "pca_body_size"),
    *("head_coverage", "standard_confidence", "pca_confidence"),
)


def count_rules(
    graph: KnowledgeGraph, rules: Sequence[str], progress: Progress = silent
) -> pd.DataFrame:
    """Count rules on the train graph (numbers.md#9-rules).

    With `B ⇒ r(x, y)` and distinct variables allowed to take the same value: ``support`` is the
    number of distinct (x, y) with B and r(x, y), ``body_size`` that of distinct (x, y) with B,
    ``pca_body_size`` of those among them for whose functional variable some r is known. Where a
    constant stands in the head, the pairs are those with it, and the head's variable is the
    functional one. Head coverage refers to all facts of r.

    :param graph: only its train triples are read
    :param rules: as `kgdash.studies.rules.rule.parse_rule` reads them
    :param progress: called with (done, total)
    :return: one row per rule, in the order given: ``rule, reading`` (str), ``head_relation`` (id),
        ``atoms`` (of the body, 1 to 3), ``support, body_size, pca_body_size`` (int64),
        ``head_coverage, standard_confidence, pca_confidence`` (in [0, 1], NaN where nothing is
        divided by), ``functional_variable`` ("?a" or "?b")
    :raises KgdashError: if train is empty or a rule can not be read
    """
    steps = Steps.of(graph.split("train"), graph.num_entities, graph.num_relations)
    counted = []
    for number, text in enumerate(rules):
        rule = parse_rule(text, graph)
        counted.append(
            {
                "rule": text,
                "reading": rule_reading(rule, graph),
                "head_relation": rule.head[0],
                "atoms": len(rule.body),
                **_counts(rule, graph, steps),
            }
        )
        progress(number + 1, len(rules))
    columns = ["rule", "reading", "head_relation", "atoms", *FIGURES, "functional_variable"]
    return pd.DataFrame(counted, columns=columns)


def _counts(rule: Rule, graph: KnowledgeGraph, steps: Steps) -> dict[str, int | float | str]:
    relation, start, _ = rule.head
    facts, known = steps.matrix(relation), graph.known(("train",))
    heads, tails = (
        np.diff(facts.indptr) > 0,
        np.bincount(facts.indices, minlength=facts.shape[1]) > 0,
    )
    by_head = heads.sum() >= tails.sum()
    if len(rule.head_variables) == 1:
        by_head = isinstance(start, str)
    argued = heads if by_head else tails
    support = size = pca = 0
    for triples in Body.of(rule, steps).head_triples():
        support += int(known.contains(triples).sum())
        size += len(triples)
        pca += int(argued[triples[:, 0 if by_head else 2]].sum())
    return {
        "support": support,
        "body_size": size,
        "pca_body_size": pca,
        "head_coverage": _share(support, facts.nnz),
        "standard_confidence": _share(support, size),
        "pca_confidence": _share(support, pca),
        "functional_variable": "?a" if by_head else "?b",
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def rule_confidence(
    graph: KnowledgeGraph, groups: Iterable[str], progress: Progress = silent
) -> dict[str, float]:
    """Return the PCA confidence on train of those groups that are rules; NaN if undefined.

    Defined in numbers.md#9-rules.

    :param graph: of the run that scored
    :param groups: of instances: rules as AMIE or AnyBURL write them, or anything else
    :param progress: called with (done, total); may raise to cancel
    """
    rules = []
    for group in groups:
        try:
            parse_rule(group, graph)
        except KgdashError:
            continue
        rules.append(group)
    if not rules:
        return {}
    counted = count_rules(graph, rules, progress)
    return dict(zip(counted["rule"], counted["pca_confidence"].astype(float), strict=True))
