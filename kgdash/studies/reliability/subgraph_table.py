"""Random subgraphs and the values of each: mean ReliK and performance.

Defined in numbers.md#5-subgraphs and numbers.md#6-correlation-study.

Every known triple that is in some subgraph gets its ReliK once, every evaluated one its ranks once;
the metrics of a subgraph are means over what is inside it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.graph.python_call import python_call
from kgdash.graph.subgraph import Subgraph, SubgraphSampling
from kgdash.graph.triples_inside import triples_inside
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import POOLS
from kgdash.runs import Run
from kgdash.studies.reliability.subgraph_classification import subgraph_accuracies
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation

#: bytes that a subgraph takes, and each entity of it
_BYTES, _ENTITY_BYTES = 2_048, 16

#: sizes by the paper (numbers.md#5-subgraphs), by name of the graph; else the first that fits
SIZES = {"codex-s": 60, "codex-m": 100, "codex-l": 100, "fb15k-237": 200}


def default_size(run: Run) -> int:
    """Return how many entities a subgraph has by default: the paper's number, or 60.

    Defined in numbers.md#5-subgraphs.
    """
    return min(SIZES.get(run.graph.name.lower(), 60), run.graph.num_entities)


def draw_subgraphs(
    run: Run, sampling: SubgraphSampling, progress: Progress = silent
) -> list[Subgraph]:
    """Draw subgraphs around random entities.

    Seed entities are drawn uniformly among those that have a known triple, each once as long as
    there are enough; each walk has a seed of its own. A subgraph of the very entities of one before
    tells nothing more, and is left out.

    :param sampling: how many at most, and how each is picked; its seed is of entities and walks
    :raises KgdashError: if a number or the method is out of range
    """
    count, seed = sampling.count, sampling.seed
    each = _BYTES + _ENTITY_BYTES * min(sampling.size, run.graph.num_entities)
    if count > (most := max(1, memory_budget() // each)):
        raise KgdashError(
            f"expected {most:,} subgraphs of {sampling.size:,} entities at most (what "
            f"$KGDASH_MEMORY holds); found {count:,}"
        )
    rng = np.random.default_rng(seed)
    entities = np.flatnonzero(run.graph.degrees)
    chosen = rng.choice(entities, count, replace=count > len(entities))
    walks, drawn = rng.integers(0, 2**31, count), list[Subgraph]()
    for entity, walk in zip(chosen.tolist(), walks.tolist(), strict=True):
        pick = partial(replace(sampling, seed=walk).pick, run.graph, entity)
        drawn.append(python_call(pick, lambda *_: progress(len(drawn), count)))
        progress(len(drawn), count)
    first: dict[bytes, Subgraph] = {}
    for part in drawn:
        first.setdefault(np.sort(part.entities).tobytes(), part)
    return list(first.values())


def draw_of_sizes(
    run: Run, sizes: Sequence[int], sampling: SubgraphSampling, progress: Progress = silent
) -> tuple[list[Subgraph], list[int]]:
    """Draw subgraphs of several sizes around the same entities.

    :param sizes: in entities, in place of the sampling's, each once; none: `default_size` alone
    :return: the subgraphs of all sizes, and the size of each
    :raises KgdashError: as `draw_subgraphs`
    """
    sizes = list(dict.fromkeys(sizes)) or [default_size(run)]
    drawn: list[Subgraph] = []
    of: list[int] = []
    for size, report in zip(sizes, phases(progress, [1.0] * len(sizes)), strict=True):
        picked = draw_subgraphs(run, replace(sampling, size=size), report)
        drawn += picked
        of += [size] * len(picked)
    return drawn, of


def score_subgraphs(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    progress: Progress = silent,
) -> pd.DataFrame:
    """Compute mean ReliK and performance of each subgraph.

    ReliK and MRRs are those of `compare`, accuracy that of `subgraph_accuracies`.

    :param evaluation: whose ranks, ReliK by what method, which Hits@k and negatives
    :return: one row per subgraph: ``seed_entity`` (int64 id), ``walk_seed`` (int64; -1 where no
        walk was taken), ``entities``, ``triples`` (int64: known ones inside), ``evaluated``,
        ``labelled`` (int64: positives and negatives classified), ``relik`` (mean over the triples;
        NaN if there are none), and for side in head, tail, both, relation ``{side}_mrr`` and
        ``{side}_hits_at_{k}`` (realistic ranks; NaN if nothing is evaluated), and ``accuracy`` (NaN
        if nothing is classified, as without validation triples for the threshold); float64 in
        [0, 1]
    :raises KgdashError: on NaN scores
    """
    triples = run.graph.all_triples
    inside = triples_inside(subgraphs, triples)
    first = inside.anywhere
    report = phases(progress, [0.7, 0.05, 0.25])
    table = pd.DataFrame(
        {
            "seed_entity": [part.seed_entity for part in subgraphs],
            "walk_seed": [part.parameters.get("seed", -1) for part in subgraphs],
            "entities": [len(part.entities) for part in subgraphs],
            "triples": inside.counts,
        }
    )
    relik = np.zeros(len(triples))
    if first.any():
        relik[first] = run.relik(
            triples=triples[first], method=evaluation.relik_method, progress=report[0]
        )["relik"]
    chosen = first & run.graph.known(evaluation.splits).contains(triples)
    ranked = inside.of(chosen)
    table["evaluated"] = ranked.counts
    classified = pd.DataFrame({"labelled": 0, "accuracy": np.nan}, index=range(len(subgraphs)))
    if len(run.graph.splits["valid"]) and chosen.any():
        classified = subgraph_accuracies(run, subgraphs, evaluation, progress=report[1])
    table["labelled"] = classified["labelled"]
    table["relik"] = inside.means(relik)
    per_triple = _of_each_triple(run, triples[chosen], evaluation.filter, evaluation.ks, report[2])
    tasks = {task: ranked.means(each) for task, each in per_triple.items()}
    return table.assign(**tasks, accuracy=classified["accuracy"])


def task_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of `score_subgraphs` that ReliK can be held against, in their order."""
    return [name for name in table.columns if re.fullmatch(r"\w+_(mrr|hits_at_\d+)|accuracy", name)]


def _of_each_triple(
    run: Run, triples: np.ndarray, filter: str, ks: Sequence[int], progress: Progress
) -> dict[str, np.ndarray]:
    """Return what the tasks average: a value per triple, ``(n,)``, by the task's column."""
    sides = ("head", "tail", "relation")
    ranks = dict.fromkeys(sides, np.empty(0))
    if len(triples):
        table = run.ranks(triples=triples, sides=sides, filter=filter, progress=progress)
        for side in sides:
            ranks[side] = table.loc[table["side"] == side, "realistic"].to_numpy()
    pools = {side: [ranks[of] for of in pool] for side, pool in POOLS.items()}
    found = {f"{s}_mrr": np.mean([1 / r for r in pool], axis=0) for s, pool in pools.items()}
    for k in ks:
        for side, pool in pools.items():
            found[f"{side}_hits_at_{k}"] = np.mean([r <= k for r in pool], axis=0)
    return found
