"""Random subgraphs and their figures: against the figures of single ones."""

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import subgraph, triples_inside
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.correlation.correlation import correlations
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.subgraph_classification import subgraph_accuracies
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import (
    default_size,
    draw_subgraphs,
    score_subgraphs,
    task_columns,
)
from tests.support.endless import Endless, GaveUpError, give_up
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.mark.parametrize("evaluated", ["test", "all"])
def test_figures_are_those_of_each_subgraph(umls, evaluated):
    subgraphs = draw_subgraphs(umls, SubgraphSampling(6, 12, seed=3))
    table = score_subgraphs(umls, subgraphs, SubgraphEvaluation(evaluated))
    assert len(table) == 6
    for part, row in zip(subgraphs, table.to_dict("records"), strict=True):
        single = compare(umls, part, evaluated)
        assert (row["seed_entity"], row["entities"]) == (part.seed_entity, len(part.entities))
        assert row["triples"] == single.means["relik"].n
        assert row["evaluated"] == single.means["tail_mrr"].n
        for name, value in (
            ("relik", single.means["relik"].value),
            *((m, single.means[m].value) for m in ("head_mrr", "tail_mrr", "both_mrr")),
            ("relation_mrr", single.means["relation_mrr"].value),
        ):
            assert row[name] == pytest.approx(value, nan_ok=True)
        assert row["walk_seed"] == part.parameters["seed"]
        ranks = single.triples[["head_rank", "tail_rank", "relation_rank"]].dropna()
        for k in (1, 3, 10) if len(ranks) else ():
            hits = ranks <= k
            assert row[f"tail_hits_at_{k}"] == pytest.approx(hits["tail_rank"].mean())
            assert row[f"relation_hits_at_{k}"] == pytest.approx(hits["relation_rank"].mean())
            both = hits[["head_rank", "tail_rank"]].to_numpy().mean()
            assert row[f"both_hits_at_{k}"] == pytest.approx(both)


def test_parts_without_triples_are_nan_and_left_out():
    graph = make_graph([(0, 0, 1), (2, 0, 3)], test=[(1, 0, 0)], entities=6)
    run = fake_run(graph, random_scorer(6, 1))
    subgraphs = [run.subgraph(e, "neighbourhood", 2) for e in (0, 2, 4)]
    table = score_subgraphs(run, subgraphs)
    assert table["triples"].tolist() == [2, 1, 0]
    assert table["evaluated"].tolist() == [1, 0, 0]
    assert table["relik"].isna().tolist() == [False, False, True]
    assert table["tail_mrr"].isna().tolist() == [False, True, True]
    assert table["labelled"].tolist() == [0, 0, 0]  # there is no validation to set a threshold on
    found = correlations(table)
    with_ranks = found["task"] != "accuracy"
    assert (found["subgraphs"] == with_ranks).all()
    assert (found["left_out"] == 3 - with_ranks).all()
    assert (found["without_triples"] == 1).all()
    assert found[["value", "p", "p_holm", "low", "high"]].isna().all(axis=None)
    alone = score_subgraphs(run, subgraphs[2:])
    assert alone[["relik", *task_columns(alone)]].isna().all(axis=None)


def test_drawing(umls):
    one, same, other = (draw_subgraphs(umls, SubgraphSampling(20, 9, seed=s)) for s in (1, 1, 2))
    assert [p.entities.tolist() for p in one] == [p.entities.tolist() for p in same]
    assert [p.seed_entity for p in one] != [p.seed_entity for p in other]
    assert len({p.seed_entity for p in one}) == 20
    assert {len(p.entities) for p in one} == {9}
    assert (
        len(draw_subgraphs(umls, SubgraphSampling(1, method="neighbourhood", hops=2))[0].entities)
        == 60
    )
    assert default_size(umls) == 60
    graph = make_graph([(0, 0, 1)], entities=5)
    few = draw_subgraphs(fake_run(graph, random_scorer(5, 1)), SubgraphSampling(7, 5))
    assert [p.entities.tolist() for p in few] == [[1, 0]], "one, drawn seven times"


def test_other_ks_and_neighbourhoods(umls):
    parts = draw_subgraphs(umls, SubgraphSampling(3, 10, "neighbourhood"))
    table = score_subgraphs(umls, parts, SubgraphEvaluation(ks=(2,)))
    assert task_columns(table) == [
        *("head_mrr", "tail_mrr", "both_mrr", "relation_mrr"),
        *("head_hits_at_2", "tail_hits_at_2", "both_hits_at_2", "relation_hits_at_2"),
        "accuracy",
    ]
    assert (table["walk_seed"] == -1).all()


@pytest.mark.parametrize("corrupt", ["inside", "anywhere"])
def test_accuracy_is_that_of_the_classification(umls, corrupt):
    parts = draw_subgraphs(umls, SubgraphSampling(4, 12, seed=1))
    evaluation = SubgraphEvaluation(corrupt=corrupt, seed=7)
    table = score_subgraphs(umls, parts, evaluation)
    expected = subgraph_accuracies(umls, parts, evaluation)
    pd.testing.assert_frame_equal(table[["labelled", "accuracy"]], expected)
    assert table["labelled"].gt(0).any()


def test_a_walk_that_nobody_waits_for_ends(umls, monkeypatch):
    endless = Endless()
    monkeypatch.setattr(subgraph, "_walk", endless)
    with pytest.raises(GaveUpError):
        draw_subgraphs(umls, SubgraphSampling(2, 9), give_up)
    assert endless.ended.wait(30)


def test_subgraphs_take_the_memory_that_is_given(umls, monkeypatch):
    parts = draw_subgraphs(umls, SubgraphSampling(4, 40))
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    with pytest.raises(KgdashError, match=r"expected 22,310 subgraphs of 60 .* found 23,000"):
        draw_subgraphs(umls, SubgraphSampling(23_000))
    assert score_subgraphs(umls, parts)["triples"].gt(0).all()
    monkeypatch.setattr(triples_inside, "_BYTES", 2**26 // 100)
    with pytest.raises(KgdashError, match=r"inside \d subgraphs and more take more than"):
        score_subgraphs(umls, parts)


def test_refusals(umls):
    with pytest.raises(KgdashError, match="unknown method 'walk'"):
        draw_subgraphs(umls, SubgraphSampling(3, method="walk"))
    with pytest.raises(KgdashError, match="unknown choice of evaluated triples 'valid'"):
        SubgraphEvaluation("valid")
    with pytest.raises(KgdashError, match="k ≥ 1; found 0"):
        SubgraphEvaluation(ks=(1, 0))
