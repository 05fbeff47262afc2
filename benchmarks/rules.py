"""How long rules take: mining, counting, predicting, and 23,324 instances of 26 rules.

    python benchmarks/rules.py DATASET [--pairs N] [--rules FILE]

Naive is a join of data frames per rule (pandas.merge on the middle entity, without duplicates), as
one would write it first; for mining it is timed on N random pairs of steps and extrapolated to all.
The instances have the shape of COLT's (26 rules, 23,324 labelled instances of three triples) and
are scored by an untrained TransE of dimension 50.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence

import measure
import numpy as np
import pandas as pd
from pykeen.models import TransE
from pykeen.triples import CoreTriplesFactory
from torch import from_numpy

from kgdash.graph import KnowledgeGraph
from kgdash.graph.datasets import load_dataset
from kgdash.runs import Run
from kgdash.scoring.kernel_scorer import fastest_scorer
from kgdash.scoring.model_spec import ModelSpec
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.instances.instances import Instances, score_instances
from kgdash.studies.rules.confidence import count_rules
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.predictions import rule_instances
from kgdash.studies.rules.rule import Rule
from kgdash.studies.rules.rule_table import Rules

COLT_RULES, COLT_INSTANCES = 26, 23_324


def naive_chain(steps: pd.DataFrame, facts: pd.DataFrame, first: int, second: int) -> pd.Series:
    """Count the rules x –first→ h –second→ y ⇒ r(x, y) for all r: support per r."""
    ahead = steps[steps["step"] == first][["start", "end"]]
    behind = steps[steps["step"] == second][["start", "end"]]
    body = ahead.merge(behind, left_on="end", right_on="start", suffixes=("", "_y"))
    body = body[["start", "end_y"]].drop_duplicates()
    both = body.merge(facts, left_on=["start", "end_y"], right_on=["head", "tail"])
    return both.groupby("relation").size()


def naive_seconds(graph: KnowledgeGraph, pairs: int) -> float:
    """Return what naive chains would take for all pairs of steps, by some of them."""
    head, relation, tail = graph.split("train").T
    facts = pd.DataFrame({"head": head, "relation": relation, "tail": tail})
    backwards = pd.DataFrame({"start": tail, "step": relation + graph.num_relations, "end": head})
    ahead = pd.DataFrame({"start": head, "step": relation, "end": tail})
    steps = pd.concat([ahead, backwards], ignore_index=True)
    count = 2 * graph.num_relations
    chosen = np.random.default_rng(0).integers(count, size=(pairs, 2)).tolist()
    spent = measure.seconds(lambda: [naive_chain(steps, facts, *pair) for pair in chosen])
    return spent * count**2 / pairs


def print_mining(graph: KnowledgeGraph, pairs: int) -> pd.DataFrame:
    """Print what mining takes, with AMIE's thresholds of the published figures."""
    made: dict[str, pd.DataFrame] = {}
    before = measure.peak_mebibytes()
    spent = measure.seconds(lambda: made.update(rules=mine_rules(graph)))
    more = measure.peak_mebibytes() - before
    rules = made["rules"]
    print(
        f"mining: {len(rules):,} rules in {spent:.1f} s, {more:,.0f} MiB more memory; "
        f"{(rules['atoms'] == 1).sum():,} of one body atom"
    )
    naive = naive_seconds(graph, pairs)
    print(f"  naive, chains alone, by {pairs} pairs: {naive:,.0f} s ({naive / spent:,.0f}×)")
    return rules


def print_counting(graph: KnowledgeGraph, rules: Sequence[Rule], what: str) -> None:
    """Print what counting some rules one by one takes, and labelling their predictions."""
    counted = measure.seconds(lambda: count_rules(graph, rules))
    found: dict[str, int] = {}
    labelled = measure.seconds(lambda: found.update(n=len(rule_instances(graph, rules))))
    print(
        f"{what}: counted in {counted:.1f} s; {found['n']:,} labelled instances in {labelled:.1f} s"
    )


def colt_table(graph: KnowledgeGraph) -> bytes:
    """Write a table of COLT's size out of random facts."""
    triples = graph.split("train")
    drawn = np.random.default_rng(0).integers(len(triples), size=(COLT_INSTANCES, 3))
    lines = ["rule\tinstance\thead\trelation\ttail\tlabel"]
    for number, rows in enumerate(triples[drawn].tolist()):
        lines += [
            f"rule {number % COLT_RULES}\t{number}\t{graph.entities[h]}\t{graph.relations[r]}\t"
            f"{graph.entities[t]}\t{'true' if number % 2 else 'false'}"
            for h, r, t in rows
        ]
    return "\n".join(lines).encode()


def print_colt(graph: KnowledgeGraph) -> None:
    """Print what reading and scoring a table of COLT's size takes."""
    table = colt_table(graph)
    made: dict[str, Instances] = {}
    before = measure.peak_mebibytes()
    reading = measure.seconds(lambda: made.update(found=read_rule_table(table, graph)))
    more = measure.peak_mebibytes() - before
    factory = CoreTriplesFactory(
        from_numpy(graph.split("train").copy()), graph.num_entities, graph.num_relations
    )
    model = TransE(triples_factory=factory, embedding_dim=50, random_seed=0)
    run = Run("untrained", graph, fastest_scorer(model)[0], ModelSpec("TransE"), "untrained")
    scoring = measure.seconds(lambda: score_instances(run, made["found"]))
    print(
        f"table of {COLT_INSTANCES:,} instances ({len(table) / 2**20:.1f} MiB): read in "
        f"{reading:.1f} s, {more:,.0f} MiB more memory; scored with exact ReliK in {scoring:.1f} s"
    )


def main() -> None:
    """Run the benchmark for a dataset, by name or folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rules", help="a file of AMIE or AnyBURL for this dataset")
    given = parser.parse_args()
    os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
    print(measure.machine())
    graph = load_dataset(given.dataset)
    print(f"{graph.name}: {len(graph.split('train')):,} training triples", flush=True)
    mined = print_mining(graph, given.pairs)
    print_counting(graph, Rules(graph, mined[:200]).rules, "200 mined rules")
    if given.rules:
        rules = read_rules(RuleFile(given.rules), graph).rules
        print_counting(graph, rules, f"{len(rules):,} rules of {given.rules}")
    print_colt(graph)
    print(f"peak memory {measure.peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    main()
