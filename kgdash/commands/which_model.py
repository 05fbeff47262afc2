"""The command ``which-model``: which of several models to trust where."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import (
    LevelOption,
    RankTypeOption,
    RelikMethodOption,
    SeedOption,
    SideOption,
    SplitOption,
)
from kgdash.commands.options.groups import Output, RunsOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal

#: what `which-model` prints or writes as a table
ChoiceTable = StrEnum("ChoiceTable", "strategies parts pairs")


def which_model(
    runs: RunsOptions,
    kind: Annotated[
        str, typer.Option("--parts", help="communities, subgraphs (random walks) or relations.")
    ] = "communities",
    split: SplitOption = "test",
    side: SideOption = "both",
    rank_type: RankTypeOption = "realistic",
    relik_of: Annotated[
        str, typer.Option(help="ReliK of all known triples there, or of the evaluated ones.")
    ] = "all",
    relik_method: RelikMethodOption = "exact",
    resolution: Annotated[
        float, typer.Option(help="Of communities: the higher, the smaller they are.")
    ] = 1.0,
    subgraphs: Annotated[int, typer.Option(help="How many subgraphs are drawn.")] = 100,
    size: Annotated[
        int | None, typer.Option(help="Entities in each subgraph. Default: by the graph.")
    ] = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    table: Annotated[
        ChoiceTable,
        typer.Option(
            help="strategies: picking by ReliK, and each model everywhere; parts: ReliK and MRR "
            "of every part and run; pairs: whether ReliK says where one run beats another."
        ),
    ] = ChoiceTable.strategies,
    *,
    output: Output,
) -> None:
    """Tell which model ReliK picks in each part of the graph, and whether it is the best there."""
    from kgdash.graph.subgraph import SubgraphSampling
    from kgdash.ranking.rank_setting import RankSetting
    from kgdash.studies.comparison.comparison import check_comparable
    from kgdash.studies.comparison.graph_parts import find_parts
    from kgdash.studies.comparison.model_selection import (
        BOOTSTRAP,
        describe_selection,
        pair_correlations,
        pair_differences,
        selection_summary,
        strategies,
    )
    from kgdash.studies.comparison.part_scores import part_scores
    from kgdash.studies.reliability.subgraph_table import default_size

    loaded = runs.load()
    check_comparable(loaded)
    sampling = SubgraphSampling(
        subgraphs, default_size(loaded[0]) if size is None else size, seed=seed
    )
    parts = find_parts(loaded[0], kind, resolution, sampling, terminal(kind))
    setting = RankSetting.parse(split, None, side, rank_type)
    progress = terminal("ranks and ReliK")
    scores = part_scores(loaded, parts, setting, relik_of, relik_method, progress)
    bootstrap = replace(BOOTSTRAP, level=level, seed=seed)
    tables: dict[str, pd.DataFrame] = {
        "strategies": strategies(scores, bootstrap),
        "parts": scores.table,
        "pairs": pair_correlations(pair_differences(scores)),
    }

    def about() -> dict[str, Any]:
        found = selection_summary(scores, bootstrap)
        about: dict[str, Any] = {"runs": scores.runs, "kind": kind, "split": split}
        about |= {"side": side, "rank_type": rank_type, "relik_of": relik_of}
        about |= {"relik_method": relik_method, "seed": seed, "summary": found}
        about["words"] = describe_selection(found, kind, level)
        return about | records({"overall": scores.overall, **tables})

    output.show(tables[table], about)
