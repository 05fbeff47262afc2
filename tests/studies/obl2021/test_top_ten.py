"""OBL2021 by its definition: sorted lists of candidates, plain loops."""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import kgdash
from kgdash.errors import KgdashError
from kgdash.graph import FILTERS
from kgdash.studies.obl2021 import top_ten as obl2021
from kgdash.studies.obl2021.evaluation import evaluate
from kgdash.studies.obl2021.top_ten import NOBODY, predict
from tests.support.brute_force import candidates
from tests.support.checks import check_progress
from tests.support.fakes import FakeScorer, array, fake_run, make_graph, random_scorer, worlds


def left(run, triple, side, known):
    """List (score, entity) of the candidates of a triple that remain."""
    place = {"head": 0, "tail": 2}[side]
    return [
        (run.scorer(*other, side), other[place])
        for other in candidates(triple, side, run.graph.num_entities, run.graph.num_relations)
        if other == triple or other not in known
    ]


def ordinal(run, triple, side, known):
    found = [e for _, e in sorted(left(run, triple, side, known), key=lambda c: (-c[0], c[1]))]
    return (found + [NOBODY] * 10)[:10]


def known_of(run, rows, filter):
    if filter == "none":
        return set()
    parts = [rows, *(run.graph.splits[s] for s in FILTERS[filter])]
    return {tuple(int(v) for v in row) for part in parts for row in part}


@settings(max_examples=30)
@given(worlds(max_entities=12, max_relations=1), st.sampled_from(list(FILTERS)), st.booleans())
def test_ordinal_and_random_by_definition(world, filter, small_blocks):
    scorer, parts, evaluated = world
    graph = make_graph(*parts, entities=scorer.num_entities, relations=scorer.num_relations)
    run, rows = fake_run(graph, scorer), array(evaluated)
    known = known_of(run, rows, filter)
    with pytest.MonkeyPatch.context() as patch:
        if small_blocks:
            patch.setattr(obl2021, "block_bytes", lambda: 1)
        fixed = predict(run, ties="ordinal", filter=filter, triples=rows)
        drawn = predict(run, seed=3, filter=filter, triples=rows)
    for side, by_id, by_chance in zip(("head", "tail"), fixed, drawn, strict=True):
        for number, triple in enumerate(evaluated):
            assert by_id[number].tolist() == ordinal(run, triple, side, known)
            score = {e: s for s, e in left(run, triple, side, known)}
            best = sorted(score.values(), reverse=True)[:10]
            chosen = by_chance[number].tolist()
            assert [score[e] for e in chosen[: len(best)]] == best
            assert len(set(chosen[: len(best)])) == len(best)
            assert chosen[len(best) :] == [NOBODY] * (10 - len(best))


def test_blocks_do_not_change_random_ties(monkeypatch):
    generator = torch.Generator().manual_seed(1)
    run = fake_run(
        make_graph([(0, 0, 1), (2, 1, 3)], test=[(h, 0, 5) for h in range(30)], entities=30),
        FakeScorer(torch.randint(0, 3, (30, 2, 30), generator=generator)),
    )
    whole = predict(run, seed=5)
    monkeypatch.setattr(obl2021, "block_bytes", lambda: 1)
    for one, other in zip(whole, predict(run, seed=5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert any((a != b).any() for a, b in zip(whole, predict(run, seed=6), strict=True))


def test_each_query_is_scored_once():
    graph = make_graph([(0, 0, 1)], test=[(0, 0, t) for t in range(2, 8)], entities=12)
    scorer = random_scorer(12, 1)
    predict(fake_run(graph, scorer))
    assert scorer.asked == [("heads", 6), ("tails", 1)]


def test_random_ties_give_each_place_alike():
    """All scores equal: over seeds, the answer stands anywhere among the candidates left."""
    test = [(0, 0, t) for t in range(5)]
    graph = make_graph([(0, 0, 5)], test=test, entities=25, relations=1)
    run = fake_run(graph, FakeScorer(torch.zeros(25, 1, 25)))
    seeds = 300
    places = {triple: [] for triple in test}
    hits = []
    for seed in range(seeds):
        heads, tails = predict(run, seed=seed)
        hits.append(evaluate(heads, tails, graph.splits["test"]).tail.h10)
        for triple, row in zip(test, tails.tolist(), strict=True):
            places[triple].append(row.index(triple[2]) if triple[2] in row else None)
    # 19 entities are no known tails; the answer is the twentieth candidate.
    for found in places.values():
        counts = np.bincount([p for p in found if p is not None], minlength=10)
        expected = seeds / 20
        assert ((counts - expected) ** 2 / expected).sum() < 30  # 10 degrees: p < 0.001
        assert abs(sum(counts) / seeds - 0.5) < 0.1
    assert abs(np.mean(hits) - 0.5) < 0.05
    ranks = run.ranks(sides=("tail",))
    assert (ranks["candidates"] == 20).all()


@pytest.mark.parametrize("name", ["umls-transe", "umls-distmult", "umls-conve"])
@pytest.mark.parametrize("filter", ["train+valid+test", "none"])
def test_without_ties_it_is_the_hits_at_10_of_the_ranks(bundled, name, filter):
    run = bundled(name)
    ranks = run.ranks(filter=filter)
    assert (ranks["optimistic"] == ranks["pessimistic"]).mean() > 0.999
    found = evaluate(*predict(run, filter=filter), run.graph.split("test"))
    values = kgdash.metrics(ranks)
    assert found.h10 == values.value("hits@10")
    for side in ("head", "tail"):
        assert found.of(side).h10 == values.value("hits@10", side)


def test_mrr_at_10_cuts_the_reciprocal_ranks(bundled):
    run = bundled("umls-transe")
    found = evaluate(*predict(run, "valid"), run.graph.split("valid"))
    ranks = run.ranks("valid")["realistic"]
    assert found.mrr10 == pytest.approx(np.where(ranks <= 10, 1 / ranks, 0).mean(), abs=1e-12)
    assert found.triples == len(run.graph.split("valid"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ties": "top"}, "unknown tie policy 'top' in OBL2021 (random, ordinal)"),
        ({"seed": -1}, "seed of at least 0; found -1"),
        ({"filter": "some"}, "unknown filter 'some'"),
        ({"triples": "dev"}, "unknown split 'dev'"),
        ({"triples": np.array([[0, 0, 99]])}, "outside the graph"),
    ],
)
def test_refusals(arguments, message):
    run = fake_run(make_graph([(0, 0, 1)], test=[(1, 0, 0)]), random_scorer(2, 1))
    with pytest.raises(KgdashError) as caught:
        predict(run, **arguments)
    assert message in str(caught.value)


def test_nan_is_refused():
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    with pytest.raises(KgdashError, match="NaN"):
        predict(fake_run(graph, FakeScorer(torch.full((2, 1, 2), float("nan")))))


def test_progress_reaches_its_end_and_may_cancel():
    run = fake_run(make_graph([(0, 0, 1)], test=[(1, 0, 0)]), random_scorer(2, 1))
    check_progress(lambda progress: predict(run, progress=progress))


def _original_evaluator():
    """Take the class out of openbiolink's file: importing the package needs much else."""
    spec = importlib.util.find_spec("openbiolink")
    if spec is None:
        pytest.skip("openbiolink (0.1.4) is not installed")
    source = Path(spec.submodule_search_locations[0]) / "obl2021" / "obl2021.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    (wanted,) = (n for n in tree.body if getattr(n, "name", "") == "OBL2021Evaluator")
    scope = {"torch": torch, "np": np}
    exec(compile(ast.Module([wanted], []), str(source), "exec"), scope)
    return scope["OBL2021Evaluator"]()


def test_as_the_original_evaluator(bundled, capsys):
    evaluator = _original_evaluator()
    run = bundled("umls-transe")
    triples = run.graph.split("test")
    for filter in ("none", "train+valid+test"):
        heads, tails = predict(run, filter=filter)
        found = evaluate(heads, tails, triples)
        evaluator.eval(heads, tails, triples, save_submission=False)
        line = ast.literal_eval(capsys.readouterr().out.splitlines()[-1])
        # The original divides in float32.
        assert found.h10 == pytest.approx(line["h10"], rel=1e-6)
        answers, top = (
            torch.from_numpy(np.concatenate(parts))
            for parts in ((triples[:, 2], triples[:, 0]), (tails, heads))
        )
        assert found.mrr10 == pytest.approx(evaluator._calculate_mrr(answers, top), rel=1e-5)
