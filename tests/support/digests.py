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
    """Return {"RUN RESULT": SHA-256} of ranks, ReliK, a study and the report."""
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
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"KGDASH_CACHE": cache, "KGDASH_DATA": cache}
        print(json.dumps(digests(sys.argv[1:])))
