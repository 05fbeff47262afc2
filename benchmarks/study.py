"""How long the correlation study takes, against the subgraphs one by one; and the reliability map.

    python benchmarks/study.py [--size N] [RUN ...]

One by one is the page Local reliability for each subgraph: ReliK and ranks of what is inside, each
with a cache of its own; timed on some subgraphs and extrapolated to 100.
"""

import argparse
import os
import tempfile

import measure

import kgdash
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.runs import Run
from kgdash.studies.correlation.correlation import correlation_study
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.region_scan import NULL_MODELS, RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import reliability_map
from kgdash.studies.reliability.subgraph_table import default_size, draw_subgraphs

COUNT, SOME = 100, 5


def one_by_one(run: Run, size: int) -> float:
    """Return what 100 subgraphs would take one by one, by some of them."""
    parts = draw_subgraphs(run, SubgraphSampling(SOME, size))
    return measure.seconds(lambda: [compare(run, part) for part in parts]) * COUNT / SOME


def print_study(run: Run, size: int) -> None:
    """Print the times of a run's study: cold, from the cache, and one by one."""
    os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
    cold = measure.seconds(lambda: correlation_study(run, [size], SubgraphSampling(COUNT)))
    warm = measure.seconds(lambda: correlation_study(run, [size], SubgraphSampling(COUNT)))
    os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
    apart = one_by_one(run, size)
    print(
        f"{run.name}: {COUNT} subgraphs of {size} entities: {cold:.1f} s cold, {warm:.2f} s from "
        f"the cache; one by one {apart:.0f} s ({apart / cold:.1f}×)",
        flush=True,
    )


def print_map(run: Run) -> None:
    """Print the times of the reliability map: ReliK of all triples, and the scans."""
    os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
    found = {}
    whole = measure.seconds(lambda: found.update(map=reliability_map(run)))
    print(f"  reliability map: ReliK of all triples {whole:.1f} s", flush=True)
    for null_model in NULL_MODELS:
        scan = measure.seconds(lambda n=null_model: scan_regions(found["map"], RegionScan(n)))
        print(f"  regions by {null_model}, 200 permutations: {scan:.1f} s", flush=True)


def main() -> None:
    """Run the benchmark for the runs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=list(measure.SIX))
    parser.add_argument("--size", type=int)
    given = parser.parse_args()
    print(measure.machine())
    for name in given.runs:
        run = kgdash.load(name)
        print_study(run, given.size or default_size(run))
        print_map(run)
    print(f"peak memory {measure.peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    main()
