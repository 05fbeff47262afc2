"""The command ``prognosis``: what performance does ReliK lead to expect?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kgdash.commands.shared import (
    DatasetOption,
    FilterOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.progress import terminal


class PrognosisTable(StrEnum):
    """What `prognosis` prints or writes as a table."""

    expected = "expected"
    errors = "errors"
    coverage = "coverage"
    points = "points"


def prognosis(
    run: RunArgument,
    dataset: DatasetOption = None,
    task: Annotated[
        str, typer.Option(help="Column of study --each: tail_mrr, relation_mrr, accuracy, …")
    ] = "tail_mrr",
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Predict the subgraph around this entity; repeat for several."),
    ] = None,
    subgraphs: Annotated[int, typer.Option(help="How many are learnt from, ≥ 20.")] = 100,
    size: Annotated[
        int | None, typer.Option(help="Entities in each. Default: by the graph.")
    ] = None,
    method: Annotated[str, typer.Option(help="rwr or neighbourhood.")] = "rwr",
    restart: Annotated[float, typer.Option(help="Restart probability of the walk.")] = 0.2,
    hops: Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")] = 1,
    direction: Annotated[str, typer.Option(help="either, outgoing or incoming.")] = "either",
    seed: SeedOption = 0,
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    filter: FilterOption = None,
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact",
    curve: Annotated[str, typer.Option(help="linear (on log ReliK), isotonic or mean.")] = "linear",
    interval: Annotated[str, typer.Option(help="cv+, split or normal.")] = "cv+",
    level: Annotated[float, typer.Option(help="Of the intervals, in (0, 1).")] = 0.9,
    table: Annotated[
        PrognosisTable | None,
        typer.Option(
            help="expected of each --entity; errors and coverage on subgraphs not learnt from; "
            "points: every subgraph. Default: expected if there is an --entity, else errors."
        ),
    ] = None,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Predict the performance in unseen subgraphs from their ReliK, with an interval."""
    from kgdash.errors import KgdashError
    from kgdash.studies.correlation.performance_prediction import expect, prognosis_of_run
    from kgdash.studies.reliability.subgraph_table import default_size

    chosen = table or (PrognosisTable.expected if entity else PrognosisTable.errors)
    if chosen == PrognosisTable.expected and not entity:
        raise KgdashError("--table expected needs at least one --entity")
    loaded = load_run(run, dataset)
    known = filter or "train+valid+test"
    entities = default_size(loaded) if size is None else size
    walk = {"restart": restart, "hops": hops, "direction": direction}
    # Before all that takes long, so that an unknown entity is refused at once.
    parts = [loaded.subgraph(e, method, entities, seed=seed, **walk) for e in entity or ()]
    found, learnt = prognosis_of_run(
        loaded,
        task,
        subgraphs,
        entities,
        method,
        evaluated,
        relik_method,
        known,
        curve,
        interval,
        level,
        seed,
        terminal("prognosis"),
        **walk,
    )
    tables = {"errors": found.errors, "coverage": found.coverage}
    tables["points"] = found.points.drop(columns="row")
    if parts:
        tables["expected"] = expect(loaded, found, learnt, parts, evaluated, relik_method, known)
    for name in ("points", "expected"):
        if name in tables:
            names = [loaded.graph.entities[e] for e in tables[name]["seed_entity"]]
            tables[name] = tables[name].assign(seed_entity=names)
    if out is not None:
        write_or_print(tables[chosen], out)
    if as_json:
        about = {
            "run": loaded.name,
            "task": task,
            "curve": curve,
            "interval": interval,
            "level": level,
            "subgraphs": subgraphs,
            "left_out": found.left_out,
            "size": entities,
            "method": method,
            "seed": seed,
            "evaluated": evaluated,
            "relik_method": relik_method,
            "notes": loaded.notes,
        }
        print_json(about | {name: rows.to_dict("records") for name, rows in tables.items()})
    elif out is None:
        write_or_print(tables[chosen], None)
