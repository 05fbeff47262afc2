"""How large graphs are imported, opened and asked, as ratios to bare scoring where there is one.

    python benchmarks/scale.py FOLDER [STEP ...]      (FOLDER: as synthetic_graph.py writes it)

Steps: import, open, search, subgraph, relik, ranks, breakdown; and of FB15k-237 counting, discover
and cluster. Each is a process of its own. Every line has seconds, processor seconds, and the most
memory above mapped files. The run is written to FOLDER/run once, and read by the others, which
share a cache, FOLDER/cache.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import measure
import numpy as np
import torch

from kgdash.engine.bounds import Thresholds
from kgdash.engine.counting import count_ranks
from kgdash.engine.form import candidate_panels, query_vectors
from kgdash.engine.kernels import count_rows
from kgdash.engine.microkernels import L1
from kgdash.engine.tasks import no_masks
from kgdash.engine.turned_kernels import SUM
from kgdash.files.memory import own_memory
from kgdash.scoring.form_parts import Turning

#: the model of FB15k-237 that is bundled
SMALL = "fb15k-237-complex"

STEPS = (
    *("import", "open", "search", "subgraph", "relik", "ranks", "breakdown"),
    *("counting", "discover", "cluster"),
)

#: steps that are benchmarks of their own
OWN = {
    "breakdown": ("breakdowns.py", "20000000", "--by", "relation"),
    "counting": ("counting.py", SMALL),
    "discover": ("discovery.py", "--relations", "40", SMALL),
}

#: entities of the subgraph, negatives drawn a side, test triples that are ranked at most, and
#: candidates of the bare scoring
ENTITIES, SAMPLES, RANKED, SCORED = 200, 1_000, 5_163, 2**16


class Memory(threading.Thread):
    """Watches how much memory that is no file's this process has: ``most``, in MiB."""

    def __init__(self) -> None:
        """Begin at once."""
        super().__init__(daemon=True)
        self.most = 0.0
        self.start()

    def run(self) -> None:
        """Look fifty times a second."""
        while True:
            self.most = max(self.most, own_memory() / 2**20)
            time.sleep(0.02)


def timed(name: str, work: Callable[[], Any], memory: Memory) -> Any:
    """Do a step and print what it took."""
    start, processor = time.perf_counter(), time.process_time()
    found = work()
    took = time.perf_counter() - start, time.process_time() - processor
    print(f"{name:34} {took[0]:9.2f} s {took[1]:9.2f} s CPU {memory.most:9,.0f} MiB", flush=True)
    return found


def write_run(folder: Path) -> None:
    """Import a folder of triples and the weights beside it."""
    from kgdash.formats import run_directory
    from kgdash.graph.datasets import load_dataset
    from kgdash.scoring.model_spec import ModelSpec

    graph = load_dataset(folder)
    weights = {}
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        values = torch.from_numpy(np.load(folder / f"{name}.npy", mmap_mode="c"))
        weights[f"{kind}_representations.0._embeddings.weight"] = values
    spec = ModelSpec("DistMult", {"embedding_dim": values.shape[1]})
    run_directory.write_run(folder / "run", graph, spec, weights, {}, {})


def step(name: str, folder: Path) -> None:
    """Do one step in this process."""
    import kgdash
    import kgdash.runs.loading
    from kgdash.graph.entity_search import search_entities

    # Each process of a user finds what another kept, as here.
    os.environ |= {"KGDASH_CACHE": str(folder / "cache"), "KGDASH_CACHE_LIMIT": "8G"}
    memory = Memory()
    if name == "import":
        timed(name, lambda: write_run(folder), memory)
        return
    run = timed("open", lambda: kgdash.load(folder / "run"), memory)
    graph = run.graph
    if name == "search":
        label = graph.entity_labels[len(graph.entities) // 2]
        timed("search, first", lambda: search_entities(graph, label[:6]), memory)
        for text in (label[:6], label[5:11], label, graph.entities[5], "nothing is called so"):
            timed(f"search {text!r}", lambda t=text: search_entities(graph, t), memory)
    entity = int(graph.splits["test"][0, 0])
    if name in ("subgraph", "relik"):
        part = timed("subgraph, first", lambda: run.subgraph(entity, size=ENTITIES), memory)
        timed("subgraph", lambda: run.subgraph(entity + 1, size=ENTITIES), memory)
        inside = timed("its triples", part.triples, memory)
    if name == "relik":
        for again in range(2):
            timed(
                f"sampled ReliK of {len(inside):,} triples",
                lambda s=again: run.relik(
                    triples=inside, method="sampled", samples=SAMPLES, seed=s
                ),
                memory,
            )
    if name == "ranks":
        ranks(run, memory)


def ranks(run: Any, memory: Memory) -> None:
    """Rank test triples on both sides by inner product and, with the same vectors, by L1."""
    test, known = run.graph.splits["test"][:RANKED], run.graph.known()
    form = run.scorer.form
    for name, taken in (
        ("inner product", form),
        ("L1", replace(form, kind=L1, left=Turning(SUM))),
    ):
        took = bare(taken, test)
        print(f"bare, {name}: {took:.1f} s CPU, extrapolated from {SCORED:,} entities", flush=True)
        for side in ("tail", "head"):
            timed(
                f"{name}, {len(test):,} {side}s",
                lambda f=taken, s=side: count_ranks(f, test, known, s),
                memory,
            )


def cluster() -> None:
    """Count ReliK of all test triples alone and by a cluster's two processes, from nothing each."""
    took = {}
    for name, options in (("alone", []), ("cluster of 2", ["--cluster", "local:2"])):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "kgdash", "relik", SMALL, "--split", "test"]
            where = {"KGDASH_CACHE": folder, "PYTHONPATH": str(Path(__file__).parents[1])}
            start = time.perf_counter()
            subprocess.run(
                [*command, *options, "--out", f"{folder}/relik.csv"],
                env=os.environ | where,
                check=True,
                stderr=subprocess.DEVNULL,
            )
            took[name] = time.perf_counter() - start
        print(f"ReliK of {SMALL}'s test triples, {name}: {took[name]:.1f} s", flush=True)
    print(f"    {took['cluster of 2'] / took['alone']:.2f} times", flush=True)


def bare(form: Any, triples: np.ndarray) -> float:
    """Score some candidates of both sides once, in a cache, and forget them.

    :return: CPU seconds that all candidates would take
    """
    rows, nothing = len(triples), np.zeros(0, dtype=np.int64)
    queries = query_vectors(form, "tail", triples[:, 0], triples[:, 1])
    panels = candidate_panels(form, "tail", 0, np.arange(SCORED))
    bounds = Thresholds.of(np.zeros(0, dtype=np.float32), nothing, rows)
    of_rows = np.arange(rows), no_masks(rows), bounds.bounds, bounds.counts()
    start = time.process_time()
    count_rows(form.kind, queries, rows, panels.blocks, panels.count, *of_rows)
    return 2 * (time.process_time() - start) * form.num_entities / SCORED


def main(folder: Path, steps: list[str]) -> None:
    """Run each step in a process of its own."""
    print(measure.machine())
    for name in steps:
        print(f"-- {name}", flush=True)
        if name == "cluster":
            cluster()
            continue
        script, *options = OWN.get(name, (__file__, str(folder), "--only", name))
        path = Path(__file__).parent / script
        subprocess.run([sys.executable, str(path), *options], check=True)


if __name__ == "__main__":
    place, *others = sys.argv[1:]
    if others[:1] == ["--only"]:
        step(others[1], Path(place))
    else:
        main(Path(place), others or list(STEPS))
