"""``python -m kgdash``: the numbers of every page on the command line."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash import (
    cli_breakdown,
    cli_cache,
    cli_compare,
    cli_groupings,
    cli_guide,
    cli_health,
    cli_instances,
    cli_latex,
    cli_obl2021,
    cli_report,
    cli_train,
)
from kgdash.cli_output import (
    DatasetOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="See where a knowledge-graph embedding can be trusted.",
)

app.command()(cli_breakdown.breakdown)
app.command()(cli_compare.compare)
app.command()(cli_guide.guide)
app.command()(cli_health.health)
app.command()(cli_instances.queries)
app.command()(cli_instances.rules)
app.command()(cli_report.chart)
app.command()(cli_report.report)
app.command()(cli_train.train)
app.command()(cli_train.trials)
app.add_typer(cli_cache.app, name="cache")
app.add_typer(cli_groupings.app, name="groupings")
app.add_typer(cli_obl2021.app, name="obl2021")


def main() -> None:
    """Run the command line; refused input ends with its message and exit code 2."""
    # PyKEEN and torch report on every model that they build; none of it is for our users.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    try:
        app()
    except KgdashError as error:
        print(f"kgdash: {error}", file=sys.stderr)
        sys.exit(2)
    except SystemExit as ended:
        if ended.code == 130:  # Ctrl-C, which Typer turns into this without a word
            print("\nkgdash: cancelled, nothing was written", file=sys.stderr)
        raise


@app.command()
def runs(as_json: JsonOption = False) -> None:
    """List the bundled runs."""
    from kgdash.bundled import bundled_runs

    rows = bundled_runs()
    if as_json:
        print_json({"runs": rows})
    else:
        print(pd.DataFrame(rows).to_string(index=False))


@app.command()
def metrics(
    run: RunArgument,
    dataset: DatasetOption = None,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "test",
    filter: Annotated[
        str | None,
        typer.Option(help="train+valid+test, train+valid, train+test or none (raw)."),
    ] = None,
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
        Path | None,
        typer.Option(help="Entity types: TSV or CSV of entity, type, one pair a line."),
    ] = None,
    type_name: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only entities of this type of --types; repeat for several."),
    ] = None,
    latex: cli_latex.LatexOption = False,
    beside: cli_latex.BesideOption = None,
    as_json: JsonOption = False,
    out: cli_latex.MetricsOutOption = None,
) -> None:
    """Print all rank-based metrics per side and rank type."""
    from kgdash.filter_guide import leak
    from kgdash.graph import FILTERS, default_filter
    from kgdash.metrics import DEFAULT_KS, metrics_frame, tie_summary
    from kgdash.metrics import metrics as compute
    from kgdash.restriction import read_entities, restrict

    loaded = load_run(run, dataset)
    chosen = filter or default_filter(split)
    only = restrict(
        loaded.graph,
        relation or (),
        read_entities(entities, loaded.graph) if entities else None,
        min_degree,
        max_degree,
        _of_types(loaded.graph, types, type_name),
    )
    ranks = loaded.ranks(
        split=split,
        filter=chosen,
        progress=terminal("ranks"),
        entities=only.entities,
        relations=only.relations,
    )
    if chosen in FILTERS and (warning := leak(split, chosen)):
        print(f"note: {warning}", file=sys.stderr)
    if latex or beside or (out is not None and out.suffix == ".tex"):
        cli_latex.latex(loaded, beside, out, split, chosen, only)
        return
    values = compute(ranks, tuple(k) if k else DEFAULT_KS)
    if as_json:
        print_json(
            {
                "run": loaded.name,
                "split": split,
                "filter": chosen,
                "notes": loaded.notes,
                "evaluated": only.count(loaded.graph, loaded.graph.split(split)),
                "ties": tie_summary(ranks),
                "metrics": values,
            }
        )
        return
    frame = metrics_frame(values)
    frame.columns = pd.Index([".".join(column) for column in frame.columns])
    write_or_print(frame, out, index=True)


def _of_types(graph: KnowledgeGraph, types: Path | None, names: list[str] | None) -> Any:
    """Return the entities of some types of a file, or None where neither is given."""
    from kgdash.entity_types import read_entity_types

    if bool(types) != bool(names):
        raise KgdashError("give --types FILE and --type NAME together")
    return read_entity_types(types, graph).entities_of(names) if types and names else None


@app.command()
def relik(
    run: RunArgument,
    dataset: DatasetOption = None,
    split: Annotated[str | None, typer.Option(help="train, valid or test.")] = None,
    triples: Annotated[
        Path | None, typer.Option(help="TSV or CSV of head, relation, tail, by name or label.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="exact, sampled, sampled-paper or lower-bound.")
    ] = "exact",
    rank_type: Annotated[
        str, typer.Option(help="How ties count: optimistic (the paper's), realistic, pessimistic.")
    ] = "optimistic",
    samples: Annotated[int, typer.Option(help="Negatives per side, if sampled.")] = 1000,
    seed: SeedOption = 0,
    out: OutOption = None,
) -> None:
    """Compute the ReliK of a split or of the triples of a file."""
    from kgdash.triple_files import read_graph_triples

    if split and triples:
        raise KgdashError("give either --split or --triples, not both")
    loaded = load_run(run, dataset)
    rows = read_graph_triples(triples, loaded.graph) if triples else None
    table = loaded.relik(
        split or "test", rows, method, rank_type, samples, seed, terminal(f"ReliK ({method})")
    )
    write_or_print(loaded.graph.labelled(table), out)


@app.command()
def subgraph(
    run: RunArgument,
    entity: Annotated[str, typer.Option(help="Seed entity, by name or label.")],
    dataset: DatasetOption = None,
    method: Annotated[str, typer.Option(help="rwr or neighbourhood.")] = "rwr",
    size: Annotated[int, typer.Option(help="Entities to collect.")] = 60,
    restart: Annotated[float, typer.Option(help="Restart probability of the walk.")] = 0.2,
    hops: Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")] = 1,
    direction: Annotated[str, typer.Option(help="either, outgoing or incoming.")] = "either",
    seed: SeedOption = 0,
    evaluate: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact",
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Pick a subgraph and compare its ReliK with its MRRs."""
    from kgdash.studies.local import compare, compare_steps, summary

    loaded = load_run(run, dataset)
    part = loaded.subgraph(entity, method, size, restart, seed, hops, direction)
    choices = (loaded, part, evaluate, relik_method)
    if sys.stderr.isatty():
        for comparison in compare_steps(*choices, progress=terminal("subgraph")):
            if comparison.method != relik_method:
                low, high = (comparison.figures[end][0] for end in ("relik_low", "relik_high"))
                print(f"\rmean ReliK between {low:.3g} and {high:.3g} (95 %)", file=sys.stderr)
    else:
        comparison = compare(*choices)
    if as_json:
        print_json(summary(comparison, loaded))
        return
    if out is None:
        for name, (value, count) in comparison.figures.items():
            print(f"{name:14} {value:.6g}  (n = {count})")
        print(part.note or f"{len(part.entities)} entities")
    write_or_print(loaded.graph.labelled(comparison.triples), out)


@app.command(name="import")
def import_(
    directory: Annotated[Path, typer.Argument(help="As PyKEEN's save_to_directory wrote it.")],
    out: Annotated[Path, typer.Argument(help="Directory to write; must not exist.")],
    dataset: DatasetOption = None,
) -> None:
    """Convert a PyKEEN directory to the safe form; nothing of its pickle runs."""
    from kgdash.loading import convert

    print(f"wrote {convert(directory, out, dataset)}")
