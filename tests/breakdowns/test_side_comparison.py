"""Head against tail queries, against plain counting."""

import numpy as np
import pytest
import torch

from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
from kgdash.errors import KgdashError
from kgdash.ranking.metrics import metrics, side_rows
from tests.support.fakes import FakeScorer, fake_run, make_graph


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-distmult")


@pytest.mark.parametrize("rank_type", ["optimistic", "realistic", "pessimistic"])
def test_against_plain_counting(umls, rank_type):
    ranks, facts = umls.ranks(), umls.graph.all_triples.tolist()
    found = compare_sides(ranks, umls.graph, rank_type).set_index("side")
    assert found.index.tolist() == ["head", "tail", "both"]
    values = metrics(ranks)
    answers, queries = {}, {}
    for side, given in (("head", (1, 2)), ("tail", (0, 1))):
        asked = [tuple(x[i] for i in given) for x in umls.graph.split("test").tolist()]
        counts = {}
        for fact in facts:
            key = tuple(fact[i] for i in given)
            counts[key] = counts.get(key, 0) + 1
        answers[side], queries[side] = [counts[q] for q in asked], len(set(asked))
    answers["both"] = answers["head"] + answers["tail"]
    queries["both"] = queries["head"] + queries["tail"]
    for side, row in found.iterrows():
        part = ranks if side == "both" else ranks[ranks["side"] == side]
        assert row["ranks"] == len(part) == len(answers[side])
        assert row["queries"] == queries[side]
        assert row["answers"] == pytest.approx(np.mean(answers[side]))
        assert row["candidates"] == pytest.approx(part["candidates"].mean())
        chance = [sum(1 / i for i in range(1, n + 1)) / n for n in part["candidates"]]
        assert row["chance"] == pytest.approx(np.mean(chance))
        for key in ("inverse_harmonic_mean_rank", "hits_at_10", "median_rank"):
            assert row[key] == pytest.approx(values.value(key, side, rank_type), rel=1e-6)


def test_in_words(umls):
    ranks = umls.ranks()
    ranks.loc[ranks["side"] == "head", "realistic"] += 1  # makes heads harder
    table = compare_sides(ranks, umls.graph)
    rows = table.set_index("side")
    told = describe_sides(table, ranks, "realistic")
    assert told[0].startswith("Tails (h, r, ?) are found more easily than heads (?, r, t): MRR ")
    assert f"{rows.loc['tail', 'inverse_harmonic_mean_rank']:.3f} against " in told[0]
    assert f"a tail query {rows.loc['tail', 'answers']:.1f}." in told[0]
    expected = rows.loc["tail", "answers"] < rows.loc["head", "answers"]
    assert told[1].startswith("That is what one expects" if expected else "The numbers of answers")
    assert f"{rows.loc['both', 'ranks']:,} ranks" in told[2]
    mirrored = {"side": lambda part: part["side"].map({"head": "tail", "tail": "head"})}
    other = describe_sides(table, ranks.assign(**mirrored), "realistic")
    assert other[0].startswith("Heads ")
    alike = describe_sides(table.assign(answers=2.0), ranks, "realistic")
    assert alike[1] == "The numbers of answers do not explain it: they are the same."


def test_sides_that_differ_by_chance_are_not_told_apart(umls):
    """Of 661 triples, 0.846 against 0.845 said that heads are found more easily."""
    ranks = umls.ranks()
    values = ranks["realistic"].to_numpy()[side_rows(ranks, "both")]
    ranks["realistic"] = np.random.default_rng(0).permutation(values.ravel())
    said = describe_sides(compare_sides(ranks, umls.graph), ranks, "realistic")
    assert said[0].startswith("Heads (?, r, t) and tails (h, r, ?) are not told apart: MRR 0.")
    assert len(said) == 2
    few = ranks.groupby("side").head(29).assign(realistic=1.0)
    few.loc[few["side"] == "head", "realistic"] = 9.0
    said = describe_sides(compare_sides(few, umls.graph), few, "realistic")
    assert "are not told apart: MRR 0.111 and 1.000 of 29 triples" in said[0]


def test_one_side_alone_says_nothing():
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    run = fake_run(graph, FakeScorer(torch.zeros(2, 1, 2)))
    table = compare_sides(run.ranks(sides=("relation",)), graph)
    assert table["side"].tolist() == ["relation"]
    assert table["chance"].tolist() == [1.0]
    assert describe_sides(table, run.ranks(sides=("relation",)), "realistic") == []
    with pytest.raises(KgdashError, match="unknown rank type 'best'"):
        compare_sides(run.ranks(), graph, "best")
