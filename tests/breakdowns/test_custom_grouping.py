"""Users' groupings: against plain counting, and saved with the run."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from kgdash.breakdowns import custom_grouping
from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.condition import Condition
from kgdash.breakdowns.custom_grouping import (
    ENDS,
    OTHERS,
    UNTYPED,
    ConditionGrouping,
    TypeGrouping,
    condition_grouping,
    grouping_from_json,
    groups_by,
    missing_note,
)
from kgdash.breakdowns.grouping import group_ranks
from kgdash.breakdowns.rank_facts import RankFacts, add_rank_facts
from kgdash.errors import KgdashError
from kgdash.graph.entity_types import entity_types
from kgdash.ranking.metrics import POOLS
from kgdash.runs.bundled import DEMO
from kgdash.runs.loading import load
from kgdash.runs.saved_groupings import (
    delete_grouping,
    groupings_file,
    save_grouping,
    saved_groupings,
)
from tests.support.fakes import FakeScorer, fake_run, make_graph


@pytest.fixture(scope="module")
def umls(bundled):
    run = bundled("umls-transe")
    return run.graph, add_rank_facts(run.ranks(), run.graph)


@pytest.fixture(scope="module")
def types(umls):
    """Give each entity zero to three types, by its number."""
    pairs = [(e, f"t{k}") for e in range(umls[0].num_entities) for k in range(4) if e >> k & 1]
    return entity_types([pair for pair in pairs if pair[1] != "t3"])


def entity_of(row, end):
    if end in ("head", "tail"):
        return row[end]
    return row[row["side"]] if end == "answer" else row["tail" if row["side"] == "head" else "head"]


@pytest.mark.parametrize("end", ENDS)
def test_types_against_plain_counting(umls, types, end):
    graph, ranks = umls
    found = breakdown(ranks, groups_by(ranks, graph, TypeGrouping("mine", end, types)))
    of = {e: set() for e in range(graph.num_entities)}
    for entity, code in zip(types.entities.tolist(), types.types.tolist(), strict=True):
        of[entity].add(types.names[code])
    rows = ranks.astype({"side": str}).to_dict("records")
    seen = 0
    for line in found.to_dict("records"):
        group, pool = line["group"], POOLS[line["side"]]
        inside = [
            row
            for row in rows
            if row["side"] in pool
            and (
                group in of[entity_of(row, end)]
                or (group == UNTYPED and not of[entity_of(row, end)])
            )
        ]
        assert line["count"] == len(inside)
        assert line["triples"] == len({row["triple"] for row in inside})
        assert line["value"] == pytest.approx(np.mean([1 / row["realistic"] for row in inside]))
        seen += 1
    assert seen == 12  # t0, t1, t2 and none of them; head, tail, both


def test_answer_and_query_are_told_apart():
    graph = make_graph([(0, 0, 1), (1, 0, 2)], test=[(0, 0, 2)], entities=3)
    ranks = add_rank_facts(
        fake_run(graph, FakeScorer(torch.zeros(3, 1, 3))).ranks(sides=("head", "tail", "relation")),
        graph,
    )
    mine = entity_types([(0, "start"), (2, "goal"), (2, "UNTYPED")])
    groups = {
        end: breakdown(ranks, groups_by(ranks, graph, TypeGrouping("x", end, mine)), level=None)
        for end in ENDS
    }
    pairs = {end: set(zip(t["group"], t["side"], strict=True)) for end, t in groups.items()}
    assert ("start", "head") in pairs["answer"]
    assert ("start", "tail") not in pairs["answer"]
    assert {("goal", "tail"), ("UNTYPED", "both")} <= pairs["answer"]
    assert {("start", "tail"), ("goal", "head")} <= pairs["query"]
    assert {("start", "relation"), ("start", "tail"), ("start", "head")} <= pairs["head"]
    assert not {side for _, side in pairs["answer"]} & {"relation"}


def test_a_type_that_is_called_like_no_type(umls):
    graph, ranks = umls
    mine = entity_types([(e, UNTYPED) for e in range(3)])
    found = breakdown(ranks, groups_by(ranks, graph, TypeGrouping("x", "head", mine)))
    assert found["group"].unique().tolist() == [UNTYPED]
    assert found["count"].tolist() == [661, 661, 1322]


def test_conditions_overlap_and_leave_a_rest(umls):
    graph, ranks = umls
    mine = condition_grouping(
        "mine", ["hard: realistic > 5", "hubs : head_degree >= 100", "none: realistic < 1"]
    )
    groups = groups_by(ranks, graph, mine)
    found = breakdown(ranks, groups, "arithmetic_mean_rank").set_index(["group", "side"])
    assert list(dict.fromkeys(found.index.get_level_values(0))) == ["hard", "hubs", OTHERS]
    hard, hubs = ranks["realistic"] > 5, Condition("head_degree", ">=", 100).holds
    is_hub = hubs(RankFacts(ranks, graph))
    for name, inside in (("hard", hard), ("hubs", is_hub), (OTHERS, ~hard & ~is_hub)):
        assert found.loc[(name, "both"), "count"] == inside.sum()
        assert found.loc[(name, "both"), "value"] == pytest.approx(
            ranks["realistic"][inside].mean()
        )
    assert (hard & is_hub).any()
    listed = group_ranks(ranks, groups, "hard", "tail")
    assert len(listed) == (hard & (ranks["side"] == "tail")).sum()
    assert listed["rank"].is_monotonic_increasing
    with pytest.raises(KgdashError, match="unknown group 'easy' in the breakdown by these groups"):
        group_ranks(ranks, groups, "easy")


def test_groups_of_more_ranks_than_fit_into_memory(umls, monkeypatch):
    graph, ranks = umls
    several = entity_types([(e, f"t{k}") for e in range(graph.num_entities) for k in range(3)])
    overlapping = condition_grouping("x", [f"{name}: frequency > 0" for name in "abc"])
    for grouping in (TypeGrouping("x", "head", several), overlapping):
        for enough, most in ((3 * len(ranks), 2**23), (2**23, 3 * len(ranks))):
            monkeypatch.setattr(custom_grouping, "_ENOUGH", enough)
            monkeypatch.setattr(custom_grouping, "_MOST", most)
            assert len(groups_by(ranks, graph, grouping).codes) == 3 * len(ranks)
        for enough, most, told in ((0, 2**23, "2,644"), (2**23, 3 * len(ranks) - 1, "3,965")):
            monkeypatch.setattr(custom_grouping, "_ENOUGH", enough)
            monkeypatch.setattr(custom_grouping, "_MOST", most)
            with pytest.raises(KgdashError, match=f"groups of 'x' hold more than {told} ranks"):
                groups_by(ranks, graph, grouping)


def test_more_types_than_a_breakdown_could_list():
    with pytest.raises(KgdashError, match="has 16,385 types; expected 16,384 at most"):
        TypeGrouping("x", "head", entity_types([(0, f"t{k}") for k in range(2**14 + 1)]))


def test_no_ranks(umls):
    graph, ranks = umls
    only_relations = ranks.iloc[:0]
    with pytest.raises(KgdashError, match="no ranks to break down"):
        breakdown(
            only_relations, groups_by(ranks, graph, condition_grouping("x", ["a: answers > 0"]))
        )


def test_ranks_of_relations_have_no_answer():
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    run = fake_run(graph, FakeScorer(torch.zeros(2, 1, 2)))
    ranks = add_rank_facts(run.ranks(sides=("relation",)), graph)
    groups = groups_by(ranks, graph, TypeGrouping("x", "answer", entity_types([(0, "a")])))
    with pytest.raises(KgdashError, match="no rank is in any of the groups"):
        breakdown(ranks, groups)


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("x", [], "no group"),
        ("x", ["answers > 1"], "expected name: column operator value"),
        ("x", [": answers > 1"], "a name of 1 to 80 characters for a group"),
        ("", ["a: answers > 1"], "a name of 1 to 80 characters for a grouping"),
        ("x\ny", ["a: answers > 1"], "a name of 1 to 80"),
        ("n" * 81, ["a: answers > 1"], "a name of 1 to 80"),
        ("relation", ["a: answers > 1"], "kgdash's own"),
        ("x", [f"{OTHERS}: answers > 2"], "what no group holds"),
        ("x", ["a: answer > 1"], "unknown column 'answer'"),
        ("many", [f"a: frequency < {number}" for number in range(201)], "201 conditions"),
        ("long", [f"a: head == {'x' * 2_001}"], "at most 2,000 characters"),
    ],
)
def test_refused_groupings(name, lines, told):
    with pytest.raises(KgdashError, match=told):
        condition_grouping(name, lines)


def test_an_unknown_end(types):
    with pytest.raises(KgdashError, match="unknown end 'middle'"):
        TypeGrouping("x", "middle", types)


# Saved with the run


@pytest.fixture
def own_run(tmp_path):
    shutil.copytree(DEMO / "umls-distmult", tmp_path / "mine")
    return load(tmp_path / "mine")


def test_saved_beside_the_run_and_read_back(own_run, umls, types):
    graph, ranks = umls
    conditions = condition_grouping("new", ["hard: realistic > 5", "hard: relation contains a"])
    typed = TypeGrouping("kinds", "answer", types)
    assert saved_groupings(own_run) == {}
    path = save_grouping(own_run, conditions)
    assert save_grouping(own_run, typed) == path == groupings_file(own_run)
    assert path.parent == Path(own_run.provenance["source"])
    found = saved_groupings(load(path.parent))
    assert list(found) == ["new", "kinds"]
    for before, after in zip((conditions, typed), found.values(), strict=True):
        tables = [breakdown(ranks, groups_by(ranks, graph, g)) for g in (before, after)]
        assert tables[0].equals(tables[1])
    save_grouping(own_run, condition_grouping("kinds", ["all: answers > 0"]))
    assert isinstance(saved_groupings(own_run)["kinds"], ConditionGrouping)
    delete_grouping(own_run, "new")
    assert list(saved_groupings(own_run)) == ["kinds"]
    with pytest.raises(KgdashError, match="unknown grouping 'new' in run mine"):
        delete_grouping(own_run, "new")
    assert sorted(p.name for p in path.parent.glob("*group*")) == ["groupings.json"]


def test_bundled_runs_of_a_graph_share_theirs(bundled):
    save_grouping(bundled("umls-transe"), condition_grouping("x", ["a: answers > 1"]))
    path = groupings_file(bundled("umls-rotate"))
    assert path.is_relative_to(os.environ["KGDASH_DATA"])
    assert list(saved_groupings(bundled("umls-rotate"))) == ["x"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "can not read .*: Expecting"),
        ("[]", "holds no groupings of kgdash"),
        ('{"format": "kgdash-run"}', "holds no groupings of kgdash"),
        ('{"format": "kgdash-groupings", "version": 3, "groupings": []}', "found version 3"),
        ('{"format": "kgdash-groupings", "version": 1, "groupings": []}', "1; save them again"),
        ('{"format": "kgdash-groupings", "version": 2, "groupings": [3]}', "each with a name"),
    ],
)
def test_other_files_are_refused_and_left_alone(own_run, text, told):
    path = groupings_file(own_run)
    path.write_text(text)
    for attempt in (
        lambda: saved_groupings(own_run),
        lambda: save_grouping(own_run, condition_grouping("y", ["a: answers > 1"])),
    ):
        with pytest.raises(KgdashError, match=told):
            attempt()
    assert path.read_text() == text


def test_hostile_json_is_refused(umls):
    graph, _ = umls
    for value in (
        {"name": "x", "by": "conditions", "buckets": {"a": 3}},
        {"name": "x", "by": "conditions", "buckets": ["a"]},
        {"name": "x", "by": "conditions", "buckets": {"a": []}},
        {"name": "x", "by": "conditions", "buckets": {"a": [["answers", ">"]]}},
        {"name": "x", "by": "conditions", "buckets": {"a": [["answers", ">", [1]]]}},
        {"name": "x", "by": "conditions", "buckets": {"a": [[["answers"], ">", 1]]}},
        {"name": "x"},
        {"name": "x", "by": "conditions", "buckets": {"a": "__import__('os') == 1"}},
        {"name": "x", "by": "types", "end": "head", "types": {"a": "e0"}},
        {"name": "x", "by": "types", "end": "head", "types": {"a": [1]}},
        {"name": "x", "by": "types", "types": {"a": []}},
        {"name": ["x"], "by": "types"},
    ):
        with pytest.raises(KgdashError, match=r"here"):
            grouping_from_json(value, graph, "here")


def test_entities_that_the_graph_does_not_have_are_left_out(umls):
    graph, _ = umls
    listed = [graph.entities[9], "\ud800", "nobody", "", graph.entities[2], graph.entities[9]]
    value = {"name": "x", "by": "types", "end": "head", "types": {"b": listed, "a": listed[:1]}}
    grouping = grouping_from_json(value, graph, "here")
    assert missing_note(grouping) == ["of the entities that 'x' names, 3 are not in the graph"]
    types = grouping.types
    assert types.names == ("a", "b")
    pairs = zip(types.entities.tolist(), types.types.tolist(), strict=True)
    assert sorted(pairs) == [(2, 1), (9, 0), (9, 1)]


def test_names_that_json_must_keep(own_run):
    graph = own_run.graph
    typed = TypeGrouping("ünïcode ⇒", "head", entity_types([(0, 'a"b\\c'), (1, "<script>")]))
    path = save_grouping(own_run, typed)
    assert json.loads(path.read_text("utf-8"))["groupings"][0] == typed.to_json(graph)
    assert saved_groupings(own_run)["ünïcode ⇒"].types.names == ("<script>", 'a"b\\c')
