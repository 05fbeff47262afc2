"""The command ``inspect``: one triple, looked at from all sides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import FilterOption, JsonOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.output import load_others, load_types, print_json, write_or_print
from kgdash.commands.options.terminal import say
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.runs import Run
    from kgdash.studies.inspection.inspection import Inspection

_PART = "Name or label; ? leaves this side open."


def inspect(
    run: RunOptions,
    head: Annotated[str, typer.Argument(metavar="HEAD", help=_PART)],
    relation: Annotated[str, typer.Argument(metavar="RELATION", help=_PART)],
    tail: Annotated[str, typer.Argument(metavar="TAIL", help=_PART)],
    k: Annotated[int, typer.Option(help="Candidates listed on each side.")] = 10,
    filter: FilterOption = None,
    types: Annotated[
        Path | None,
        typer.Option(help="Entity types: TSV or CSV of entity, type, one pair a line."),
    ] = None,
    compared: Annotated[
        list[str] | None,
        typer.Option("--with", help="The same triple in this run too; repeat for several."),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Look for the card's strongest reason: some seconds.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            help="Of ReliK: exact, with the negatives that score higher, or sampled. Default: "
            "exact where it takes seconds."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model says of one triple: candidates, ranks, ReliK, and what beats it."""
    from kgdash.graph import triple_text
    from kgdash.studies.inspection.entity_roles import types_of_run
    from kgdash.studies.inspection.inspected_triple import OPEN, find_triple
    from kgdash.studies.inspection.inspection import inspect_triple, what_beats
    from kgdash.studies.inspection.summary import summary

    loaded = run.load()
    triple = find_triple(loaded.graph, head, relation, tail)
    found = inspect_triple(loaded, triple, filter, k, terminal("negatives"), method)
    sampled = found.relik is not None and found.relik.interval is not None
    better = None if sampled else what_beats(found, terminal("negatives"))
    kinds = load_types(types, loaded.graph) if types else None
    if kinds is None and better:
        kinds = types_of_run(loaded)[0]
    about = summary(found, better, kinds, k)
    about["card"] = None if triple.open_side is not None else _card(found, why)
    if compared:
        about["runs"] = _same_triple(loaded, compared, found, method)
    if as_json:
        print_json(about)
        return
    say(triple_text(*(label or OPEN for label in triple.labels(loaded.graph))))
    if about["card"] is not None:
        say(about["card"]["line"])
    say(about["verdict"])
    _print_tables(about)


def _card(found: Inspection, why: bool) -> dict[str, Any]:
    from kgdash.runs.loading import load
    from kgdash.studies.explanations.explanation import explain
    from kgdash.studies.trust.card import trust_card
    from kgdash.studies.trust.competing import competing_names

    others = {name: load(name) for name in competing_names(found.run)}
    reasons = explain(found.run, found.triple, terminal("reasons")) if why else None
    return trust_card(found, others, why=reasons).about()


def _same_triple(
    run: Run, others: list[str], found: Inspection, method: str | None
) -> list[dict[str, Any]]:
    from kgdash.studies.comparison.comparison import distinct_names
    from kgdash.studies.inspection.other_runs import same_triple

    if found.triple.open_side is not None:
        raise KgdashError("--with compares a whole triple in several runs: leave no side open")
    runs = [run, *load_others(others)]
    named = dict(zip(distinct_names(runs), runs, strict=True))
    rows: list[dict[str, Any]] = same_triple(
        named, found.triple, found.filter, method=method
    ).to_dict("records")
    return rows


def _print_tables(about: dict[str, Any]) -> None:
    """Print the lists of a summary as tab-separated tables, each below its heading."""
    tables = {f"Candidates for the {side}": rows for side, rows in about["top"].items()}
    for side, better in (about["better"] or {}).items():
        count = f"{better['count']:,} of {better['negatives']:,}"
        tables[f"Negatives with this {side} that score higher: {count}"] = better["best"]
        tables[f"These by relation ({side})"] = better["by_relation"]
        tables[f"These by type of entity ({side})"] = better["by_type"]
    for side, end in about["ends"].items():
        title = f"Known triples of the {side}, {end['label']}: {end['degree']:,}"
        tables[title] = end["relations"]
    tables["The same triple under several runs"] = about.get("runs", [])
    for title, rows in tables.items():
        if rows:
            print()
            say(title)
            write_or_print(pd.DataFrame(rows), None)
