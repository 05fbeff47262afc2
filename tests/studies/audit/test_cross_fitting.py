"""Each triple is judged by a model that did not see it, and an interrupted audit goes on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.runs.training import TrainingConfig
from kgdash.studies.audit import cross_fitting
from kgdash.studies.audit.cross_fitting import (
    HELD_OUT,
    NEEDED,
    AuditPlan,
    cross_fit,
    kept_audit,
    named_audit,
)
from tests.support.fakes import FakeScorer, make_graph

CONFIG = TrainingConfig("TransE", {"embedding_dim": 4}, epochs=1, batch_size=512, random_seed=3)
PLAN = AuditPlan(CONFIG, folds=2, seed=1)


def rows(array):
    return {tuple(row) for row in np.asarray(array).tolist()}


@pytest.fixture(scope="module")
def graph():
    return load_dataset("nations")


@pytest.fixture(scope="module")
def done(graph, tmp_path_factory):
    """Return a workdir, what was found there, and each fold's number, held triples and run."""
    folds, workdir = [], tmp_path_factory.mktemp("work")
    table = cross_fit(
        graph, PLAN, workdir, on_fold=lambda *about: folds.append((about[0].number, *about[1:]))
    )
    return workdir, table, folds


def test_by_the_definition(graph, done):
    """ReliK by loops over all scores of the model that did not see the triple."""
    _, table, folds = done
    assert rows(table[["head", "relation", "tail"]]) == rows(graph.splits["train"])
    assert table["status"].eq(HELD_OUT).sum() == sum(len(held) for _, held, _, _ in folds)
    known = np.zeros((14, 55, 14), dtype=bool)
    known[tuple(graph.all_triples.T)] = True
    pairs = torch.cartesian_prod(torch.arange(14), torch.arange(55))
    for number, held, run, _ in folds:
        mine = table[table["fold"] == number]
        assert rows(mine[["head", "relation", "tail"]]) == rows(held)
        assert not rows(held) & rows(run.graph.splits["train"])
        for split in ("valid", "test"):
            assert np.array_equal(run.graph.splits[split], graph.splits[split])
        scores = run.scorer.score_tails(pairs).numpy().reshape(14, 55, 14)
        negatives = np.where(known, -np.inf, scores)
        for row in mine.head(40).itertuples():
            own = scores[row.head, row.relation, row.tail]
            ranks = (
                1 + (negatives[row.head] > own).sum(),
                1 + (negatives[..., row.tail] > own).sum(),
            )
            assert (row.head_rank, row.tail_rank) == ranks
            assert row.relik == pytest.approx((1 / ranks[0] + 1 / ranks[1]) / 2)


def test_the_least_reliable_first_ties_by_ids(done):
    table = done[1][done[1]["status"] == HELD_OUT]
    keys = list(table[["relik", "head", "relation", "tail"]].itertuples(index=False, name=None))
    assert keys == sorted(keys)
    assert table["relik"].duplicated().any()
    assert table["suspicion"].tolist() == list(range(1, len(table) + 1))


def test_what_the_cover_keeps_has_no_value(tmp_path):
    ring = [(i, 0, (i + 1) % 10) for i in range(10)] + [(i, 0, (i + 3) % 10) for i in range(10)]
    graph = make_graph([*ring, (0, 1, 10)])
    table = cross_fit(graph, AuditPlan(CONFIG, 3), tmp_path)
    assert table["status"].tolist() == [HELD_OUT] * 20 + [NEEDED]
    last = table.iloc[-1]
    assert last[["head", "relation", "tail"]].tolist() == [0, 1, 10]
    assert last[["suspicion", "relik", "head_rank", "tail_rank", "fold"]].isna().all()
    assert table["fold"].iloc[:-1].notna().all()
    named = named_audit(graph, table)
    assert named.iloc[-1][["head", "relation", "tail"]].tolist() == ["e0", "r1", "e10"]
    assert named.iloc[-1][["head_label", "tail_label"]].tolist() == ["E0", "E10"]


def test_goes_on_where_it_was_to_the_same_bytes(graph, done, tmp_path):
    class Stopped(Exception):
        pass

    def stop_in_the_second(done, total):
        if done / total > 0.52:
            raise Stopped

    before = []
    with pytest.raises(Stopped):
        cross_fit(graph, PLAN, tmp_path, stop_in_the_second)
    assert kept_audit(graph, CONFIG) is None
    table = cross_fit(graph, PLAN, tmp_path, on_fold=lambda *about: before.append(about[3]))
    assert before == [True, False]
    assert table.to_csv() == done[1].to_csv()
    pd.testing.assert_frame_equal(kept_audit(graph, CONFIG), table)
    assert kept_audit(graph, replace(CONFIG, epochs=2)) is None


def test_nan_is_refused(graph, done, tmp_path, monkeypatch):
    run = done[2][0][2]
    scores = np.zeros((14, 55, 14))
    scores[3, 2, 1] = np.nan
    broken = replace(run, scorer=FakeScorer(scores), weights_digest="broken")
    monkeypatch.setattr(cross_fitting, "fold_run", lambda *arguments: broken)
    with pytest.raises(KgdashError, match="NaN"):
        cross_fit(graph, PLAN, tmp_path)


@pytest.mark.parametrize(
    ("train", "folds", "message"),
    [
        ([(0, 0, 0)], 2, "expected 2 to 1 folds of the training triples of graph tiny; found 2"),
        ([(0, r, 0) for r in range(4)], 2, "are needed in train"),
        ([(0, 0, 1), (1, 0, 0)], 0, "found 0"),
        ([], 2, "holds no triples"),
    ],
)
def test_what_can_not_be_cut_is_refused(train, folds, message, tmp_path):
    graph = make_graph(train, entities=2, relations=len({r for _, r, _ in train}) or 1)
    with pytest.raises(KgdashError, match=message):
        cross_fit(graph, AuditPlan(CONFIG, folds), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_single_relation_between_itself_and_itself_can_be_audited(tmp_path):
    graph = make_graph([(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)])
    table = cross_fit(graph, AuditPlan(CONFIG, 2), tmp_path)
    assert table["relik"].tolist() == [1.0] * 4  # all are known: nothing scores higher
