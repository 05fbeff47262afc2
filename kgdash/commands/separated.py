"""What the commands ``queries`` and ``rules`` share: scoring instances, and what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kgdash.commands.output import print_json, write_or_print
from kgdash.progress import terminal

ChainsOption = Annotated[str, typer.Option(help="Several chains to an answer: best or mean.")]


def compare_labels(run: Any, instances: Any, chains: str, as_json: bool, out: Path | None) -> None:
    """Score instances and print, or write, what tells true ones from false ones."""
    from kgdash.studies.instances import score_instances
    from kgdash.studies.separation import separation

    scored = score_instances(run, instances, terminal("scoring instances"))
    measures = {m: separation(scored.table, m, chains) for m in ("relik", "reciprocal_rank")}
    if out is not None:
        write_or_print(scored.table, out)
    if as_json:
        print_json(
            {
                "run": run.name,
                "chains": chains,
                "notes": instances.notes,
                "separation": {m: t.to_dict("records") for m, t in measures.items()},
            }
        )
    elif out is None:
        for measure, found in measures.items():
            print(f"# {measure}")
            write_or_print(found, None)
