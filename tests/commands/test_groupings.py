"""A user's own groups on the command line: saved, listed, used and removed."""

import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.custom_grouping import TypeGrouping, condition_grouping, groups_by
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph.entity_types import read_entity_types
from kgdash.graph.restriction import restrict
from kgdash.runs.saved_groupings import groupings_file
from tests.support.cli import strict_json, without_nan

RUN = "umls-transe"
ROWS = ["rare: frequency < 100", "late: realistic > 3", "late: side == tail"]


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled(RUN)


@pytest.fixture
def types(umls, tmp_path):
    path = tmp_path / "types.tsv"
    names = umls.graph.entities
    path.write_text("".join(f"{name}\tt{number % 3}\n" for number, name in enumerate(names)))
    return path


def expected(umls, grouping):
    rows = add_rank_facts(umls.ranks(), umls.graph)
    table = breakdown(rows, groups_by(rows, umls.graph, grouping))
    return without_nan(table.to_dict("records"))


def test_saved_used_and_removed(call, refused, umls, types):
    options = [part for row in ROWS for part in ("--condition", row)]
    told = call("groupings", "add", RUN, "mine", *options)
    shown = "rare: frequency < 100; late: realistic > 3 and side == tail"
    assert told == f"saved 'mine' ({shown}) in {groupings_file(umls)}\n"
    call("groupings", "add", RUN, "kinds", "--types", types, "--end", "head")
    found = strict_json(call("breakdown", RUN, "--by", "mine", "--json"))
    assert found["groups"] == expected(umls, condition_grouping("mine", ROWS))
    assert found["by"] == "mine"
    listed = strict_json(call("groupings", "list", RUN, "--json"))
    assert [grouping["name"] for grouping in listed["groupings"]] == ["mine", "kinds"]
    assert listed["file"] == str(groupings_file(umls))
    call("groupings", "remove", RUN, "mine")
    assert refused("breakdown", RUN, "--by", "mine").startswith("unknown grouping 'mine' in run")
    assert strict_json(call("groupings", "list", RUN, "--json"))["groupings"][0]["name"] == "kinds"


def test_entities_of_saved_types_that_the_graph_has_not_are_told(call, umls, types):
    """A file that was carried from another run's folder was read in half without a word."""
    call("groupings", "add", RUN, "kinds", "--types", types)
    path = groupings_file(umls)
    path.write_text(path.read_text().replace(umls.graph.entities[3], "elsewhere"))
    told = "note: of the entities that 'kinds' names, 1 are not in the graph\n"
    call("breakdown", RUN, "--by", "kinds", told=told)
    call("compare", RUN, "umls-rotate", "--by", "kinds", told=told)


def test_groups_that_are_not_saved(call, umls, types):
    grouping = TypeGrouping("x", "query", read_entity_types(types, umls.graph))
    found = strict_json(call("breakdown", RUN, "--types", types, "--end", "query", "--json"))
    assert found["groups"] == expected(umls, grouping)
    assert found["by"] == "own groups"
    assert strict_json(call("groupings", "list", RUN, "--json"))["groupings"] == []
    found = strict_json(call("breakdown", RUN, "--condition", ROWS[0], "--json"))
    assert found["groups"] == expected(umls, condition_grouping("x", ROWS[:1]))


def test_metrics_of_types(call, umls, types):
    found = strict_json(
        call("metrics", RUN, "--types", types, "--type", "t0", "--type", "t2", "--json")
    )
    chosen = [e for e in range(umls.graph.num_entities) if e % 3 != 1]
    only = restrict(umls.graph, of_types=chosen)
    assert found["evaluated"] == only.count(umls.graph, umls.graph.split("test"))
    assert found["evaluated"]["entities"] == len(chosen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["groupings", "add", RUN, "x"], "give either --condition"),
        (["groupings", "add", RUN, "relation", "--condition", "a: answers > 1"], "'relation' is a"),
        (["groupings", "add", RUN, "x", "--condition", "a: size > 1"], "unknown column 'size'"),
        (["groupings", "add", RUN, "x", "--types", "none.tsv"], "can not read none.tsv"),
        (
            ["groupings", "add", RUN, "x", "--condition", "a: answers > 1 or side == 'tail'"],
            "answers is compared with a number; found \"1 or side == 'tail'\"",
        ),
        (["groupings", "remove", RUN, "x"], "unknown grouping 'x' in run umls-transe"),
        (["metrics", RUN, "--type", "t0"], "give --types FILE and --type NAME together"),
        (["breakdown", RUN, "--types", "x.tsv", "--condition", "a: answers > 1"], "give either"),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused(*arguments).startswith(message)


def test_an_unknown_end_or_type(refused, types):
    added = refused("groupings", "add", RUN, "x", "--types", types, "--end", "middle")
    assert added.startswith("unknown end 'middle'")
    told = refused("metrics", RUN, "--types", types, "--type", "t9")
    assert told.startswith("unknown type 't9' in the file of types (t0, t1, t2)")
