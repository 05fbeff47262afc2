"""The command ``breakdown``: a metric by groups of triples."""

from typing import Annotated, Any

import numpy as np
import typer

from kgdash.commands.groupings import (
    ConditionsOption,
    EndOption,
    TypesOption,
    grouping_by,
    make_grouping,
    tell_of_minutes,
)
from kgdash.commands.options.common import (
    FilterOption,
    LevelOption,
    RankTypeOption,
    SeedOption,
    SplitOption,
)
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal


def breakdown(
    run: RunOptions,
    by: Annotated[
        str,
        typer.Option(
            help="relation, cardinality, pattern, head_degree, tail_degree, answers, frequency, or "
            "the name of a grouping of your own (see `groupings`)."
        ),
    ] = "relation",
    metric: Annotated[
        str, typer.Option(help="mrr, mr, amri, hits@k for any k, …, or a key of `metrics`.")
    ] = "inverse_harmonic_mean_rank",
    split: SplitOption = "test",
    filter: FilterOption = None,
    rank_type: RankTypeOption = "realistic",
    condition: ConditionsOption = None,
    types: TypesOption = None,
    end: EndOption = "answer",
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    *,
    output: Output,
) -> None:
    """Break a metric down by groups of triples, per side, with intervals and ties."""
    from kgdash.breakdowns.breakdown import breakdown as compute
    from kgdash.breakdowns.breakdown import check_choices
    from kgdash.breakdowns.custom_grouping import groups_by
    from kgdash.breakdowns.grouping import Groups, groups_of
    from kgdash.breakdowns.rank_facts import add_rank_facts
    from kgdash.breakdowns.verdicts import groups_verdict
    from kgdash.graph import default_filter

    record = check_choices(metric, rank_type, level)
    loaded = run.load()
    adhoc = bool(condition or types)
    grouping = (
        make_grouping(loaded, "own groups", condition, types, end)
        if adhoc
        else grouping_by(loaded, by)
    )
    chosen = filter or default_filter(split)
    ranks = loaded.ranks(split=split, filter=chosen, progress=terminal("ranks"))
    annotated = add_rank_facts(ranks, loaded.graph, terminal("relations"))
    groups = grouping if isinstance(grouping, str) else groups_by(annotated, loaded.graph, grouping)
    tell_of_minutes(record, len(groups_of(annotated, groups)[2]))
    table = compute(annotated, groups, metric, rank_type, level, seed)
    about: dict[str, Any] = {"run": loaded.name, "split": split, "filter": chosen}
    about |= {"by": "own groups" if adhoc else by, "metric": record.key, "rank_type": rank_type}
    about |= {"level": level, "seed": seed, "notes": loaded.notes}

    def as_json() -> dict[str, Any]:
        everything = Groups(slice(None), np.zeros(len(annotated), dtype=np.int64), ["all"])
        whole = compute(annotated, everything, metric, rank_type, None).set_index("side")["value"]
        verdict = {
            side: groups_verdict(rows, whole[side], record, level).replace("**", "")
            for side, rows in table.groupby("side", sort=False)
        }
        return about | {"verdict": verdict} | records({"groups": table})

    output.show(table, as_json)
