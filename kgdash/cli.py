"""``python -m kgdash``: the numbers of every page on the command line."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from kgdash.commands import (
    breakdown,
    cache,
    classify,
    compare,
    explain,
    groupings,
    guide,
    health,
    label,
    metrics,
    model_choice,
    obl2021,
    prognosis,
    queries,
    query_files,
    reliability,
    report,
    rules,
    study,
    train,
)
from kgdash.commands.output import (
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

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="See where a knowledge-graph embedding can be trusted.",
)

app.command()(breakdown.breakdown)
app.command()(classify.classify)
app.command()(compare.compare)
app.command()(explain.explain)
app.command()(guide.guide)
app.command()(health.health)
app.command()(label.label)
app.command()(queries.queries)
app.command(name="import-queries")(query_files.import_queries)
app.command()(rules.rules)
app.command()(metrics.metrics)
app.command(name="which-model")(model_choice.which_model)
app.command()(prognosis.prognosis)
app.command()(reliability.reliability)
app.command()(report.chart)
app.command()(report.report)
app.command()(study.study)
app.command()(train.train)
app.command()(train.trials)
app.add_typer(cache.app, name="cache")
app.add_typer(groupings.app, name="groupings")
app.add_typer(obl2021.app, name="obl2021")


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
