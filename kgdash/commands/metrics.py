"""The command ``metrics``: all rank-based metrics of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgdash.commands.metrics_latex import LatexOption, MetricsOutOption, WithOption
from kgdash.commands.metrics_latex import latex as print_latex
from kgdash.commands.options.common import FilterOption, JsonOption, SplitOption
from kgdash.commands.options.groups import HelpedRunOptions, Output
from kgdash.commands.options.output import load_types
from kgdash.commands.options.terminal import tell_notes
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph


def metrics(
    run: HelpedRunOptions,
    split: SplitOption = "test",
    filter: FilterOption = None,
    k: Annotated[list[int] | None, typer.Option(help="k of Hits@k; repeat for several.")] = None,
    relation: Annotated[
        list[str] | None, typer.Option(help="Only this relation; repeat for several.")
    ] = None,
    entities: Annotated[
        Path | None,
        typer.Option(help="Only these entities, as ends and as candidates: one name a line."),
    ] = None,
    min_degree: Annotated[
        int | None, typer.Option(help="Only entities with so many known triples or more.")
    ] = None,
    max_degree: Annotated[
        int | None, typer.Option(help="Only entities with so many known triples or fewer.")
    ] = None,
    types: Annotated[
        Path | None, typer.Option(help="Entity types: TSV or CSV of entity, type, one pair a line.")
    ] = None,
    type_name: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only entities of this type of --types; repeat for several."),
    ] = None,
    latex: LatexOption = False,
    compared: WithOption = None,
    as_json: JsonOption = False,
    out: MetricsOutOption = None,
) -> None:
    """Print all rank-based metrics per side and rank type."""
    from kgdash.breakdowns.verdicts import sides_verdict
    from kgdash.graph import FILTERS, default_filter
    from kgdash.graph.filter_advice import leak_warning
    from kgdash.graph.restriction import read_entities, restrict
    from kgdash.ranking.metric_lookup import DEFAULT_KS
    from kgdash.ranking.metrics import metrics as compute
    from kgdash.ranking.metrics import tie_summary

    chosen = filter or default_filter(split)
    with run.opened() as (loaded,):
        only = restrict(
            loaded.graph,
            relation or (),
            read_entities(entities, loaded.graph, progress=terminal("entities"))
            if entities
            else None,
            min_degree,
            max_degree,
            _of_types(loaded.graph, types, type_name),
        )
        ranks = loaded.ranks(
            split=split, filter=chosen, progress=terminal("ranks"), restriction=only
        )
    if chosen in FILTERS and (warning := leak_warning(split, chosen)):
        tell_notes([warning])
    if latex or compared or (out is not None and out.suffix == ".tex"):
        print_latex(loaded, compared, out, split, chosen, only)
        return
    values = compute(ranks, tuple(k) if k else DEFAULT_KS)
    frame = values.frame.set_axis([".".join(column) for column in values.frame.columns], axis=1)

    def about() -> dict[str, Any]:
        return {
            "run": loaded.name,
            "split": split,
            "filter": chosen,
            "notes": loaded.notes,
            "verdict": sides_verdict(ranks).replace("**", ""),
            "evaluated": only.count(loaded.graph, loaded.graph.split(split)),
            "ties": tie_summary(ranks),
            "metrics": values.nested(),
        }

    Output(as_json, out).show(frame, about, index=True)


def _of_types(graph: KnowledgeGraph, types: Path | None, names: list[str] | None) -> Any:
    """Return the entities of some types of a file, or None where neither is given."""
    if bool(types) != bool(names):
        raise KgdashError("give --types FILE and --type NAME together")
    return load_types(types, graph).entities_of(names) if types and names else None
