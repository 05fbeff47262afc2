"""Judging predictions in the terminal."""

import inspect
import io

import numpy as np
import pandas as pd
import pytest

from kgdash.commands.label import label
from kgdash.studies.audit import of_run
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.labelling.facts import FACT_ORDERS, estimate_error_rate, fact_queue
from kgdash.studies.labelling.journal import journal_file, read_journal
from kgdash.studies.labelling.queue import in_labels, label_queue
from kgdash.studies.labelling.results import labelled_instances
from kgdash.studies.labelling.sources import JUDGED, instance_predictions, predictions_to_judge
from kgdash.studies.rules.files import RuleFile
from tests.support.paths import EXAMPLE

RUN = "umls-transe"


def test_defaults_are_those_of_the_study():
    given = inspect.signature(label).parameters
    expected = {n: getattr(JUDGED, n) for n in ("max_rules", "min_pca", "per_rule", "seed")}
    assert {name: given[name].default for name in expected} == expected


@pytest.fixture
def judged(monkeypatch, call):
    """Judge the example's instances, typing these lines, and return what was printed."""

    def run(*lines: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return call("label", RUN, "--table", EXAMPLE, "--by", "Ann")

    return run


def test_judged_in_the_terminal_and_saved(judged, call, bundled, tmp_path):
    run = bundled(RUN)
    queue = label_queue(run, instance_predictions(read_rule_table(EXAMPLE, run.graph)))
    total = len(queue.order)
    told = judged("y", "No", "what?", "s", "u", "u", "n", "q", "y")
    state = read_journal(run.graph)
    assert [state.label_of(triple) for triple in queue.order[:3]] == [True, False, None]
    assert {event.by for event in state.events} == {"Ann"}
    assert in_labels(queue.order[0], run.graph) in told
    assert f"2 of {total} labelled, 1 skipped" in told
    assert "expected one of: y true" in told
    assert told.endswith(f"2 of {total} labelled; kept in {journal_file(run.graph)}\n")
    told = judged("u", "u", "u", *["y"] * total)  # the input ends
    assert "nothing to undo" in told
    assert f"0 of {total} labelled" in told
    assert told.endswith(f"{total} of {total} labelled; kept in {journal_file(run.graph)}\n")
    out = tmp_path / "mine.tsv"
    found = labelled_instances(run)
    assert call("label", RUN, "--save", out) == f"wrote {len(found)} instances to {out}\n"
    assert read_rule_table(out, run.graph).table.equals(found.table)


@pytest.fixture
def audit(bundled, monkeypatch):
    """Return an audit of the run, as if it had been made: random values, one triple without."""
    run = bundled(RUN)
    train = run.graph.splits["train"]
    table = pd.DataFrame(train, columns=["head", "relation", "tail"]).sample(frac=1, random_state=0)
    table["relik"] = [*np.linspace(0.001, 1, len(train) - 1), np.nan]
    monkeypatch.setattr(of_run, "kept_audit", lambda graph, config: table)
    return table


def test_rules_that_are_left_out_are_told(call, monkeypatch, tmp_path, bundled):
    rule = "?a  {}  ?h  ?h  affects  ?b   => ?a  affects  ?b\n"
    rules = tmp_path / "rules.tsv"
    rules.write_text(f"rule\n{rule.format('affects')}{rule.format('heals')}")
    (note,) = predictions_to_judge(bundled(RUN).graph, JUDGED, RuleFile(rules)).notes
    assert "heals" in note
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    call("label", RUN, "--rules", rules, told=f"note: {note}\n")


def test_facts_and_how_many_are_wrong(audit, call, bundled, monkeypatch):
    run = bundled(RUN)
    order = fact_queue(run.graph, audit, FACT_ORDERS[0]).order
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nn\ny\nq\n"))
    told = call("label", RUN, "--facts")
    state = read_journal(run.graph)
    assert [state.label_of(triple) for triple in order[:3]] == [True, False, True]
    assert told.splitlines()[-1] == estimate_error_rate(run.graph, audit, state).text
    assert "1 of 3 judged facts are wrong; estimated error rate" in told
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    told = call("label", RUN, "--facts", "--order", "most suspicious first")
    first = fact_queue(run.graph, audit, FACT_ORDERS[1]).order[0]
    assert in_labels(first, run.graph) in told


def test_facts_need_an_audit(refused):
    said = refused("label", RUN, "--facts")
    assert said.endswith(f"kgdash audit {RUN}")
    assert "leave out --rules" in refused("label", RUN, "--facts", "--table", EXAMPLE)


def test_nothing_to_save_is_refused(refused, tmp_path):
    assert "has a label yet" in refused("label", RUN, "--save", tmp_path / "mine.tsv")
    assert "unknown order" in refused("label", RUN, "--table", EXAMPLE, "--order", "worst")
