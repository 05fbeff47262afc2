"""``python -m tests.fuzz.guided READER --cases N``: Atheris chooses cases by what code they reach.

It needs ``pip install -r requirements-fuzz.txt``. What it finds is kept as ``python -m tests.fuzz``
keeps it; contents that reach new code stay in ``--corpus``, and the next call begins with them.
"""

import argparse
import sys
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["kgdash"], enable_loader_override=False):
    from tests.fuzz.campaign import Outcome
    from tests.fuzz.harness import reset_peak, run_case, scratch, warm_up
    from tests.fuzz.keeping import keep, smaller
    from tests.fuzz.readers.every import READERS


def main() -> None:
    """Run the cases; libFuzzer says how many, and what they cover."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=Path("/tmp/kgdash-corpus"))
    options = parser.parse_args()
    reader, outcome = READERS[options.reader], Outcome()
    corpus = options.corpus / reader.name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(reader.seeds):
        (corpus / f"seed-{number}").write_bytes(data)

    with scratch() as folder:
        warm_up(reader, folder)

        def read(data: bytes) -> None:
            outcome.cases += 1
            finding = run_case(reader, data, folder)
            if finding is None:
                return
            reset_peak()
            outcome.add(outcome.cases, finding)
            if outcome.counts[finding.kind] == 1:
                print(f"{reader.name}: {finding.kind}\n{finding.detail}", flush=True)
                print(f"kept: {keep(reader, smaller(reader, data, finding.kind))}", flush=True)

        def change(data: bytes, most: int, seed: int) -> bytes:
            random = Random(seed)
            changed = reader.step(data or reader.seeds[0], random)
            return changed if len(changed) <= most else data

        settings = [f"-runs={options.cases}", f"-seed={options.seed}", "-max_len=1048576"]
        settings += ["-timeout=60", "-rss_limit_mb=0", "-len_control=0", "-reload=0"]
        settings += ["-print_final_stats=1", f"-artifact_prefix={corpus}-crash-", str(corpus)]
        atheris.Setup([sys.argv[0], *settings], read, custom_mutator=change)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
