"""The command ``label``: predictions of rules, judged by a person in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgdash.commands.options.common import SeedOption
from kgdash.commands.options.groups import RunOptions
from kgdash.commands.options.terminal import say, tell_notes
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.runs import Run
    from kgdash.studies.labelling.events import NamedTriple
    from kgdash.studies.labelling.queue import LabelQueue
    from kgdash.studies.rules.predictions import Predictions
    from kgdash.studies.rules.selection import RuleSelection

_KEYS = "y true, n false, s skip, u undo, q quit"


def label(
    run: RunOptions,
    table: Annotated[
        Path | None,
        typer.Option(help="Table of rule instances to judge anew; without it rules are mined."),
    ] = None,
    rule_file: Annotated[
        Path | None, typer.Option("--rules", help="Rules that AMIE or AnyBURL wrote, or a table.")
    ] = None,
    max_rules: Annotated[int, typer.Option(help="Rules to take, those with most support.")] = 12,
    min_pca: Annotated[float, typer.Option(help="Minimum PCA confidence.")] = 0.3,
    per_rule: Annotated[int, typer.Option(help="Predictions per rule.")] = 10,
    facts: Annotated[
        bool,
        typer.Option(
            "--facts",
            help="Judge facts in place of predictions, by audit; tells how many are wrong.",
        ),
    ] = False,
    order: Annotated[
        str | None,
        typer.Option(
            help="random, by rule, least reliable first or most reliable first; only random keeps "
            "what is judged a fair sample. With --facts: random in strata or most suspicious first."
        ),
    ] = None,
    seed: SeedOption = 0,
    by: Annotated[str, typer.Option(help="Your name, kept with the labels.")] = "",
    save: Annotated[
        Path | None, typer.Option(help="Write all labels as a table of rule instances, and end.")
    ] = None,
) -> None:
    """Judge predictions of rules, one by one; every label is on disk at once."""
    from kgdash.files.atomic import write_atomically
    from kgdash.files.extensions import check_extension
    from kgdash.studies.instances.instance_table import write_rule_table
    from kgdash.studies.labelling.queue import ORDERS, label_queue
    from kgdash.studies.labelling.results import labelled_instances
    from kgdash.studies.rules.selection import RuleSelection

    if table is not None and rule_file is not None:
        raise KgdashError("--table holds instances, no rules: leave out --rules")
    if facts and (table is not None or rule_file is not None or save is not None):
        raise KgdashError(
            "--facts takes no rules and no instances: leave out --rules, --table and --save"
        )
    loaded = run.load()
    if facts:
        _judge_facts(loaded, order, seed, by)
        return
    if save is not None:
        check_extension(save, (".csv", ".tsv"))
        found = labelled_instances(loaded)
        text = write_rule_table(found, loaded.graph, save.suffix)
        write_atomically(save, lambda part: part.write_text(text, "utf-8"))
        print(f"wrote {len(found):,} instances to {save}")
        return
    selection = RuleSelection(max_rules, min_pca, per_rule=per_rule, seed=seed)
    predictions = _predictions(loaded, table, rule_file, selection)
    tell_notes(predictions.notes)
    progress = terminal("ReliK of predictions")
    queue = label_queue(loaded, predictions, order or ORDERS[0], seed, progress)
    _judge(queue, by)


def _predictions(
    run: Run, table: Path | None, rules: Path | None, selection: RuleSelection
) -> Predictions:
    from kgdash.studies.classification.given_negatives import verified_negatives
    from kgdash.studies.labelling.sources import predictions_to_judge, table_predictions
    from kgdash.studies.rules.files import RuleFile

    if table is not None:
        return table_predictions(table, run.graph)
    false = verified_negatives(run)
    file = None if rules is None else RuleFile(rules)
    report = terminal("mining rules" if file is None else "predicting")
    return predictions_to_judge(run.graph, selection, file, false, report)


def _judge_facts(run: Run, order: str | None, seed: int, by: str) -> None:
    from kgdash.studies.audit.of_run import latest_audit
    from kgdash.studies.labelling.facts import FACT_ORDERS, estimate_error_rate, fact_queue
    from kgdash.studies.labelling.journal import read_journal

    audit = latest_audit(run)
    _judge(fact_queue(run.graph, audit, order or FACT_ORDERS[0], seed), by)
    print(estimate_error_rate(run.graph, audit, read_journal(run.graph), seed).text)


def _judge(queue: LabelQueue, by: str) -> None:
    """Ask until all are judged, or the person quits, or the input ends."""
    from kgdash.studies.labelling.journal import journal_file, read_journal
    from kgdash.studies.labelling.session import judge, skip, undo

    state = read_journal(queue.graph)
    while (triple := state.open(queue.order)) is not None:
        labelled, skipped = state.progress(queue.order)
        print(f"\n{labelled} of {len(queue.order)} labelled, {skipped} skipped")
        _show(queue, triple)
        print(f"[{_KEYS}] ", end="", flush=True)
        line = sys.stdin.readline()
        key = line.strip().lower()[:1]
        if not line or key == "q":
            print()
            break
        if key in ("y", "n"):
            state = judge(queue, triple, key == "y", by)
        elif key == "s":
            state = skip(queue, triple, by)
        elif key == "u" and state.latest(by) is not None:
            state = undo(queue.graph, by)
        else:
            print("nothing to undo" if key == "u" else f"expected one of: {_KEYS}")
    labelled, _ = state.progress(queue.order)
    print(f"{labelled} of {len(queue.order)} labelled; kept in {journal_file(queue.graph)}")


def _show(queue: LabelQueue, triple: NamedTriple) -> None:
    from kgdash.graph import triple_text
    from kgdash.studies.labelling.queue import in_labels
    from kgdash.studies.rules.parsing import readings

    say(in_labels(triple, queue.graph))
    found = queue.instances_of(triple)
    words = readings(found["group"], queue.graph)
    for instance, rule in found[["instance", "group"]].to_numpy():
        say(f"  because {words[rule]}")
        rows = queue.shown(instance)
        columns = ["head", "relation", "tail", "split", "relik"]
        for number, grounding in rows[~rows["is_answer_triple"]].groupby("grounding"):
            for head, relation, tail, split, relik in grounding[columns].to_numpy():
                fact = triple_text(head, relation, tail)
                say(f"    {number + 1}. {fact}  ({split}, ReliK {relik:.1e})")
