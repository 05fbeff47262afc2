"""``kgdash runs``: the bundled runs."""

from __future__ import annotations

import pandas as pd

from kgdash.commands.shared import JsonOption, print_json


def runs(as_json: JsonOption = False) -> None:
    """List the bundled runs."""
    from kgdash.runs.bundled import bundled_runs

    rows = bundled_runs()
    if as_json:
        print_json({"runs": rows})
    else:
        print(pd.DataFrame(rows).to_string(index=False))
