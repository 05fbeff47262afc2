"""How many rules lead to a fact, against applying each rule alone, and against their supports."""

import numpy as np
import pandas as pd
from hypothesis import given, settings

from kgdash.graph.datasets import load_dataset
from kgdash.studies.explanations.leading_rules import leading_rules
from kgdash.studies.rules.body_matrix import Body
from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.mining import mine_bodies
from kgdash.studies.rules.predicted_facts import count_predicting
from kgdash.studies.rules.rule_table import Rules
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules
from tests.support.instance_fakes import graphs


@settings(max_examples=40, deadline=None)
@given(graphs(entities=4, relations=3))
def test_each_rule_applied_alone(graph):
    # Those that others might add, too: a half of all.
    table = mine_bodies(graph, min_support=1, min_head_coverage=0, min_pca=0)[::2]
    train = graph.split("train")
    place = {tuple(row): at for at, row in enumerate(train.tolist())}
    edges = DirectedEdges.of(train, graph.num_entities, graph.num_relations)
    expected = np.zeros(len(train), dtype=np.int64)
    for rule in Rules(graph, table).rules:
        for block in Body.of(rule, edges).head_triples():
            found = [place[tuple(row)] for row in block.tolist() if tuple(row) in place]
            expected[found] += 1
    assert count_predicting(graph, table).tolist() == expected.tolist()


def test_the_450654_rules_of_14_entities():
    """A rule's support is how many facts it leads to; a triple's rules are found at once."""
    graph = load_dataset("nations")
    rules = find_rules(graph, RuleSelection(min_pca=0.1))
    assert len(rules.table) == 450_654
    counts = pd.Series(count_predicting(graph, rules.table))
    each = counts.groupby(graph.split("train")[:, 1]).sum()
    expected = rules.table.groupby("head_relation")["support"].sum()
    assert each.reindex(expected.index).tolist() == expected.tolist()
    triple = graph.split("test")[0]
    found = leading_rules(graph, triple)
    assert found.mined == (rules.table["head_relation"] == triple[1]).sum()
    assert 1_000 < len(found.table) < found.mined
