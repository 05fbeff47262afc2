"""How long queries take: sampling, their instances, and scoring with exact ReliK, cache cold.

python benchmarks/queries.py RUN [--per-type N] [--types paper|all] [--beam K]
"""

import argparse
import time
from typing import Any

import measure

import kgdash
from kgdash.runs import Run
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.query_instances import AnswerSampling, query_instances
from kgdash.studies.queries.query_types import PAPER_TYPES, QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling, draw_queries

TYPES = {"paper": PAPER_TYPES, "all": tuple(QUERY_TYPES)}


def print_queries(run: Run, types: tuple[str, ...], per_type: int, width: int | None) -> None:
    """Print what each step takes, and how much there was to do."""
    made: dict[str, Any] = {}
    beam = Beam(run.scorer, width) if width else None
    sampling, answers = QuerySampling(types, per_type), AnswerSampling(beam=beam)
    drawing = measure.seconds(lambda: made.update(asked=draw_queries(run.graph, sampling)))
    pairing = measure.seconds(
        lambda: made.update(found=query_instances(run.graph, made["asked"], answers))
    )
    before = time.process_time()
    scoring = measure.seconds(lambda: score_instances(run, made["found"]))
    computing = time.process_time() - before
    triples = made["found"].triples[["head", "relation", "tail"]].drop_duplicates()
    print(
        f"{run.name}: {len(made['found']) // 2:,} queries of {len(types)} types: "
        f"sampling {drawing:.1f} s, answers and paths {pairing:.1f} s, scoring {scoring:.1f} s "
        f"({computing:.0f} s of CPU); together {drawing + pairing + scoring:.0f} s\n"
        f"  {len(triples):,} distinct triples with {triples['head'].nunique():,} heads and "
        f"{triples['tail'].nunique():,} tails",
        flush=True,
    )


def main() -> None:
    """Run the benchmark for the run of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--per-type", type=int, default=1000)
    parser.add_argument("--types", choices=list(TYPES), default="paper")
    parser.add_argument("--beam", type=int, metavar="K", help="intermediates by a beam of K")
    given = parser.parse_args()
    print(measure.machine())
    print_queries(kgdash.load(given.run), TYPES[given.types], given.per_type, given.beam)
    print(f"peak memory {measure.peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    main()
