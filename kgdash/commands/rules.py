"""The command ``rules``: ReliK of true against false instances of rules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgdash.commands.options.common import SeedOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.terminal import tell_notes
from kgdash.commands.separation import SeparationOptions, compare_labels
from kgdash.errors import KgdashError
from kgdash.files.extensions import check_extension
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.studies.instances.instances import Instances
    from kgdash.studies.rules.rule_table import Rules


def _rules_known_extension(out: Path | None) -> Path | None:
    """Refuse a file that --rules could not read again before rules are looked for."""
    if out is not None:
        check_extension(out, (".csv", ".tsv"))
    return out


def rules(
    run: RunOptions,
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
    min_pca: Annotated[float, typer.Option(help="Minimum PCA confidence.")] = 0.3,
    min_support: Annotated[
        int,
        typer.Option(
            help="Minimum support; mined rules find at least 1% of a relation's facts, too."
        ),
    ] = 2,
    order: Annotated[
        str, typer.Option(help='Rules first by "support", "confidence" or "both labels".')
    ] = "support",
    per_rule: Annotated[int, typer.Option(help="Instances per rule and label.")] = 30,
    save_rules: Annotated[
        Path | None,
        typer.Option(
            help="Write the rules with our counts, as --rules reads them (.csv or .tsv).",
            callback=_rules_known_extension,
        ),
    ] = None,
    save_instances: Annotated[
        Path | None,
        typer.Option(
            help="Write the instances, as --table reads them (.tsv, .csv).",
            callback=_rules_known_extension,
        ),
    ] = None,
    seed: SeedOption = 0,
    *,
    context: typer.Context,
    options: SeparationOptions,
) -> None:
    """Compare ReliK on true and false instances of rules (--out: per instance)."""
    from kgdash.studies.classification.given_negatives import negatives_by_name
    from kgdash.studies.instances.instance_table import read_rule_table
    from kgdash.studies.rules.files import RuleFile
    from kgdash.studies.rules.selection import RuleSelection, select_instances
    from kgdash.studies.rules.sources import find_rules

    if table is not None and (rule_file is not None or save_rules is not None):
        raise KgdashError("--table holds instances, no rules: leave out --rules and --save-rules")
    selection = RuleSelection(max_rules, min_pca, min_support, per_rule, order, seed)
    loaded = run.load()
    if table is not None:
        instances = read_rule_table(table, loaded.graph)
    else:
        false = negatives_by_name(loaded, negatives or [])
        file = None if rule_file is None else RuleFile(rule_file)
        report = terminal("mining rules" if file is None else "reading rules")
        found = find_rules(loaded.graph, selection, file, report)
        tell_notes(found.notes)
        if save_rules is not None:
            _save_rules(found, save_rules)
        instances = select_instances(loaded.graph, found, selection, false, terminal("predicting"))
    if save_instances is not None:
        _save_instances(instances, loaded.graph, save_instances)
    compare_labels(loaded, instances, options, context)


def _save_rules(found: Rules, path: Path) -> None:
    """Write rules with our own counts, and those of their file beside them."""
    from kgdash.files.table import write_table
    from kgdash.studies.rules.confidence import METRICS, count_rules
    from kgdash.studies.rules.selection import COUNTED

    table = found.written()
    if "source" in table:
        counted = count_rules(found.graph, found.rules, terminal("counting rules"))
        ours = table["source"].str.endswith(COUNTED)
        given = table[[*METRICS]].mask(ours).add_prefix("given_")
        given.insert(0, "source", table["source"].str.removesuffix(COUNTED))
        table = counted.join(given)
    write_table(table, path)
    print(f"wrote {len(table):,} rules to {path}", file=sys.stderr)


def _save_instances(instances: Instances, graph: KnowledgeGraph, path: Path) -> None:
    from kgdash.files.atomic import write_atomically
    from kgdash.studies.instances.instance_table import write_rule_table

    text = write_rule_table(instances, graph, path.suffix)
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
    print(f"wrote {len(instances):,} instances to {path}", file=sys.stderr)
