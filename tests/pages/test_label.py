"""The page Label predictions shows the queue and keeps what is said."""

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.audit import of_run
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.labelling.facts import FACT_ORDERS, estimate_error_rate, fact_queue
from kgdash.studies.labelling.journal import journal_file, read_journal
from kgdash.studies.labelling.queue import in_labels, label_queue
from kgdash.studies.labelling.results import label_table, labelled_instances
from kgdash.studies.labelling.session import judge
from kgdash.studies.labelling.sources import instance_predictions, predictions_to_judge
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.selection import RuleSelection
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import choose, open_page, table
from tests.pages.driver import run as rerun
from tests.support.paths import EXAMPLE

CONTENT = EXAMPLE.read_bytes()


@pytest.fixture
def queue(run):
    return label_queue(run, instance_predictions(read_rule_table(CONTENT, run.graph)))


@pytest.fixture
def app():
    page = open_page("label", label_source="My own table")
    assert "Upload a file" in page.main.info[0].value
    page.get_by_key("label_table").set_value(("mine.tsv", CONTENT, "text/tab-separated-values"))
    return rerun(page)


def press(app, name):
    app.get_by_key(f"label_{name}").click()
    return rerun(app)


def assert_asks(app, queue, state):
    """Check that the page asks for what the state says is next, with how far it is."""
    triple = state.open(queue.order)
    assert app.main.header[0].value == plain(in_labels(triple, queue.graph))
    labelled, skipped = state.progress(queue.order)
    later = f", {skipped} skipped" if skipped else ""
    assert app.get("progress")[0].proto.text == f"{labelled} of {len(queue.order)} labelled{later}"
    shown = queue.shown(int(queue.instances_of(triple)["instance"].iloc[0]))
    body = shown[~shown["is_answer_triple"]]
    facts = next(frame.value for frame in app.dataframe if "fact" in frame.value)
    assert facts["relik"].tolist() == body["relik"].tolist()
    assert facts["split"].tolist() == body["split"].tolist()


def test_labelled_skipped_and_taken_back(run, queue, app):
    assert_asks(app, queue, read_journal(run.graph))
    assert app.get_by_key("label_undo").disabled
    choose(app, label_by="Ann")
    asked = queue.order
    for number, name in enumerate(["true", "false", "skip"]):
        press(app, name)
        state = read_journal(run.graph)
        assert state.open(queue.order) == asked[number + 1]
        assert_asks(app, queue, state)
    assert [event.by for event in state.events] == ["Ann"] * 3
    listed = table(app, "prediction", "label")
    expected = label_table(state, run.graph)
    assert listed["prediction"].tolist() == expected["prediction"].tolist()
    assert listed["label"].tolist() == ["false", "true"]
    press(app, "undo")  # the skip
    assert_asks(app, queue, read_journal(run.graph))
    assert read_journal(run.graph).open(queue.order) == asked[2]
    press(app, "undo")
    state = read_journal(run.graph)
    assert_asks(app, queue, state)
    assert [state.label_of(triple) for triple in asked[:3]] == [True, None, None]


def test_all_labelled(run, queue, app):
    for triple in queue.order:
        judge(queue, triple, True)
    rerun(app)
    assert app.main.header[0].value == "All of them have a label"
    assert len(labelled_instances(run)) >= len(queue.order)
    press(app, "undo")
    assert_asks(app, queue, read_journal(run.graph))


def test_mined_rules_order_and_seed(run):
    widgets = {"label_rules": 3, "label_per_rule": 4, "label_pca": 0.5, "label_seed": 2}
    app = open_page("label", **{key: str(value) for key, value in widgets.items()})
    predictions = predictions_to_judge(run.graph, RuleSelection(3, 0.5, per_rule=4, seed=2))
    assert_asks(app, label_queue(run, predictions, seed=2), read_journal(run.graph))
    choose(app, order="most reliable first")
    queue = label_queue(run, predictions, "most reliable first", 2)
    assert_asks(app, queue, read_journal(run.graph))


def test_rules_of_a_file(run):
    rule = "?a  {}  ?h  ?h  affects  ?b   => ?a  affects  ?b\n"
    content = f"rule\n{rule.format('affects')}{rule.format('heals')}".encode()
    app = open_page("label", label_source="Rules from a file", label_per_rule="3")
    app.get_by_key("label_rule_file").set_value(("rules.tsv", content, "text/plain"))
    rerun(app)
    predictions = predictions_to_judge(run.graph, RuleSelection(per_rule=3), RuleFile(content))
    assert len(predictions.table) == 3
    (note,) = predictions.notes
    assert "heals" in note
    assert f"{plain(note[0].upper() + note[1:])}." in [each.value for each in app.caption]
    assert_asks(app, label_queue(run, predictions), read_journal(run.graph))


def test_a_damaged_journal_and_a_folder_that_can_not_be_written_are_said(run, queue, app):
    path = journal_file(run.graph)
    path.parent.mkdir()
    path.mkdir()
    press(app, "true")
    assert [str(path) in error.value for error in app.main.error] == [True, True]
    path.rmdir()
    path.write_text("{\n")
    rerun(app)
    (error,) = app.main.error
    assert error.value.endswith(f"({path}, line 1). Mend or remove the line")
    assert not app.main.header
    path.unlink()
    rerun(app)
    assert not app.main.error
    assert_asks(app, queue, read_journal(run.graph))


def test_facts_likely_wrong(run, monkeypatch):
    app = open_page("label", label_source="Facts likely wrong")
    (info,) = app.main.info
    assert f"kgdash audit {run.name}" in info.value
    train = run.graph.splits["train"]
    audit = pd.DataFrame(train, columns=["head", "relation", "tail"])
    audit["relik"] = np.linspace(0.001, 1, len(train))
    monkeypatch.setattr(of_run, "kept_audit", lambda graph, config: audit)
    rerun(app)
    order = fact_queue(run.graph, audit, FACT_ORDERS[0]).order
    assert app.main.header[0].value == plain(in_labels(order[0], run.graph))
    press(app, "false")
    assert app.main.header[0].value == plain(in_labels(order[1], run.graph))
    state = read_journal(run.graph)
    assert state.label_of(order[0]) is False
    said = estimate_error_rate(run.graph, audit, state).text
    assert said in [caption.value for caption in app.main.caption]
    choose(app, order=FACT_ORDERS[1])
    first = fact_queue(run.graph, audit, FACT_ORDERS[1]).order[0]
    assert app.main.header[0].value == plain(in_labels(first, run.graph))
