"""An inspection has the ranks of `Run.ranks` and the ReliK of `Run.relik`, model by model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.studies.inspection import inspection, triple_relik
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple, what_beats
from tests.support import brute_force
from tests.support.fakes import fake_run, make_graph, random_scorer, worlds
from tests.support.tiny_runs import MODELS

SIDES = ("head", "tail", "relation")


def some_triples(graph):
    """Return facts of every split, and triples of none."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, graph.num_relations, (6, 3))
    return np.concatenate(
        [graph.splits[s][:: len(graph.splits[s]) // 4] for s in graph.splits] + [drawn]
    )


@pytest.mark.parametrize("name", MODELS)
def test_ranks_and_relik_are_the_runs_own(bundled, name):
    run = bundled(name)
    for triple in some_triples(run.graph):
        found = inspect_triple(run, InspectedTriple(*triple.tolist()), k=3)
        ranks = run.ranks(triples=triple[None], sides=SIDES).set_index("side")
        for side in SIDES:
            rank = found.sides[side].rank(found.sides[side].answer)
            expected = ranks.loc[side, ["optimistic", "realistic", "pessimistic", "candidates"]]
            assert [
                rank.optimistic,
                rank.realistic,
                rank.pessimistic,
                rank.candidates,
            ] == expected.tolist()
        relik = run.relik(triples=triple[None]).iloc[0]
        assert found.relik.value == relik["relik"]
        split = run.graph.split_of(triple[None])[0]
        assert found.known == (None if split == "none" else split)
        better = what_beats(found)
        assert better["head"].count == relik["head_rank"] - 1 == found.relik.head_rank - 1
        assert better["tail"].count == relik["tail_rank"] - 1 == found.relik.tail_rank - 1
        assert better["head"].negatives == found.relik.head_negatives
        assert better["tail"].negatives == found.relik.tail_negatives


@given(worlds(), st.tuples(*[st.integers(0, 99)] * 3))
def test_the_relik_of_any_triple_by_brute_force(world, parts):
    scorer, splits, _ = world
    size = scorer.num_entities, scorer.num_relations
    graph, known = make_graph(*splits, *size), set().union(*map(set, splits))
    triple = tuple(part % size[at == 1] for at, part in enumerate(parts))
    found = inspect_triple(fake_run(graph, scorer), InspectedTriple(*triple), k=2)
    assert found.relik.value == brute_force.relik(scorer, triple, known, *size)
    for side, better in what_beats(found).items():
        rank = brute_force.relik_rank(scorer, triple, side, known, *size)
        assert getattr(found.relik, f"{side}_rank") == better.count + 1 == rank
        assert len(better.best) == min(2, better.count)


def test_a_triple_of_no_split_takes_one_pass_over_the_scores_around_its_ends():
    scorer = random_scorer(7, 3, seed=1)
    graph = make_graph([(0, 1, 4), (0, 2, 5)], test=[(3, 1, 4)], entities=7, relations=3)
    found = inspect_triple(fake_run(graph, scorer), InspectedTriple(0, 1, 5))
    assert list(what_beats(found)) == ["head", "tail"]
    rows = {method: sum(n for m, n in scorer.asked if m == method) for method, _ in scorer.asked}
    # A row for the candidates, and one per relation for the negatives.
    assert rows == {"tails": 1 + 3, "heads": 1 + 3, "relations": 1}


@pytest.mark.parametrize("side", SIDES)
def test_an_open_side_has_its_candidates_and_nothing_else(bundled, side):
    run = bundled("umls-transe")
    whole = dict(zip(("head", "relation", "tail"), (5, 3, 9), strict=True))
    found = inspect_triple(run, InspectedTriple(**whole | {side: None}))
    assert list(found.sides) == [side]
    assert found.relik is found.score is found.known is None
    assert what_beats(found) == {}
    same = inspect_triple(run, InspectedTriple(**whole)).sides[side]
    assert found.sides[side].scores.tolist() == same.scores.tolist()


def test_filters(bundled):
    run = bundled("umls-transe")
    triple = run.graph.splits["test"][0]
    for filter in ("none", "train+valid", "train+valid+test"):
        found = inspect_triple(run, InspectedTriple(*triple.tolist()), filter)
        rank = found.sides["tail"].rank(int(triple[2]))
        table = run.ranks(triples=triple[None], sides=["tail"], filter=filter)
        assert rank.realistic == table["realistic"].iloc[0]
    with pytest.raises(KgdashError, match="unknown filter 'test'"):
        inspect_triple(run, InspectedTriple(*triple.tolist()), "test")


@given(worlds(), st.tuples(*[st.integers(0, 99)] * 3))
def test_a_sample_of_all_negatives_is_exact(world, parts):
    scorer, splits, _ = world
    size = scorer.num_entities, scorer.num_relations
    run = fake_run(make_graph(*splits, *size), scorer)
    triple = InspectedTriple(*(part % size[at == 1] for at, part in enumerate(parts)))
    found, exact = (inspect_triple(run, triple, method=m).relik for m in ("sampled", "exact"))
    assert found.interval == (exact.value, exact.value)
    assert replace(found, value=0.0, interval=None) == replace(exact, value=0.0)
    assert found.value == pytest.approx(exact.value)


def test_samples_are_drawn_where_all_negatives_take_long(bundled, monkeypatch):
    run, covered = bundled("umls-transe"), []
    monkeypatch.setattr(inspection, "_MOMENT", 0.0)
    monkeypatch.setattr(triple_relik, "DRAWN", 300)
    for row in run.graph.splits["test"][::20]:
        triple = InspectedTriple(*row.tolist())
        low, high = inspect_triple(run, triple, method="sampled").relik.interval
        exact = inspect_triple(run, triple, method="exact")
        covered.append(low <= exact.relik.value <= high)
        assert exact.relik.interval is None
    assert np.mean(covered) >= 0.95
    monkeypatch.setattr(inspection, "is_counted_unasked", lambda run: False)
    assert inspect_triple(run, triple).relik.interval is not None


def test_an_unknown_method_is_refused(bundled):
    with pytest.raises(KgdashError, match="unknown method 'paper'"):
        inspect_triple(bundled("umls-transe"), InspectedTriple(0, 0, None), method="paper")


def test_a_side_of_models_with_inverse_relations_has_its_own_score():
    scorer = random_scorer(5, 2, inverse=True)
    found = inspect_triple(
        fake_run(make_graph([(0, 1, 4)], relations=2), scorer), InspectedTriple(0, 1, 4)
    )
    assert found.score == scorer(0, 1, 4, "tail")
    assert found.sides["head"].score(0) == scorer(0, 1, 4, "head") != found.score


def test_nan_is_refused():
    scorer = random_scorer(3, 1)
    scorer.tails[0, 0, 2] = float("nan")
    with pytest.raises(KgdashError, match="NaN"):
        inspect_triple(
            fake_run(make_graph([(0, 0, 1)], entities=3), scorer), InspectedTriple(0, 0, 1)
        )
