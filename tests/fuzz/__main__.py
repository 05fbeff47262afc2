"""``python -m tests.fuzz [READER…] --cases N --seed S``: run cases, and keep what they find."""

import argparse
import sys

from tests.fuzz.campaign import Outcome, run_apart
from tests.fuzz.keeping import keep, smaller
from tests.fuzz.reader import Reader
from tests.fuzz.readers.every import READERS


def main() -> None:
    """Run the cases and say what came of them; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--cases", type=int, default=1000, help="of each reader (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--forget", action="store_true", help="keep nothing of what is found")
    options = parser.parse_args()
    if unknown := [name for name in options.readers if name not in READERS]:
        parser.error(f"no reader {unknown[0]}; there are {', '.join(READERS)}")
    chosen = [READERS[name] for name in options.readers or READERS]
    numbers = range(options.first, options.first + options.cases)

    found = 0
    for reader in chosen:
        outcome = run_apart(reader, options.seed, numbers)
        found += sum(outcome.counts.values())
        _tell(reader, outcome)
        for number, finding in outcome.kept:
            print(f"  case {number}: {finding.kind} ({outcome.counts[finding.kind]}×)")
            print("    " + finding.detail[-1500:].replace("\n", "\n    "))
            if not options.forget:
                data = reader.case(options.seed, number)
                if not finding.kind.startswith(("ends", "hangs")):
                    data = smaller(reader, data, finding.kind)
                print(f"  kept: {keep(reader, data)}", flush=True)
    sys.exit(1 if found else 0)


def _tell(reader: Reader, outcome: Outcome) -> None:
    speed = outcome.cases / outcome.seconds if outcome.seconds else 0
    print(
        f"{reader.name}: {outcome.cases:,} cases, {outcome.seconds:,.0f} s "
        f"({speed:,.0f} a second), {sum(outcome.counts.values()):,} findings",
        flush=True,
    )


if __name__ == "__main__":
    main()
