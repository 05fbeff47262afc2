"""Accuracy of triple classification inside subgraphs: against the definition, triple by triple."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.reliability.subgraph_classification import (
    local_triples,
    predict_subgraph,
    subgraph_accuracies,
    validation_thresholds,
)
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import draw_subgraphs
from tests.support.fakes import fake_run, make_graph, random_scorer

IDS = ["head", "relation", "tail"]


@pytest.mark.parametrize(
    ("evaluated", "corrupt", "thresholds"),
    [("test", "inside", "global"), ("all", "anywhere", "relation")],
)
def test_accuracy_is_that_of_each_triple(umls, evaluated, corrupt, thresholds):
    parts = draw_subgraphs(umls, SubgraphSampling(5, 12, seed=3))
    evaluation = SubgraphEvaluation(evaluated, corrupt=corrupt, seed=7)
    table = subgraph_accuracies(umls, parts, evaluation, thresholds)
    fitted = validation_thresholds(umls, thresholds, seed=7)
    judged = local_triples(umls, parts, evaluation)
    for number, part in enumerate(parts):
        rows = judged[judged["subgraph"] == number]
        positives = rows[rows["label"]][IDS].to_numpy()
        negatives = rows[~rows["label"]][IDS].to_numpy()
        splits = ("test",) if evaluated == "test" else ("train", "valid", "test")
        inside = part.triples(splits).tolist()
        assert len(positives) == len(negatives) <= len(inside)
        assert all(row in inside for row in positives.tolist())
        assert ((positives != negatives).sum(axis=1) == 1).all()
        assert not umls.graph.known().contains(negatives).any()
        if corrupt == "inside":
            assert np.isin(negatives[:, [0, 2]], part.entities).all()
        scores = umls.scorer.score_triples(torch.from_numpy(rows[IDS].to_numpy().copy())).tolist()
        right = [
            (score >= fitted.per_relation[row.relation]) == row.label
            for score, row in zip(scores, rows.itertuples(), strict=True)
        ]
        assert table["labelled"][number] == len(right)
        expected = np.mean(right) if right else np.nan
        assert table["accuracy"][number] == pytest.approx(expected, nan_ok=True)


def test_every_positive_that_has_a_negative_inside_is_judged(umls):
    parts = draw_subgraphs(umls, SubgraphSampling(3, 10))
    judged = local_triples(umls, parts, SubgraphEvaluation("all"))
    known = {tuple(t) for t in umls.graph.all_triples.tolist()}
    for number, part in enumerate(parts):
        inside = part.entities.tolist()
        expected = [
            (h, r, t)
            for h, r, t in part.triples().tolist()
            if any((h, r, e) not in known or (e, r, t) not in known for e in inside)
        ]
        rows = judged[(judged["subgraph"] == number) & judged["label"]]
        assert [tuple(row) for row in rows[IDS].to_numpy().tolist()] == expected


def test_a_row_is_the_subgraph_s_own(umls):
    parts = draw_subgraphs(umls, SubgraphSampling(4, 20, seed=1))
    whole = subgraph_accuracies(umls, parts)
    for number in (0, 3):
        assert (
            subgraph_accuracies(umls, parts[number : number + 1]).iloc[0].equals(whole.iloc[number])
        )
    assert whole.equals(subgraph_accuracies(umls, parts))
    judged = predict_subgraph(umls, parts[3], validation_thresholds(umls))
    assert (judged["label"] == judged["predicted"]).mean() == whole["accuracy"][3]
    assert not whole.equals(subgraph_accuracies(umls, parts, SubgraphEvaluation(seed=1)))


def test_subgraphs_of_other_entities_have_other_coins(umls):
    parts = draw_subgraphs(umls, SubgraphSampling(2, 30))
    mirrored = replace(parts[0], entities=parts[0].entities[::-1])
    judged = local_triples(umls, [*parts, mirrored], SubgraphEvaluation("all"))
    coins = []
    for _, rows in judged.groupby("subgraph"):
        positives, negatives = np.split(rows[IDS].to_numpy(), 2)
        coins.append((positives != negatives)[:50, 0].tolist())
    assert coins[0] == coins[2] != coins[1]


def test_parts_without_triples_and_refusals():
    graph = make_graph([(0, 0, 1), (2, 0, 3)], valid=[(1, 0, 2)], test=[(1, 0, 0)], entities=6)
    run = fake_run(graph, random_scorer(6, 1))
    parts = [run.subgraph(e, "neighbourhood", 2) for e in (0, 4)]
    table = subgraph_accuracies(run, parts)
    assert table["labelled"].tolist() == [2, 0]
    assert table["accuracy"].isna().tolist() == [False, True]
    assert subgraph_accuracies(run, []).empty
    with pytest.raises(KgdashError, match="unknown choice of evaluated triples 'valid'"):
        SubgraphEvaluation("valid")
    with pytest.raises(KgdashError, match="unknown choice of candidates 'outside'"):
        SubgraphEvaluation(corrupt="outside")
    with pytest.raises(KgdashError, match="unknown kind of thresholds 'each'"):
        subgraph_accuracies(run, parts, thresholds="each")
    with pytest.raises(KgdashError, match="seed ≥ 0"):
        SubgraphEvaluation(seed=-1)
    bare = fake_run(make_graph([(0, 0, 1)], test=[(1, 0, 0)]), random_scorer(2, 1))
    with pytest.raises(KgdashError, match=r"'valid' of graph tiny holds no triples.*load the run"):
        subgraph_accuracies(bare, [])
