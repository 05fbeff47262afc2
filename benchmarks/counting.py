"""What counting adds to scoring: exact ReliK's kernel against the bare one, on a sample of tiles.

    python benchmarks/counting.py RUN [--weights normal|ties] [--rounds N]

One thread, processor seconds, bare and counting in turn, medians of the ratios. ``--weights`` puts
random ones in the place of the model's: normal is a model before its first epoch, with ties (-1, 0
or 1) most scores equal others. The model's score must be one function, as DistMult's is.
"""

import argparse
import dataclasses
import time

import measure
import numpy as np
import torch

import kgdash
from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import candidate_panels, query_vectors, score_triples
from kgdash.engine.kernels import count_both, count_rows
from kgdash.engine.tasks import no_masks, sorted_masks

#: relations and blocks of heads that are sampled, and heads of each block
RELATIONS, BLOCKS, HEADS = 4, 5, 576


def main(name: str, weights: str, rounds: int) -> None:
    """Print a run's ratio."""
    run = kgdash.load(name)
    form, triples, known = run.scorer.form, run.graph.all_triples, run.graph.known()
    draw = torch.Generator().manual_seed(0)
    made = {
        "model": lambda old: old,
        "normal": lambda old: torch.randn(old.shape, generator=draw),
        "ties": lambda old: torch.randint(-1, 2, old.shape, generator=draw).float(),
    }[weights]
    form = dataclasses.replace(
        form,
        entities=[made(old) for old in form.entities],
        relations=[made(old) for old in form.relations],
    )
    size = form.num_entities
    own = score_triples(form, "tail", triples)
    sides = [Thresholds.of(own, triples[:, column], size) for column in (0, 2)]
    nothing = Thresholds.of(own[:0], triples[:0, 0], size)
    owner, position = known.triples_with_entity(np.arange(size), "head")
    relation, tail = np.divmod(position, size)
    tasks = []
    for number in np.linspace(0, form.num_relations - 1, RELATIONS).astype(int).tolist():
        panels = candidate_panels(form, "tail", number)
        for first in np.linspace(0, size - HEADS, BLOCKS).astype(int).tolist():
            rows = np.arange(first, first + HEADS)
            here = (relation == number) & (owner >= first) & (owner < first + HEADS)
            masks = sorted_masks(owner[here] - first, tail[here], HEADS)
            queries = query_vectors(form, "tail", rows, np.full(HEADS, number))
            tasks.append((queries, rows, panels.blocks, panels.count, masks))

    def bare() -> None:
        for queries, rows, *candidates, _ in tasks:
            none = no_masks(HEADS), nothing.bounds, nothing.counts()
            count_rows(form.kind, queries, HEADS, *candidates, rows, *none)

    def counting() -> None:
        counts = [side.counts() for side in sides]
        both = sides[0].bounds, counts[0], sides[1].bounds, counts[1]
        for queries, rows, *candidates, masks in tasks:
            count_both(form.kind, queries, HEADS, int(rows[0]), *candidates, masks, *both)

    times: list[list[float]] = []
    for _ in range(rounds + 1):
        times.append([])
        for way in (bare, counting):
            start = time.process_time()
            way()
            times[-1].append(time.process_time() - start)
    taken = np.array(times[1:])
    each = np.median(taken[:, 0]) / (len(tasks) * HEADS * size) * 1e9
    ratio = np.median(taken[:, 1] / taken[:, 0])
    print(f"{name}, {weights}: bare {each:.2f} ns a score, counting / bare {ratio:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--weights", choices=("model", "normal", "ties"), default="model")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(measure.machine())
    main(arguments.run, arguments.weights, arguments.rounds)
