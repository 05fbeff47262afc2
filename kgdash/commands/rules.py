"""The command ``rules``: ReliK of true against false instances of rules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kgdash.commands.separation import (
    AggregateOption,
    OverOption,
    PlausibleOption,
    SuspiciousOption,
    compare_labels,
)
from kgdash.commands.separation_results import ResultsOption
from kgdash.commands.shared import (
    DatasetOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    known_extension,
    load_run,
)
from kgdash.errors import KgdashError
from kgdash.progress import terminal


def rules(
    run: RunArgument,
    dataset: DatasetOption = None,
    table: Annotated[
        Path | None, typer.Option(help="Table of labelled instances; without it rules are mined.")
    ] = None,
    rule_file: Annotated[
        Path | None, typer.Option("--rules", help="Rules that AMIE or AnyBURL wrote, or a table.")
    ] = None,
    negatives: Annotated[
        list[str] | None,
        typer.Option(help="False is: closed-world (no known triple), verified, or files."),
    ] = None,
    max_rules: Annotated[int, typer.Option(help="Rules to keep.")] = 12,
    min_pca: Annotated[float, typer.Option(help="Least PCA confidence.")] = 0.3,
    min_support: Annotated[int, typer.Option(help="Least support.")] = 2,
    order: Annotated[
        str, typer.Option(help='Rules first by "support", "confidence" or "both labels".')
    ] = "support",
    per_rule: Annotated[int, typer.Option(help="Instances per rule and label.")] = 30,
    save_rules: Annotated[
        Path | None,
        typer.Option(help="Write the rules with our counts.", callback=known_extension),
    ] = None,
    save_instances: Annotated[
        Path | None, typer.Option(help="Write the instances, as --table reads them (.tsv).")
    ] = None,
    seed: SeedOption = 0,
    aggregate: AggregateOption = "max",
    over: OverOption = "all triples",
    as_json: JsonOption = False,
    out: OutOption = None,
    suspicious: SuspiciousOption = None,
    plausible: PlausibleOption = None,
    results: ResultsOption = None,
) -> None:
    """Compare ReliK on true and false instances of rules (--out: per instance)."""
    from kgdash.studies.classification.given_negatives import negatives_by_name
    from kgdash.studies.instances.instance_table import read_rule_table
    from kgdash.studies.rules.selection import check_choice, chosen_instances

    if table is not None and (rule_file is not None or save_rules is not None):
        raise KgdashError("--table holds instances, no rules: leave out --rules and --save-rules")
    check_choice(order, max_rules)
    loaded = load_run(run, dataset)
    if table is not None:
        instances = read_rule_table(table, loaded.graph)
    else:
        false = negatives_by_name(loaded, negatives or [])
        found = _rules(loaded.graph, rule_file, min_support, min_pca)
        if save_rules is not None:
            _save_rules(found, loaded.graph, save_rules)
        instances = chosen_instances(
            loaded.graph, found, max_rules, per_rule, order, false, seed, terminal("predicting")
        )
    if save_instances is not None:
        _save_instances(instances, loaded.graph, save_instances)
    compare_labels(loaded, instances, aggregate, as_json, out, over, suspicious, plausible, results)


def _rules(graph: Any, path: Path | None, min_support: int, min_pca: float) -> Any:
    """Mine rules, or read them from a file."""
    from kgdash.studies.rules.files import read_rules
    from kgdash.studies.rules.selection import usable_rules
    from kgdash.studies.rules.sources import mined_rules

    if path is None:
        return mined_rules(graph, min_pca, min_support, terminal("mining rules"))
    read = read_rules(path, graph, progress=terminal("reading rules"))
    for note in read.notes:
        print(f"note: {note}", file=sys.stderr)
    return usable_rules(graph, read.table, min_support, min_pca, terminal("counting rules"))


def _save_rules(found: Any, graph: Any, path: Path) -> None:
    """Write rules with our own counts, and those of their file beside them."""
    from kgdash.files.table import write_table
    from kgdash.studies.rules.confidence import FIGURES, count_rules

    if "source" in found:
        counted = count_rules(graph, found["rule"].tolist(), terminal("counting rules"))
        given = found[["source", *FIGURES]].rename(columns={f: f"given_{f}" for f in FIGURES})
        found = counted.join(given)
    write_table(found, path)
    print(f"wrote {len(found):,} rules to {path}", file=sys.stderr)


def _save_instances(instances: Any, graph: Any, path: Path) -> None:
    from kgdash.files.atomic import write_whole
    from kgdash.studies.instances.instance_table import write_rule_table

    text = write_rule_table(instances, graph)
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))
    print(f"wrote {len(instances):,} instances to {path}", file=sys.stderr)
