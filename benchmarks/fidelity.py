"""Whether the facts that are said to carry predictions do: the model is trained without them.

    python benchmarks/fidelity.py RUN [--predictions N] [--draws N] [--out FILE]

Right predictions (rank 1 on test, one side per triple) are explained in random order until N have
facts that are shown. All of these are taken out of train at once, the model is trained anew with
the same seed and configuration, and the N predictions are ranked again, by the filter of the whole
graph. The same with as many facts of the same entities: those of the largest first-order influence
on the score, and random ones. Intervals resample predictions.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import measure
import numpy as np
import pandas as pd

import kgdash
from kgdash.engine.workers import one_thread
from kgdash.graph import IDS, default_filter
from kgdash.ranking.ranks import rank_triples
from kgdash.runs import Run
from kgdash.runs.loading import assemble
from kgdash.runs.training import fit
from kgdash.scoring.build_model import scoring_state
from kgdash.statistics.bootstrap import percentile_interval
from kgdash.studies.audit.of_run import config_of_run
from kgdash.studies.explanations.carrying_facts import CarryingFacts, carrying_facts
from kgdash.studies.inspection.candidates import side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple

#: resamples of predictions
RESAMPLES = 2000


def explained(run: Run, count: int, most: int) -> tuple[pd.DataFrame, list[CarryingFacts], int]:
    """Explain right predictions until so many have facts; return how many were looked at too.

    :param most: predictions that are looked at
    """
    ranks = run.ranks("test")
    right = ranks[ranks["realistic"] == 1].sample(frac=1, random_state=0)
    rows, found, looked, seen = [], [], 0, set()
    for row in right.itertuples():
        triple = (row.head, row.relation, row.tail)
        if len(found) == count or looked == most:
            break
        if triple in seen:
            continue
        looked += 1
        candidates = side_candidates(run, InspectedTriple(*triple), row.side, default_filter(None))
        with one_thread():
            carried = carrying_facts(run, np.array(triple), row.side, candidates)
        if len(carried.facts):
            seen.add(triple)
            found.append(carried)
            rows.append((*triple, row.side))
            print(f"\r{len(found)} of {looked} explained", end="", file=sys.stderr, flush=True)
    return pd.DataFrame(rows, columns=[*IDS, "side"]), found, looked


def first_order(carried: CarryingFacts) -> np.ndarray:
    """Return as many facts, of the largest first-order influence."""
    order = np.argsort(-carried.influences, kind="stable")
    return carried.own[order[: len(carried.facts)]]


def random_facts(carried: CarryingFacts, rng: np.random.Generator) -> np.ndarray:
    """Return as many facts of the entity, drawn at random."""
    return carried.own[rng.permutation(len(carried.own))[: len(carried.facts)]]


def ranks_without(run: Run, facts: list[np.ndarray], asked: pd.DataFrame) -> np.ndarray:
    """Train without some facts; return the realistic rank of each prediction."""
    graph = run.graph
    train = graph.split("train")
    gone = set(map(tuple, np.concatenate(facts).tolist()))
    kept = np.array([tuple(row) not in gone for row in train.tolist()])
    # Copies of the cached index of the whole graph must not be taken over.
    smaller = replace(graph, splits={**graph.splits, "train": train[kept]})
    config = config_of_run(run)
    state = scoring_state(fit(smaller, config).model)
    # By the filter of the whole graph: what was taken out competes with no answer.
    trained = assemble("retrained", graph, config.spec(), state, {}, {})
    ids = asked[IDS].to_numpy(np.int64)
    table = rank_triples(trained.scorer, ids, graph.known(), ("head", "tail"))
    by_side = table.set_index([*IDS, "side"])["realistic"]
    by_side = by_side[~by_side.index.duplicated()]
    return by_side.loc[list(asked.itertuples(index=False, name=None))].to_numpy()


def intervals(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return the damage to MRR and Hits@1 of each way, and its ratios, with 95 % intervals."""
    ways = {
        "explanation": ranks[["explanation"]],
        "first-order": ranks[["first-order"]],
        "random": ranks.filter(like="random"),
    }
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(ranks), (RESAMPLES, len(ranks)))
    rows = []
    for name, measured in (
        ("MRR", lambda rank: 1 - 1 / rank),
        ("Hits@1", lambda rank: (rank > 1).astype(float)),
    ):
        each = {way: measured(table).mean(axis=1).to_numpy() for way, table in ways.items()}
        whole = {way: values.mean() for way, values in each.items()}
        again = {way: values[drawn].mean(axis=1) for way, values in each.items()}
        figures = {f"damage, {way}": (whole[way], again[way]) for way in ways}
        for other in ("random", "first-order"):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = whole["explanation"] / whole[other]
                figures[f"ratio to {other}"] = ratio, again["explanation"] / again[other]
        gap = again["explanation"] - again["first-order"]
        figures["difference from first-order"] = (
            whole["explanation"] - whole["first-order"],
            gap,
        )
        for figure, (value, draws) in figures.items():
            low, high = percentile_interval(draws, 0.95)
            rows.append((name, figure, value, float(low), float(high)))
    return pd.DataFrame(rows, columns=["metric", "figure", "value", "low", "high"])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--predictions", type=int, default=50)
    parser.add_argument("--most", type=int, default=500, help="predictions that are looked at")
    parser.add_argument("--draws", type=int, default=3, help="of random facts")
    parser.add_argument("--out", type=Path, help="a CSV file of the figures")
    chosen = parser.parse_args()
    run = kgdash.load(chosen.run)
    asked, found, looked = explained(run, chosen.predictions, chosen.most)
    facts = sum(len(each.facts) for each in found)
    print(f"\n{run.name}: {len(found)} of {looked} right predictions explained, {facts} facts")
    rng = np.random.default_rng(0)
    removals = {
        "nothing": [np.empty((0, 3), np.int64)],
        "explanation": [each.facts for each in found],
        "first-order": [first_order(each) for each in found],
    }
    for draw in range(chosen.draws):
        removals[f"random {draw}"] = [random_facts(each, rng) for each in found]
    ranks = {}
    for way, taken in removals.items():
        ranks[way] = ranks_without(run, taken, asked)
        count = len(np.unique(np.concatenate(taken), axis=0))
        mrr, hits = (1 / ranks[way]).mean(), (ranks[way] == 1).mean()
        print(f"without {way} ({count} facts): MRR {mrr:.3f}, Hits@1 {hits:.3f}", flush=True)
    table = intervals(pd.DataFrame(ranks))
    print(table.to_string(index=False, float_format="{:.3f}".format))
    if chosen.out:
        about = {"run": run.name, "predictions": len(found), "looked_at": looked, "facts": facts}
        table.assign(**about).to_csv(chosen.out, index=False, float_format="%.4f")
    print(f"{measure.machine()}; peak memory {measure.peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    main()
