"""The command ``guide``: what each metric is, and a run's own values."""

from typing import Annotated, Any

import typer

from kgdash.commands.options.common import (
    DatasetOption,
    FilterOption,
    RankTypeOption,
    SideOption,
    SplitOption,
)
from kgdash.commands.options.groups import Output
from kgdash.commands.options.output import load_run, records
from kgdash.progress import terminal


def guide(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="For values of its own; may be left out.")
    ] = None,
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    filter: FilterOption = None,
    side: SideOption = "both",
    rank_type: RankTypeOption = "realistic",
    *,
    output: Output,
) -> None:
    """Describe every metric; of a run, with values, sides, and what fewer candidates would do."""
    from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
    from kgdash.errors import check_name
    from kgdash.graph import default_filter
    from kgdash.graph.known_triples import RANK_TYPES
    from kgdash.ranking.candidate_subsampling import WHOLE_RANKS, expected_metrics
    from kgdash.ranking.metric_guide import guide_table, plain_and_adjusted
    from kgdash.ranking.metrics import metrics

    for kind, name, known in (
        ("side", side, ("head", "tail", "both")),
        ("rank type", rank_type, RANK_TYPES),
    ):
        check_name(kind, name, known, "the guide")
    more: dict[str, Any] = {}
    values = None
    if run is not None:
        loaded = load_run(run, dataset)
        chosen = filter or default_filter(split)
        ranks = loaded.ranks(split=split, filter=chosen, progress=terminal("ranks"))
        values = metrics(ranks).values(side, rank_type)
        sides = compare_sides(ranks, loaded.graph, rank_type)
        whole = rank_type if rank_type in WHOLE_RANKS else "pessimistic"
        more = {
            "run": loaded.name,
            "split": split,
            "filter": chosen,
            "side": side,
            "rank_type": rank_type,
            **records({"plain_and_adjusted": plain_and_adjusted(values), "sides": sides}),
            "sides_in_words": describe_sides(sides, ranks, rank_type),
            **records({"fewer_candidates": expected_metrics(ranks, side, whole)}),
        }
    table = guide_table(values)
    output.show(table, lambda: more | records({"metrics": table}))
