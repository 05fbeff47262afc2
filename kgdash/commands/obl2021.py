"""The commands ``obl2021 predict`` and ``obl2021 evaluate``: the task of OBL2021."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kgdash.commands.shared import (
    DatasetOption,
    FilterOption,
    JsonOption,
    RunArgument,
    SeedOption,
    SplitOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.errors import KgdashError
from kgdash.progress import terminal

app = typer.Typer(
    no_args_is_help=True,
    help="The ten best heads and tails per triple, and what they hit, as OBL2021 counts.",
)

TriplesOption = Annotated[
    Path | None,
    typer.Option(help="TSV or CSV of head, relation, tail: these, in this order, not a split."),
]
IdsOption = Annotated[
    str, typer.Option(help="Ids in the files: graph, or names where entities are named by numbers.")
]


@app.command()
def predict(
    run: RunArgument,
    out: Annotated[Path, typer.Argument(help="Submission to write (.npz).")],
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    triples: TriplesOption = None,
    filter: FilterOption = None,
    ties: Annotated[str, typer.Option(help="Equal scores: random (by --seed) or ordinal.")] = (
        "random"
    ),
    seed: SeedOption = 0,
    ids: IdsOption = "graph",
) -> None:
    """Write a submission and print the line that goes with it."""
    from kgdash.studies.obl2021 import submission_files as obl2021_files
    from kgdash.studies.obl2021 import top_ten as obl2021

    obl2021_files.check_extension(out)
    loaded = load_run(run, dataset)
    obl2021_files.check_ids(loaded.graph, ids)
    rows = _triples(loaded, split, triples)
    heads, tails = obl2021.predict(
        loaded, split, ties, seed, filter, terminal("ten best"), None if triples is None else rows
    )
    h10 = obl2021.evaluate(heads, tails, rows)["h10"]
    heads = obl2021_files.as_written(heads, loaded.graph, ids)
    tails = obl2021_files.as_written(tails, loaded.graph, ids)
    print(obl2021_files.write_submission(out, heads, tails, h10))


@app.command()
def evaluate(
    run: RunArgument,
    files: Annotated[
        list[Path], typer.Argument(help="Submissions (.npz, .npy, .pt); several are compared.")
    ],
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    triples: TriplesOption = None,
    ids: IdsOption = "graph",
    as_json: JsonOption = False,
) -> None:
    """Compute Hits@10 and MRR@10 of submissions, and their mean and standard deviation."""
    from kgdash.studies.obl2021 import submission_files as obl2021_files
    from kgdash.studies.obl2021 import top_ten as obl2021

    loaded = load_run(run, dataset)
    rows = _triples(loaded, split, triples)
    contents = [(str(path), _content(path)) for path in files]
    found = obl2021_files.read_submissions(contents, loaded.graph, len(rows), ids)
    figures = [obl2021.evaluate(s.heads, s.tails, rows) for s in found]
    compared = obl2021.compare(figures)
    if as_json:
        print_json(
            {
                "run": loaded.name,
                "notes": loaded.notes,
                "submissions": [{"name": s.name, **f} for s, f in zip(found, figures, strict=True)],
                "compared": compared.to_dict("records"),
            }
        )
        return
    names = [s.name for s in found]
    write_or_print(obl2021.figures_table(names, figures), None)
    if len(found) > 1:
        print("# mean and standard deviation")
        write_or_print(compared, None)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error


def _triples(run: Any, split: str, triples: Path | None) -> np.ndarray:
    from kgdash.graph.triple_files import read_graph_triples

    return run.graph.split(split) if triples is None else read_graph_triples(triples, run.graph)
