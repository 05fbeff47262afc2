"""A user's own groups on the page Breakdowns."""

import numpy as np
import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.custom_grouping import OTHERS, TypeGrouping, condition_grouping, groups_by
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph.entity_types import entity_types
from kgdash.runs.saved_groupings import groupings_file, save_grouping, saved_groupings
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import choose, open_page, table
from tests.pages.driver import run as rerun

LINES = ["$rare$: frequency < 100", "late: realistic > 3", "late: side == tail"]


def button(app, label):
    return next(b for b in app.button if b.label == label)


def add_row(app, line):
    group, _, condition = line.partition(": ")
    column, way, value = condition.split(maxsplit=2)
    choose(app, row_group=group, row_column=column, row_operator=way, row_value=value)
    button(app, "Add row").click()
    rerun(app)


def expected(run, grouping):
    rows = add_rank_facts(run.ranks(), run.graph)
    found = breakdown(rows, groups_by(rows, run.graph, grouping))
    return found[found["side"] == "both"]


def test_conditions_are_saved_and_shown(run):
    app = open_page("breakdowns")
    for line in LINES:
        add_row(app, line)
    assert button(app, "Save").disabled
    choose(app, grouping_name="mine")
    button(app, "Save").click()
    rerun(app)
    assert list(saved_groupings(run)) == ["mine"]
    choose(app, by="mine")
    frame, found = table(app, "group", "value"), expected(run, condition_grouping("mine", LINES))
    assert frame["group"].tolist() == ["$rare$", "late", OTHERS]
    for column in ("count", "triples", "value", "low", "high", "gap"):
        np.testing.assert_array_equal(frame[column].to_numpy(), found[column].to_numpy())


def test_types_are_shown_and_deleted(run):
    types = TypeGrouping("kinds", "answer", entity_types([(e, f"t{e % 3}") for e in range(99)]))
    save_grouping(run, types)
    app = open_page("breakdowns", by="kinds")
    assert table(app, "group", "value")["value"].tolist() == expected(run, types)["value"].tolist()
    button(app, "Delete").click()
    rerun(app)
    assert saved_groupings(run) == {}
    assert app.get_by_key("by").value == "relation"


@pytest.mark.parametrize(("page", "more"), [("breakdowns", {}), ("compare", {"view": "By group"})])
def test_entities_of_saved_types_that_the_graph_has_not_are_told(run, page, more):
    path = save_grouping(run, TypeGrouping("kinds", "answer", entity_types([(0, "a"), (1, "b")])))
    path.write_text(path.read_text().replace(run.graph.entities[1], "elsewhere"))
    app = open_page(page, by="kinds", **more)
    told = "Of the entities that 'kinds' names, 1 are not in the graph."
    assert plain(told.removesuffix(".")) + "." in [each.value for each in app.caption]


def test_a_grouping_called_as_kgdash_s_own_reads_is_another_choice(run):
    """Both were "head degree", and the choice took the saved one, whichever was chosen."""
    save_grouping(run, condition_grouping("head degree", ["few: head_degree < 9"]))
    app = open_page("breakdowns", by="head_degree")
    assert "few" not in table(app, "group", "value")["group"].tolist()
    options = app.get_by_key("by").options
    assert len(set(options)) == len(options)
    choose(app, by="head degree")
    assert "few" in table(app, "group", "value")["group"].tolist()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("rare: frequency < many", "frequency is compared with a number; found 'many'"),
        (f"{OTHERS}: answers > 1", "what no group holds"),
    ],
)
def test_a_refused_condition_leaves_the_page(run, line, told):
    app = choose(open_page("breakdowns"), grouping_name="x")
    add_row(app, line)
    assert told in app.error[0].value
    assert len(table(app, "group", "value"))
    assert saved_groupings(run) == {}


def test_rows_can_be_removed(run):
    app = choose(open_page("breakdowns"), grouping_name="mine")
    for line in LINES:
        add_row(app, line)
    app.get_by_key("remove row 1").click()
    rerun(app)
    button(app, "Save").click()
    rerun(app)
    assert saved_groupings(run)["mine"].describe() == "$rare$: frequency < 100; late: side == tail"
    assert "remove row 0" not in [b.key for b in app.button]


def test_a_damaged_file_costs_a_warning(run):
    path = groupings_file(run)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    app = open_page("breakdowns")
    assert "groupings" in app.warning[0].value
    assert "mend or remove it" in app.warning[0].value
    assert len(table(app, "group", "value"))
