"""SHA-256 of what runs give, printed as JSON: ``python -m tests.support.digests RUN…``.

Its own process, so that threads and instruction sets can be set by the environment.
"""

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path


def digests(names: list[str]) -> dict[str, str]:
    """Return {"RUN RESULT": SHA-256} of what runs give, alone and together, and of an audit.

    An audit's models are kept in ``$KGDASH_DATA`` and found again: what is trained anew is the same
    on one thread alone.
    """
    import kgdash
    from kgdash import cli

    found = {}

    def note(what: str, data: bytes) -> None:
        found[what] = hashlib.sha256(data).hexdigest()

    def command(*arguments: object) -> bytes:
        sys.argv = ["kgdash", *map(str, arguments)]
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
            cli.main()
        return out.getvalue().encode()

    for name in names:
        run = kgdash.load(name)
        note(f"{name} ranks", run.ranks("test").to_csv().encode())
        note(f"{name} relik", run.relik("valid").to_csv().encode())
        note(f"{name} study", command("study", name, "--size", 20, "--subgraphs", 6, "--json"))
        with tempfile.TemporaryDirectory() as folder:
            command("report", name, f"{folder}/report.html")
            note(f"{name} report", Path(folder, "report.html").read_bytes())
    # Those of the last one: what they rest on takes long.
    note("calibration", command("calibrate", name, "--resamples", 50, "--json"))
    note("answer sets", command("answer-sets", name, "--by", "relation", "--json"))
    together = ("--margin", 1, "--resamples", 50, "--json")
    note("agreement", command("agreement", *names, *together))
    note("audit", command("audit", "nations", *_AUDITED, "--folds", 2, "--json"))
    return found


_AUDITED = ("--model", "DistMult", "--dim", 8, "--epochs", 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"KGDASH_CACHE": cache, "KGDASH_DATA": os.environ.get("KGDASH_DATA", cache)}
        print(json.dumps(digests(sys.argv[1:])))
