"""The commands ``obl2021 predict`` and ``obl2021 evaluate``: the task of OBL2021."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from kgdash.commands.options.common import FilterOption, JsonOption, SeedOption, SplitOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.output import print_json, write_or_print
from kgdash.errors import KgdashError
from kgdash.files.extensions import check_extension
from kgdash.files.regular import check_regular
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.runs import Run

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
    run: RunOptions,
    out: Annotated[Path, typer.Argument(help="Submission to write (.npz).")],
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
    from kgdash.studies.obl2021.entity_ids import as_written, check_ids
    from kgdash.studies.obl2021.evaluation import evaluate as compute
    from kgdash.studies.obl2021.submission_writing import write_submission
    from kgdash.studies.obl2021.top_ten import predict as find

    check_extension(out, (".npz",))
    loaded = run.load()
    check_ids(loaded.graph, ids)
    rows = _triples(loaded, split, triples)
    asked = split if triples is None else rows
    heads, tails = find(loaded, asked, ties, seed, filter, terminal("ten best"))
    h10 = compute(heads, tails, rows).h10
    heads, tails = (as_written(array, loaded.graph, ids) for array in (heads, tails))
    print(write_submission(out, heads, tails, h10))


@app.command()
def evaluate(
    run: RunOptions,
    files: Annotated[
        list[Path], typer.Argument(help="Submissions (.npz, .npy, .pt); several are compared.")
    ],
    split: SplitOption = "test",
    triples: TriplesOption = None,
    ids: IdsOption = "graph",
    as_json: JsonOption = False,
) -> None:
    """Compute Hits@10 and MRR@10 of submissions, and their mean and standard deviation."""
    from kgdash.studies.obl2021.evaluation import compare, scores_table
    from kgdash.studies.obl2021.evaluation import evaluate as compute
    from kgdash.studies.obl2021.submission_reading import read_submissions

    loaded = run.load()
    rows = _triples(loaded, split, triples)
    contents = [(str(path), _content(path)) for path in files]
    found = read_submissions(contents, loaded.graph, len(rows), ids)
    scores = [compute(s.heads, s.tails, rows) for s in found]
    compared = compare(scores)
    if as_json:
        print_json(
            {
                "run": loaded.name,
                "notes": loaded.notes,
                "submissions": [
                    {"name": s.name, **asdict(of)} for s, of in zip(found, scores, strict=True)
                ],
                "compared": compared.to_dict("records"),
            }
        )
        return
    names = [s.name for s in found]
    write_or_print(scores_table(names, scores), None)
    if len(found) > 1:
        print("# mean and standard deviation")
        write_or_print(compared, None)


def _content(path: Path) -> bytes:
    try:
        check_regular(path)
        return path.read_bytes()
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error


def _triples(run: Run, split: str, triples: Path | None) -> np.ndarray:
    from kgdash.graph.triple_files import read_graph_triples

    return run.graph.split(split) if triples is None else read_graph_triples(triples, run.graph)
