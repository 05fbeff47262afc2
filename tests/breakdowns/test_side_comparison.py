"""Head against tail queries, against plain counting."""

import numpy as np
import pytest
import torch

from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
from kgdash.errors import KgdashError
from kgdash.ranking.metrics import metrics
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
    table = compare_sides(umls.ranks(), umls.graph)
    rows = table.set_index("side")
    better = rows.loc[["head", "tail"], "inverse_harmonic_mean_rank"].idxmax()
    told = describe_sides(table)
    assert told[0].startswith(f"{better.capitalize()}s ")
    assert f"{rows.loc[better, 'inverse_harmonic_mean_rank']:.3f}" in told[0]
    expected = rows.loc[["head", "tail"], "answers"].idxmin() == better
    assert told[1].startswith("That is what one expects" if expected else "The numbers of answers")
    assert f"{rows.loc['both', 'ranks']:,} ranks" in told[2]
    mirrored = table.assign(
        side=table["side"].map({"head": "tail", "tail": "head", "both": "both"})
    )
    other = "head" if better == "tail" else "tail"
    assert describe_sides(mirrored)[0].startswith(f"{other.capitalize()}s ")
    alike = describe_sides(table.assign(answers=2.0))
    assert alike[1] == "The numbers of answers do not explain it: they are the same."


def test_one_side_alone_says_nothing():
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    run = fake_run(graph, FakeScorer(torch.zeros(2, 1, 2)))
    table = compare_sides(run.ranks(sides=("relation",)), graph)
    assert table["side"].tolist() == ["relation"]
    assert table["chance"].tolist() == [1.0]
    assert describe_sides(table) == []
    with pytest.raises(KgdashError, match="unknown rank type 'best'"):
        compare_sides(run.ranks(), graph, "best")
