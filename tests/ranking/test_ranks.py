"""Ranks by numbers.md#1-ranks: worked out by hand, and count for count as the brute force."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from kgdash.errors import KgdashError
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking import ranks as ranking
from kgdash.ranking.ranks import rank_triples
from tests.support import brute_force
from tests.support.checks import check_progress
from tests.support.fakes import INF, FakeScorer, array, fake_run, make_graph, random_scorer, worlds

SIDES = ("head", "tail", "relation")
COLUMNS = ["optimistic", "realistic", "pessimistic", "candidates"]
TRIPLE = (0, 0, 1)


@pytest.fixture
def scorer():
    """Four entities, two relations; see the rows and columns around (0, 0, 1)."""
    scores = torch.full((4, 2, 4), -9.0)
    scores[0, 0, :] = torch.tensor([0.9, 0.5, 0.5, 0.7])
    scores[:, 0, 1] = torch.tensor([0.5, 0.5, 0.8, 0.1])
    scores[0, 1, 1] = 0.6
    return FakeScorer(scores)


@pytest.fixture
def graph():
    return make_graph([(0, 0, 3)], [(2, 0, 1)], [TRIPLE, (3, 1, 3)], entities=4, relations=2)


def row(table, side="tail", triple=TRIPLE):
    at = (table["side"] == side) & (table[["head", "relation", "tail"]] == triple).all(axis=1)
    (found,) = table.loc[at, COLUMNS].to_numpy().tolist()
    return found


class TestByHand:
    """(0, 0, ?): the true tail 1 scores 0.5, like 2; 0 and 3 are better, 3 is known from train."""

    def test_filtered(self, graph, scorer):
        assert row(fake_run(graph, scorer).ranks()) == [2, 2.5, 3, 3]

    def test_raw(self, graph, scorer):
        assert row(fake_run(graph, scorer).ranks(filter="none")) == [3, 3.5, 4, 4]

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            # (?, 0, 1): heads score .5 (true), .5, .8 (known from valid), .1
            ("train+valid+test", [1, 1.5, 2, 3]),
            ("train+valid", [1, 1.5, 2, 3]),
            ("train+test", [2, 2.5, 3, 4]),
            ("none", [2, 2.5, 3, 4]),
        ],
    )
    def test_filters(self, graph, scorer, filter, expected):
        assert row(fake_run(graph, scorer).ranks(filter=filter), "head") == expected

    def test_relation_side(self, graph, scorer):
        run = fake_run(graph, scorer)
        assert row(run.ranks(sides=["relation"]), "relation") == [2, 2, 2, 2]

    def test_infinite_scores(self, graph, scorer):
        scorer.tails[0, 0] = torch.tensor([INF, -INF, -INF, INF])
        assert row(fake_run(graph, scorer).ranks()) == [2, 2.5, 3, 3]
        scorer.tails[0, 0] = torch.tensor([INF, INF, -INF, 0.0])
        assert row(fake_run(graph, scorer).ranks(filter="none")) == [1, 1.5, 2, 4]

    def test_constant_scores(self, graph):
        table = fake_run(graph, FakeScorer(torch.zeros(4, 2, 4))).ranks(filter="none")
        assert (table["optimistic"] == 1).all()
        assert (table["realistic"] == 2.5).all()
        assert (table["pessimistic"] == 4).all()

    def test_head_side_of_an_inverse_model_has_its_own_scores(self, graph, scorer):
        heads = torch.full((4, 2, 4), -9.0)
        heads[:, 0, 1] = torch.tensor([0.0, 1.0, 2.0, 3.0])
        run = fake_run(graph, FakeScorer(scorer.tails, heads))
        assert row(run.ranks(), "head") == [3, 3, 3, 3]  # (2, 0, 1) is filtered
        assert row(run.ranks(), "tail") == [2, 2.5, 3, 3]


def test_the_table(graph, scorer):
    table = fake_run(graph, scorer).ranks(sides=("tail", "head"))
    assert table.columns.tolist() == ["head", "relation", "tail", "side", *COLUMNS]
    assert table["side"].tolist() == ["tail", "tail", "head", "head"]
    assert table[["head", "relation", "tail"]].to_numpy().tolist() == [[0, 0, 1], [3, 1, 3]] * 2
    kinds = table.dtypes.astype(str)
    assert kinds[["head", "optimistic", "pessimistic", "candidates"]].eq("int64").all()
    assert kinds["realistic"] == "float64"


class TestWhatIsKnown:
    def test_valid_is_ranked_without_a_look_at_test(self):
        # (0, 0, 2) is a test triple and better; on valid it must stay a candidate.
        scorer = FakeScorer(torch.tensor([[[0.0, 1.0, 2.0]], [[0.0] * 3], [[0.0] * 3]]))
        graph = make_graph([(1, 0, 1)], [(0, 0, 1)], [(0, 0, 2)])
        run = fake_run(graph, scorer)
        assert row(run.ranks("valid")) == [2, 2, 2, 3]
        assert row(run.ranks("valid", filter="train+valid+test")) == [1, 1, 1, 2]
        assert row(run.ranks(triples=[(0, 0, 1)])) == [1, 1, 1, 2]

    def test_the_evaluated_set_is_always_part_of_the_filter(self):
        # Both test triples share the query; each would beat the other if it were not filtered.
        scorer = FakeScorer(torch.zeros(3, 1, 3))
        graph = make_graph([(1, 0, 1)], [], [(0, 0, 1), (0, 0, 2)])
        for filter in ("train+valid", "train+test", "train+valid+test"):
            table = fake_run(graph, scorer).ranks(filter=filter, sides=["tail"])
            assert table["candidates"].tolist() == [2, 2]
        raw = fake_run(graph, scorer).ranks(filter="none", sides=["tail"])
        assert raw["candidates"].tolist() == [3, 3]

    def test_triples_outside_the_graph_hide_one_another_only_if_asked(self):
        scorer = FakeScorer(torch.zeros(3, 1, 3))
        graph = make_graph([(1, 0, 1)], entities=3)
        triples = array([(0, 0, 1), (0, 0, 2)])
        run = fake_run(graph, scorer)
        assert run.ranks(triples=triples, sides=["tail"])["candidates"].tolist() == [2, 2]
        apart = run.ranks_of_mixed(triples, sides=["tail"])
        assert apart["candidates"].tolist() == [3, 3]

    def test_unknown_filter(self, graph, scorer):
        with pytest.raises(KgdashError, match=r"unknown filter 'train'.*did you mean"):
            fake_run(graph, scorer).ranks(filter="train")


def rank_all(scorer, triples, known, sides=SIDES):
    entities, relations = scorer.num_entities, scorer.num_relations
    index = None if known is None else KnownTriples(array(known), entities, relations)
    return rank_triples(scorer, array(triples), index, sides)


def brute(scorer, triples, known, sides=SIDES):
    size = scorer.num_entities, scorer.num_relations
    return [
        list(brute_force.ranks(scorer, x, side, known or (), *size))
        for side in sides
        for x in triples
    ]


@given(worlds(splits=1))
@settings(max_examples=40)
def test_equals_brute_force(world):
    scorer, (known,), evaluated = world
    table = rank_all(scorer, evaluated, known)
    assert table[COLUMNS].to_numpy().tolist() == brute(scorer, evaluated, known)
    raw = rank_all(scorer, evaluated, None)
    assert raw[COLUMNS].to_numpy().tolist() == brute(scorer, evaluated, None)
    for found in (table, raw):
        assert (found["optimistic"] >= 1).all()
        assert (found["optimistic"] <= found["realistic"]).all()
        assert (found["realistic"] <= found["pessimistic"]).all()
        assert (found["pessimistic"] <= found["candidates"]).all()


@given(worlds())
@settings(max_examples=30)
def test_every_filter_equals_brute_force(world):
    scorer, (train, valid, test), evaluated = world
    size = scorer.num_entities, scorer.num_relations
    graph = make_graph([*train, (0, 0, 0)], valid, test, *size)
    parts = {s: [tuple(x) for x in graph.splits[s].tolist()] for s in graph.splits}
    run = fake_run(graph, scorer)
    for filter in ("train+valid+test", "train+valid", "train+test"):
        known = [x for split in filter.split("+") for x in parts[split]] + evaluated
        table = run.ranks(triples=array(evaluated), filter=filter, sides=SIDES)
        assert table[COLUMNS].to_numpy().tolist() == brute(scorer, evaluated, known)
    table = run.ranks(triples=array(evaluated), filter="none", sides=SIDES)
    assert table[COLUMNS].to_numpy().tolist() == brute(scorer, evaluated, None)


@pytest.mark.parametrize("rows_per_block", [0.1, 1, 3, 1000])
def test_blocks_change_nothing(monkeypatch, rows_per_block):
    scorer = random_scorer(7, 3, inverse=True)
    triples = np.random.default_rng(0).integers(0, (7, 3, 7), size=(40, 3))
    known = [tuple(x) for x in triples[::2].tolist()]
    monkeypatch.setattr(ranking, "block_bytes", lambda: int(rows_per_block * 4 * 7))
    table = rank_all(scorer, triples, known, ("head", "tail"))
    expected = brute(scorer, [tuple(x) for x in triples.tolist()], known, ("head", "tail"))
    assert table[COLUMNS].to_numpy().tolist() == expected
    queries = len({(x[0], x[1]) for x in triples.tolist()})
    blocks = [count for method, count in scorer.asked if method == "tails"]
    assert sum(blocks) == queries  # each distinct query is scored once
    assert max(blocks) == min(queries, max(1, int(rows_per_block)))


def test_known_answers_of_a_query_are_held_once():
    """Each of thousands of relations between two entities asks the same; all are known."""
    relations = np.arange(1000)
    triples = np.stack([0 * relations, relations, 0 * relations + 1], axis=1)
    scorer, known = random_scorer(2, 1000), KnownTriples(triples, 2, 1000)
    tracemalloc.start()
    try:
        table = rank_triples(scorer, triples, known, ["relation"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6
    assert (table[COLUMNS] == 1).all(axis=None)


class TestRefusals:
    def test_nan_is_counted(self, graph, scorer):
        scorer.tails[0, 0, 2] = float("nan")
        scorer.tails[3, 1, 3] = float("nan")
        # The two tail queries have 8 scores, two of them NaN.
        with pytest.raises(KgdashError, match=r"NaN for 2 of 8 scores.*diverged"):
            fake_run(graph, scorer).ranks(sides=["tail"])

    def test_nan_among_opposite_infinities(self, graph, scorer):
        scorer.tails[0, 0] = torch.tensor([INF, float("nan"), -INF, 0.0])
        with pytest.raises(KgdashError, match="NaN for 1 of 8"):
            fake_run(graph, scorer).ranks(sides=["tail"])

    @pytest.mark.parametrize(
        ("sides", "found"), [(["heads"], "heads"), ("head", "h, e, a, d"), ([], "none")]
    )
    def test_sides(self, graph, scorer, sides, found):
        with pytest.raises(KgdashError, match=f"out of head, relation, tail; found {found}"):
            fake_run(graph, scorer).ranks(sides=sides)

    def test_empty_split(self, scorer):
        graph = make_graph([(0, 0, 1)], entities=4, relations=2)
        with pytest.raises(KgdashError, match=r"split 'test' .* holds no triples"):
            fake_run(graph, scorer).ranks()

    def test_triples_of_another_graph(self, graph, scorer):
        with pytest.raises(KgdashError, match="outside the graph"):
            fake_run(graph, scorer).ranks(triples=array([(0, 0, 4)]))


def test_progress_runs_to_all_and_can_stop(graph, scorer):
    check_progress(lambda progress: fake_run(graph, scorer).ranks(progress=progress))
