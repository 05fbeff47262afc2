"""How many mined rules lead to each training triple.

Defined in numbers.md#28-wrong-facts.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import triple_keys
from kgdash.progress import Progress, silent
from kgdash.studies.rules.body_counting import Chains
from kgdash.studies.rules.directed_edges import DirectedEdges


def count_predicting(
    graph: KnowledgeGraph, rules: pd.DataFrame, progress: Progress = silent
) -> np.ndarray:
    """Count the rules whose body holds, on train, for each training triple and whose head it is.

    All rules that begin with the same step are applied together.

    :param rules: as `kgdash.studies.rules.mining.mine_bodies` returns them
    :return: int64, ``(n,)``, in the order of the train split
    """
    train, relations = graph.split("train"), graph.num_relations
    edges = DirectedEdges.of(train, graph.num_entities, relations)
    counts, by_chain = np.zeros((2, len(train)), dtype=np.int64)
    none = np.empty(0, dtype=np.int64), sparse.csr_array((0, graph.num_entities))
    chains = Chains.of(edges, none, none)
    # The positions of facts among the pairs that some step joins, and their relations.
    pair, relation = edges.pairs[1][: len(train)], train[:, 1]
    joins = edges.of_pair[pair]
    having = sparse.csc_array(joins)
    for number, (first, rows) in enumerate(rules.groupby("first"), start=1):
        chain = (rows["atoms"] == 2) & ~rows["joint"]
        beat = partial(progress, number - 1, rules["first"].nunique())
        chains.count_rules(first, _which(rows[chain], relations), by_chain, beat)
        of = having.indices[having.indptr[first] : having.indptr[first + 1]]
        single = _which(rows[rows["atoms"] == 1], relations)[0]
        counts[of] += single[relation[of]]
        near = joins[of].tocoo()
        both = _which(rows[rows["joint"]], relations)[near.col, relation[of[near.row]]]
        counts[of] += np.bincount(near.row[both], minlength=len(of))
        progress(number, rules["first"].nunique())
    keys = triple_keys(train, graph.num_entities, relations)
    counts[np.argsort(keys, kind="stable")] += by_chain
    return counts


def _which(rows: pd.DataFrame, relations: int) -> np.ndarray:
    """Lay rules that begin with the same step out: bool, ``(second steps, head relations)``."""
    there = np.zeros((2 * relations, relations), dtype=bool)
    there[rows["second"], rows["head_relation"]] = True
    return there
