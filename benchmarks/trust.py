"""How long one prediction's trust card takes: probabilities fitted, and reasons found.

    python benchmarks/trust.py [RUN] [--predictions N]

Fitting begins when the ranks of validation are known. Reasons are rules, carrying facts of both
sides and analogies, of test triples at random; the first one, which reads the graph, is told apart.
"""

import argparse
import statistics
import time

import measure
import numpy as np

import kgdash
from kgdash.graph import default_filter
from kgdash.progress import silent
from kgdash.studies.explanations.explanation import explain
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.probability.calibration import _fit  # what is kept, and bundled, is no figure


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("run", nargs="?", default="fb15k-237-complex")
    options.add_argument("--predictions", type=int, default=50)
    given = options.parse_args()
    print(measure.machine())
    run = kgdash.load(given.run)
    ranks = measure.seconds(lambda: run.ranks(split="valid", filter=default_filter("valid")))
    begun = time.process_time()
    fitted = measure.seconds(lambda: _fit(run, run.graph.split("valid"), silent))
    processor = time.process_time() - begun
    print(f"ranks of validation {ranks:.2f} s; fitting {fitted:.2f} s ({processor:.2f} s CPU)")
    test = run.graph.split("test")
    chosen = np.random.default_rng(0).permutation(len(test))[: given.predictions + 1]
    first, *each = (
        measure.seconds(lambda t=triple: explain(run, InspectedTriple(*map(int, t))))
        for triple in test[chosen]
    )
    print(
        f"reasons: the first {first:.2f} s; of {len(each)} more half within "
        f"{statistics.median(each):.2f} s, nine of ten {np.quantile(each, 0.9):.2f} s, all "
        f"{max(each):.2f} s; {measure.peak_mebibytes():,.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
