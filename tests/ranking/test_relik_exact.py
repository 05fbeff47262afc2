"""Exact ReliK by numbers.md#4-relik: worked out by hand, and equal to the brute force."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from kgdash.errors import KgdashError
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking import relik_rows
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_exact import relik_exact
from tests.support import brute_force
from tests.support.brute_force import RANK_TYPES
from tests.support.fakes import INF, FakeScorer, array, fake_run, make_graph, random_scorer, worlds


def exact(scorer, triples, known):
    index = KnownTriples(array(known), scorer.num_entities, scorer.num_relations)
    return relik_exact(scorer, array(triples), index)


def brute(scorer, triples, known, rank_type="optimistic"):
    """List (rank_H, rank_T, ReliK) per triple."""
    size = scorer.num_entities, scorer.num_relations
    found = []
    for x in triples:
        head, tail = (
            brute_force.relik_rank(scorer, x, side, known, *size, rank_type)
            for side in ("head", "tail")
        )
        found.append([head, tail, 0.5 * (1 / head + 1 / tail)])
    return found


COLUMNS = ["head_rank", "tail_rank", "relik"]


class TestByHand:
    """Two entities, two relations; x = (0, 0, 1) scores 5."""

    scorer = FakeScorer([[[6, 5], [5, 9]], [[7, 5], [0, 4]]])

    def test_negatives_are_counted(self):
        # N⁻(h=0): (0,0,0) 6, (0,1,0) 5, (0,1,1) 9. N⁻(t=1): (0,1,1) 9, (1,0,1) 5, (1,1,1) 4.
        counts = exact(self.scorer, [(0, 0, 1)], [(0, 0, 1)])
        found = counts.drop(columns=["head", "relation", "tail"]).iloc[0].to_dict()
        assert found == {
            "head_greater": 2,
            "head_equal": 1,
            "head_negatives": 3,
            "tail_greater": 1,
            "tail_equal": 1,
            "tail_negatives": 3,
        }

    @pytest.mark.parametrize(
        ("rank_type", "head", "tail"),
        [("optimistic", 3, 2), ("realistic", 3.5, 2.5), ("pessimistic", 4, 3)],
    )
    def test_ties(self, rank_type, head, tail):
        values = relik_values(exact(self.scorer, [(0, 0, 1)], [(0, 0, 1)]), rank_type)
        assert values[COLUMNS].iloc[0].tolist() == [head, tail, 0.5 * (1 / head + 1 / tail)]

    def test_known_triples_are_no_negatives(self):
        counts = exact(self.scorer, [(0, 0, 1)], [(0, 0, 1), (0, 1, 1)])
        assert counts[["head_greater", "tail_greater"]].iloc[0].tolist() == [1, 0]
        assert counts[["head_negatives", "tail_negatives"]].iloc[0].tolist() == [2, 2]

    def test_a_negative_does_not_count_itself(self):
        # (1, 0, 1) scores 5 and is in N⁻(h=1) itself: 7, itself, 0, 4 are there.
        counts = exact(self.scorer, [(1, 0, 1)], [(0, 0, 1)])
        assert counts[["head_greater", "head_equal", "head_negatives"]].iloc[0].tolist() == [
            1,
            0,
            4,
        ]

    def test_nothing_but_known_triples_around_gives_rank_one(self):
        everything = [(h, r, t) for h in range(2) for r in range(2) for t in range(2)]
        values = relik_values(exact(self.scorer, everything, everything))
        assert (values[COLUMNS] == 1).all(axis=None)

    def test_infinities_are_legal(self):
        scorer = FakeScorer([[[INF, -INF], [-INF, 0]], [[0, 0], [0, 0]]])
        counts = exact(scorer, [(0, 0, 1)], [(0, 0, 1)])
        assert counts[["head_greater", "head_equal"]].iloc[0].tolist() == [2, 1]


@given(worlds(splits=1))
@settings(max_examples=40)
def test_equals_brute_force(world):
    scorer, (known,), evaluated = world
    counts = exact(scorer, evaluated, known)
    for rank_type in RANK_TYPES:
        values = relik_values(counts, rank_type)
        assert values[COLUMNS].to_numpy().tolist() == brute(scorer, evaluated, known, rank_type)
        assert ((values["relik"] > 0) & (values["relik"] <= 1)).all()
    size = scorer.num_entities * scorer.num_relations
    for side, column in (("head", 0), ("tail", 2)):
        # |N⁻| = |E|·|R| − |{known triples with that anchor}|
        around = [sum(f[column] == x[column] for f in set(known)) for x in evaluated]
        assert counts[f"{side}_negatives"].tolist() == [size - n for n in around]
        listed = [
            len(brute_force.negatives(x, side, known, scorer.num_entities, scorer.num_relations))
            for x in evaluated
        ]
        assert counts[f"{side}_negatives"].tolist() == listed


class TestBlocks:
    entities, relations = 6, 5
    triples = array(np.random.default_rng(3).integers(0, (6, 5, 6), size=(30, 3)))
    known = [tuple(x) for x in triples[:20].tolist()]

    @pytest.mark.parametrize(
        ("anchors", "relations"), [(1, 1), (1, 2), (1, 5), (2, 5), (4, 5), (6, 5)]
    )
    @pytest.mark.parametrize("inverse", [False, True])
    def test_change_nothing(self, monkeypatch, anchors, relations, inverse):
        scorer = random_scorer(self.entities, self.relations, inverse=inverse)
        scorer.tails.round_(decimals=1)
        size = 4 * self.entities * anchors * relations
        monkeypatch.setattr(relik_rows, "block_bytes", lambda: size)
        counts = exact(scorer, self.triples, self.known)
        expected = brute(scorer, [tuple(x) for x in self.triples.tolist()], self.known)
        assert relik_values(counts)[COLUMNS].to_numpy().tolist() == expected
        # The blocks were cut as meant: so many queries in the largest.
        assert max(count for _, count in scorer.asked) == anchors * relations

    def test_an_anchor_is_scored_once_if_it_fits(self):
        scorer = random_scorer(self.entities, self.relations)
        exact(scorer, self.triples, self.known)
        heads = len(np.unique(self.triples[:, 0]))
        assert sum(n for m, n in scorer.asked if m == "tails") == heads * self.relations


class TestRun:
    graph = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)])

    def test_all_splits_are_no_negatives(self):
        scorer = random_scorer(3, 2, seed=5)
        run = fake_run(self.graph, scorer)
        facts = [tuple(x) for x in self.graph.all_triples.tolist()]
        for split in ("train", "valid", "test"):
            triples = [tuple(x) for x in self.graph.splits[split].tolist()]
            values = run.relik(split)
            assert values[["head", "relation", "tail"]].to_numpy().tolist() == [
                list(x) for x in triples
            ]
            assert values[COLUMNS].to_numpy().tolist() == brute(scorer, triples, facts)

    def test_rank_type_is_passed_on(self):
        run = fake_run(self.graph, FakeScorer(np.zeros((3, 2, 3))))
        assert run.relik(rank_type="optimistic")["relik"].tolist() == [1]
        # 6 candidates around each anchor; known with head 0: 2, with tail 0: 2; all 4 others tie.
        assert run.relik(rank_type="pessimistic")["head_rank"].tolist() == [5]
        assert run.relik(rank_type="realistic")["tail_rank"].tolist() == [3]

    def test_refusals(self):
        run = fake_run(self.graph, random_scorer(3, 2))
        with pytest.raises(KgdashError, match=r"unknown method 'exakt'.*did you mean 'exact'"):
            run.relik(method="exakt")
        with pytest.raises(KgdashError, match="unknown rank type 'worst'"):
            run.relik(rank_type="worst")
        with pytest.raises(KgdashError, match="outside the graph"):
            run.relik(triples=[(0, 2, 0)])

    @pytest.mark.parametrize("method", ["exact", "sampled"])
    def test_nan_is_refused(self, method):
        scorer = random_scorer(3, 2)
        scorer.tails[:] = float("nan")
        with pytest.raises(KgdashError, match="gives NaN for"):
            fake_run(self.graph, scorer).relik(method=method)


def handful(graph):
    """Pick some test triples, and as many with another tail or relation that are no facts."""
    facts = graph.known()
    positive = graph.splits["test"][::150]
    negative = positive.copy()
    negative[:, 2] = (negative[:, 2] + 7) % graph.num_entities
    negative[::2, 1] = (negative[::2, 1] + 1) % graph.num_relations
    negative = negative[~facts.contains(negative)]
    assert len(negative) >= 3
    return np.concatenate([positive, negative])


def test_a_bundled_run_equals_brute_force_over_single_triples(bundled):
    """Without inverse triples there is one score per triple: every candidate by score_hrt."""
    run = bundled("umls-rotate")
    graph, model = run.graph, run.scorer.model
    facts = {tuple(x) for x in graph.all_triples.tolist()}
    triples = handful(graph)
    values = run.relik(triples=triples)
    for found, (h, r, t) in zip(values.itertuples(), triples.tolist(), strict=True):
        for side, rank in (("head", found.head_rank), ("tail", found.tail_rank)):
            sizes = graph.num_entities, graph.num_relations
            others = brute_force.negatives((h, r, t), side, facts, *sizes)
            others = [x for x in others if x != (h, r, t)]
            with torch.inference_mode():
                scores = model.score_hrt(torch.tensor([(h, r, t), *others])).squeeze(-1)
            own, scores = scores[0], scores[1:]
            # One kernel rounds other than the next: known up to scores that nearly tie.
            assert (
                int((scores > own + 1e-5).sum()) + 1 <= rank <= int((scores > own - 1e-5).sum()) + 1
            )
