"""Support and confidence of any rule by our own count, with AMIE's definitions.

Support, head coverage, standard and PCA confidence are those of Galárraga et al., AMIE (WWW 2013)
and AMIE+ (VLDB Journal 24, 2015), as AMIE 3 counts them (Lajus et al., ESWC 2020); defined in
numbers.md#9-rules.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from kgdash.graph import KnowledgeGraph
from kgdash.progress import Beat, Progress, silent
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.parsing import parsed_rules
from kgdash.studies.rules.rule import Rule, rule_reading, rule_text

#: what is counted of a rule
METRICS = (
    *("support", "body_size", "pca_body_size"),
    *("head_coverage", "standard_confidence", "pca_confidence"),
)


def count_rules(
    graph: KnowledgeGraph, rules: Sequence[Rule], progress: Progress = silent
) -> pd.DataFrame:
    """Count rules on the train graph (numbers.md#9-rules).

    With `B ⇒ r(x, y)` and distinct variables allowed to take the same value: ``support`` is the
    number of distinct (x, y) with B and r(x, y), ``body_size`` that of distinct (x, y) with B,
    ``pca_body_size`` of those among them for whose functional variable some r is known. Where a
    constant stands in the head, the pairs are those with it, and the head's variable is the
    functional one. Head coverage refers to all facts of r.

    :param graph: only its train triples are read
    :return: one row per rule, in the order given: ``rule, reading`` (str), ``head_relation`` (id),
        ``atoms`` (of the body, 1 to 3), ``support, body_size, pca_body_size`` (int64),
        ``head_coverage, standard_confidence, pca_confidence`` (in [0, 1], NaN where nothing is
        divided by), ``functional_variable`` ("?a" or "?b")
    :raises KgdashError: if train is empty
    """
    steps = DirectedEdges.of(graph.split("train"), graph.num_entities, graph.num_relations)
    counted = []
    for number, rule in enumerate(rules):
        counted.append(
            {
                "rule": rule_text(rule, graph),
                "reading": rule_reading(rule, graph),
                "head_relation": rule.head[0],
                "atoms": len(rule.body),
                **_counts(rule, graph, steps, partial(progress, number, len(rules))),
            }
        )
        progress(number + 1, len(rules))
    columns = ["rule", "reading", "head_relation", "atoms", *METRICS, "functional_variable"]
    return pd.DataFrame(counted, columns=columns)


def _counts(
    rule: Rule, graph: KnowledgeGraph, steps: DirectedEdges, beat: Beat
) -> dict[str, int | float | str]:
    relation, start, end = rule.head
    facts, known = steps.matrix(relation), graph.known(("train",))
    heads, tails = (
        np.diff(facts.indptr) > 0,
        np.bincount(facts.indices, minlength=facts.shape[1]) > 0,
    )
    by_head = heads.sum() >= tails.sum()
    if isinstance(start, str) != isinstance(end, str):
        by_head = isinstance(start, str)
    argued = heads if by_head else tails
    support = size = pca = 0
    for triples in Body.of(rule, steps).head_triples():
        beat()
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
        "functional_variable": "?a" if by_head or start == end else "?b",
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
    """
    rules = parsed_rules(groups, graph)
    if not rules:
        return {}
    counted = count_rules(graph, list(rules.values()), progress)
    return dict(zip(rules, counted["pca_confidence"].astype(float), strict=True))
