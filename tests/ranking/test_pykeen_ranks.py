"""Every single rank against PyKEEN's evaluator, on all six models, with and without ties."""

import numpy as np
import pytest
import torch
from pykeen.evaluation import RankBasedEvaluator

from kgdash.errors import KgdashError
from kgdash.graph.restriction import Restriction
from kgdash.ranking.ranks import rank_triples
from kgdash.scoring.kernel_scorer import KernelScorer, fastest_scorer
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from tests.support.tiny_runs import MODELS

#: split and what counts as known: final figures, and model selection
FILTERS = [("test", ("train", "valid", "test")), ("valid", ("train", "valid"))]


def pykeen_ranks(model, graph, triples, known, **restriction):
    """Rank with PyKEEN; return (side, rank type) → ranks, and side → candidates."""
    others = [torch.from_numpy(graph.splits[name]) for name in known]
    evaluator = RankBasedEvaluator(clear_on_finalize=False)
    evaluator.evaluate(
        model=model,
        mapped_triples=torch.from_numpy(triples),
        additional_filter_triples=others,
        batch_size=256,
        use_tqdm=False,
        **restriction,
    )
    ranks = {key: np.concatenate(parts) for key, parts in evaluator.ranks.items()}
    return ranks, {side: np.concatenate(n) for side, n in evaluator.num_candidates.items()}


def assert_same(table, ranks, candidates):
    for side in ("head", "tail"):
        ours = table[table["side"] == side]
        assert ours["candidates"].tolist() == candidates[side].tolist()
        for rank_type in ("optimistic", "realistic", "pessimistic"):
            theirs = ranks[side, rank_type]
            wrong = np.flatnonzero(ours[rank_type].to_numpy() != theirs)
            assert not len(wrong), f"{side}, {rank_type}: {len(wrong)} of {len(theirs)} differ"


@pytest.mark.parametrize(("split", "known"), FILTERS)
@pytest.mark.parametrize("name", MODELS)
def test_bundled_runs(bundled, name, split, known):
    run = bundled(name)
    assert isinstance(run.scorer, KernelScorer)
    table = run.ranks(split=split, filter="+".join(known))
    assert_same(table, *pykeen_ranks(run.scorer.model, run.graph, run.graph.splits[split], known))


@pytest.mark.parametrize("name", ["umls-transe", "umls-distmult", "umls-rotate", "umls-pairre"])
def test_models_full_of_ties(bundled, name):
    """Entities share vectors, so that most ranks are ties; PyKEEN scores equal vectors alike."""
    run = bundled(name)
    graph, model = run.graph, run.scorer.model
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    try:
        with torch.no_grad():
            entity = model.entity_representations[0]._embeddings.weight
            entity.copy_(entity[torch.arange(len(entity)) % 20].clone())
        scorer, notes = fastest_scorer(model)
        assert isinstance(scorer, KernelScorer)
        assert not notes
        table = rank_triples(scorer, graph.splits["test"], graph.known())
        ranks, candidates = pykeen_ranks(model, graph, graph.splits["test"], graph.splits)
        assert (table["pessimistic"] > table["optimistic"]).mean() > 0.9
        assert_same(table, ranks, candidates)
    finally:
        model.load_state_dict(weights)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernels", [True, False])
def test_candidates_restricted_to_some_entities(bundled, name, kernels):
    """numbers.md#3-restriction: triples of some relations between some entities, ranked among those
    alone."""
    run = bundled(name)
    graph, model = run.graph, run.scorer.model
    entities, relations = np.arange(0, graph.num_entities, 2), np.arange(graph.num_relations)[::3]
    test = graph.splits["test"]
    inside = np.isin(test[:, [0, 2]], entities).all(axis=1) & np.isin(test[:, 1], relations)
    assert inside.sum() > 20
    scorer = run.scorer if kernels else PyKEENScorer(model)
    table = rank_triples(scorer, test[inside], graph.known(), entities=entities)
    ranks, candidates = pykeen_ranks(
        model, graph, test[inside], graph.splits, restrict_entities_to=entities.tolist()
    )
    assert_same(table, ranks, candidates)
    assert table["candidates"].max() <= len(entities)
    whole = run.ranks(restriction=Restriction(entities[::-1], relations))
    assert whole["optimistic"].tolist() == table["optimistic"].tolist()


@pytest.mark.parametrize(
    ("restriction", "message"),
    [
        ({"entities": []}, "ids of entities from 0 to 134; found none"),
        ({"entities": [3, 135]}, "found 3 to 135"),
        ({"relations": [-1]}, "ids of relations from 0 to 45; found -1 to -1"),
        ({"entities": [3], "relations": [0]}, "none of the 661 triples"),
    ],
)
def test_refused_restrictions(bundled, restriction, message):
    with pytest.raises(KgdashError, match=message):
        bundled("umls-transe").ranks(restriction=Restriction(**restriction))


def test_both_ends_must_be_candidates(bundled):
    run = bundled("umls-transe")
    with pytest.raises(KgdashError, match="all ends"):
        rank_triples(run.scorer, run.graph.splits["test"], None, entities=np.arange(3))
