"""The commands ``groupings list``, ``add`` and ``remove``: a user's own groups of triples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgdash.commands.options.common import JsonOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.output import load_types, print_json
from kgdash.commands.options.terminal import say, tell_notes
from kgdash.errors import KgdashError, unknown_name

if TYPE_CHECKING:
    from kgdash.breakdowns.custom_grouping import CustomGrouping
    from kgdash.ranking.metric import Metric
    from kgdash.runs import Run

#: groups from which on a metric that is no ratio of sums takes so long that a word is due
_MANY = 1_000

app = typer.Typer(no_args_is_help=True, help="Your own groups of triples, saved with a run.")

ConditionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--condition",
        help='A group and a condition, "name: column operator value", such as '
        '"rare: frequency < 100"; repeat it: those of one group must all hold.',
    ),
]
TypesOption = Annotated[
    Path | None, typer.Option(help="Entity types: TSV or CSV of entity, type, one pair a line.")
]
EndOption = Annotated[
    str, typer.Option(help="Whose types: head, tail, answer (the entity asked for) or query.")
]


@app.command(name="list")
def list_(run: RunOptions, as_json: JsonOption = False) -> None:
    """List the groupings that are saved with a run."""
    from kgdash.runs.saved_groupings import groupings_file, saved_groupings

    loaded = run.load()
    saved = saved_groupings(loaded)
    if as_json:
        print_json(
            {
                "file": str(groupings_file(loaded)),
                "groupings": [grouping.to_json(loaded.graph) for grouping in saved.values()],
            }
        )
        return
    for grouping in saved.values():
        say(f"{grouping.name}: {grouping.describe()}")
    print(f"{len(saved)} groupings in {groupings_file(loaded)}", file=sys.stderr)


@app.command()
def add(
    run: RunOptions,
    name: Annotated[str, typer.Argument(help="Of the grouping; one of that name is replaced.")],
    condition: ConditionsOption = None,
    types: TypesOption = None,
    end: EndOption = "answer",
) -> None:
    """Save a grouping with a run, for `breakdown --by` and the page Breakdowns."""
    from kgdash.runs.saved_groupings import save_grouping

    loaded = run.load()
    grouping = make_grouping(loaded, name, condition, types, end)
    print(f"saved {name!r} ({grouping.describe()}) in {save_grouping(loaded, grouping)}")


@app.command()
def remove(run: RunOptions, name: Annotated[str, typer.Argument(help="Of the grouping.")]) -> None:
    """Delete a grouping that is saved with a run."""
    from kgdash.runs.saved_groupings import delete_grouping

    print(f"removed {name!r} from {delete_grouping(run.load(), name)}")


def make_grouping(
    run: Run, name: str, conditions: list[str] | None, types: Path | None, end: str
) -> CustomGrouping:
    """Make a grouping of what the options say.

    :raises KgdashError: unless it is either conditions or a file of types, and both are understood
    """
    from kgdash.breakdowns.custom_grouping import TypeGrouping, condition_grouping

    if bool(conditions) == bool(types):
        raise KgdashError("give either --condition, once or more, or --types")
    if types is None:
        return condition_grouping(name, conditions or [])
    return TypeGrouping(name, end, load_types(types, run.graph))


def tell_of_minutes(metric: Metric, groups: int) -> None:
    """Say so where a metric is computed group by group, and of many, before it is."""
    if metric.ratio is None and groups > _MANY:
        tell_notes([f"{metric.key} is computed group by group, of {groups:,}: minutes"])


def grouping_by(run: Run, by: str) -> str | CustomGrouping:
    """Find a grouping by name: one of kgdash's own, or one that is saved with the run.

    :raises KgdashError: if there is none
    """
    from kgdash.breakdowns.custom_grouping import missing_note
    from kgdash.breakdowns.grouping import GROUPINGS
    from kgdash.runs.saved_groupings import saved_groupings

    if by in GROUPINGS:
        return by
    saved = saved_groupings(run)
    if by not in saved:
        raise unknown_name("grouping", by, [*GROUPINGS, *saved], f"run {run.name}")
    tell_notes(missing_note(saved[by]))
    return saved[by]
