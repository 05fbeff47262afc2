"""Metrics, groups and restrictions against PyKEEN's evaluator, on more graphs than the bundled."""

import numpy as np
import pytest
import torch
from pykeen.models import model_resolver
from pykeen.triples import CoreTriplesFactory

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph.datasets import load_dataset
from kgdash.graph.restriction import Restriction
from kgdash.ranking.metrics import metrics
from kgdash.runs.loading import assemble
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.build_model import scoring_state
from tests.support.checks import check_values, pykeen_values
from tests.support.paths import SHARED

#: for one function of both sides, and for inverse relations; all six stand in test_pykeen_ranks
MODELS = ("RotatE", "ConvE")
DATASETS = {"kinships": "kinships", "codex-s": str(SHARED / "codex-s")}


@pytest.fixture(scope="module")
def graphs():
    found: dict = {}
    return lambda name: found.get(name) or found.setdefault(name, load_dataset(DATASETS[name]))


@pytest.fixture
def untrained(graphs):
    """Make a run with random weights: what ranks mean does not depend on training."""

    def run(dataset, model):
        graph, spec = graphs(dataset), TrainingConfig(model, {"embedding_dim": 8}).spec()
        factory = CoreTriplesFactory(
            torch.from_numpy(graph.splits["train"]),
            num_entities=graph.num_entities,
            num_relations=graph.num_relations,
            create_inverse_triples=spec.create_inverse_triples,
        )
        made = model_resolver.make(model, triples_factory=factory, random_seed=0, **spec.kwargs)
        return assemble(model, graph, spec, scoring_state(made), {}, {})

    return run


def values_of(run, triples, split="test", **restriction):
    """Evaluate with PyKEEN, filtered by all splits up to the one that is evaluated."""
    splits = run.graph.splits
    known = [splits["train"], splits["valid"], *([splits["test"]] if split == "test" else [])]
    return pykeen_values(run.scorer.model, triples, known, **restriction)


def assert_same(ours, theirs):
    """Compare all metrics; candidates equal up to rounding may change places (engine.md)."""
    check_values(metrics(ours), theirs, 1e-4, lambda key: 1e-3 if ".z_" in key else 1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_codex(shared_data, untrained, model):
    run = untrained("codex-s", model)
    # PyKEEN takes many seconds for all.
    some = run.graph.splits["test"][::8]
    assert_same(run.ranks(triples=some), values_of(run, some))


@pytest.mark.parametrize("model", MODELS)
def test_kinships(untrained, model):
    run = untrained("kinships", model)
    graph, test = run.graph, run.graph.splits["test"]
    for split, known in (("test", "train+valid+test"), ("valid", "train+valid")):
        some = graph.splits[split][::6]
        ours = run.ranks(triples=some, filter=known)
        assert_same(ours, values_of(run, some, split))
    check_a_relation(run)

    entities = np.flatnonzero(graph.degrees >= np.median(graph.degrees))
    inside = test[np.isin(test[:, [0, 2]], entities).all(axis=1)]
    restricted = values_of(
        run, inside, restrict_entities_to=torch.from_numpy(entities), do_time_consuming_checks=False
    )
    assert_same(run.ranks(restriction=Restriction(entities)), restricted)


def check_a_relation(run):
    """Compare the group of the most frequent relation with an evaluation of its triples alone."""
    test = run.graph.splits["test"]
    relation = int(np.bincount(test[:, 1]).argmax())
    theirs = values_of(run, test[test[:, 1] == relation])
    ranks = add_rank_facts(run.ranks(), run.graph)
    label = ranks.loc[ranks["relation"] == relation, "relation_name"].iloc[0]
    for metric in ("inverse_harmonic_mean_rank", "adjusted_arithmetic_mean_rank_index"):
        groups = breakdown(ranks, "relation", metric, level=None)
        rows = groups[groups["group"] == label]
        assert rows["side"].tolist() == ["head", "tail", "both"]
        for row in rows.itertuples():
            for rank_type in ("optimistic", "pessimistic"):
                value = theirs[f"{row.side}.{rank_type}.{metric}"]
                assert getattr(row, rank_type) == pytest.approx(value, rel=1e-4, abs=1e-6)
