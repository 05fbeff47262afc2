"""The command ``reliability``: ReliK over the whole graph."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from kgdash.commands.options.common import LevelOption, SeedOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import phases, terminal

#: what `reliability` averages ReliK over
ReliabilityBy = StrEnum("ReliabilityBy", "entity relation communities regions")


def reliability(
    run: RunOptions,
    by: Annotated[
        ReliabilityBy,
        typer.Option(
            help="entity, relation, communities (Louvain), or regions: connected groups whose "
            "ReliK is lower or higher than by chance."
        ),
    ] = ReliabilityBy.entity,
    method: Annotated[str, typer.Option(help="Of relik: exact or sampled.")] = "exact",
    level: LevelOption = 0.95,
    resolution: Annotated[
        float, typer.Option(help="Of communities: the higher, the smaller they are.")
    ] = 1.0,
    null_model: Annotated[
        str, typer.Option(help="Of regions: what permutations exchange, entities or triples.")
    ] = "entities",
    smallest: Annotated[int, typer.Option(help="Entities of a region, at least.")] = 5,
    largest: Annotated[int, typer.Option(help="Entities of a region, at most.")] = 100,
    permutations: Annotated[int, typer.Option(help="Behind the p-values of regions.")] = 200,
    seed: SeedOption = 0,
    *,
    output: Output,
) -> None:
    """Average ReliK per entity, relation or community, or find regions where it stands out."""
    from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
    from kgdash.studies.reliability.reliability_map import reliability_map

    scan = RegionScan(null_model, smallest, largest, permutations, seed=seed)
    loaded = run.load()
    graph = loaded.graph
    first, second = phases(terminal("reliability"), [0.9, 0.1])
    map_ = reliability_map(loaded, method, first)
    about: dict[str, Any] = {"run": loaded.name, "by": by.value, "method": method, "seed": seed}
    if by == ReliabilityBy.regions:
        found = scan_regions(map_, scan, second)
        table = found.table.assign(
            seed_entity=[graph.entities[e] for e in found.table["seed_entity"]],
            members=[" ".join(graph.entities[e] for e in own) for own in found.members],
        )
        about |= {"null_model": null_model, "baseline": found.baseline.tolist()}
        about |= {"smallest": smallest, "largest": largest, "permutations": permutations}
    else:
        table = map_.by(by.value, level, seed, resolution).drop(columns="id")
        about |= {"level": level}
        about |= {"resolution": resolution} if by == ReliabilityBy.communities else {}
    rows = table
    if by == ReliabilityBy.regions:
        rows = table.assign(members=[[graph.entities[e] for e in own] for own in found.members])
    output.show(table, lambda: about | {"notes": loaded.notes} | records({"rows": rows}))
