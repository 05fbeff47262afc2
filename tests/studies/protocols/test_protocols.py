"""What protocols say on average, against drawing negatives many times."""

from __future__ import annotations

import numpy as np
import pytest

import kgdash
from kgdash.errors import KgdashError
from kgdash.studies.protocols.protocols import Protocol, ProtocolSetting, expected, protocols
from kgdash.studies.protocols.rivals import count_rivals
from tests.support.fakes import FakeScorer, fake_run, make_graph

KS = np.array([1.0, 3.0])


@pytest.fixture(scope="module")
def run():
    """A run of 40 entities whose scores often tie."""
    random = np.random.default_rng(1)
    rows = np.unique(random.integers(0, [40, 2, 40], (200, 3)), axis=0)
    graph = make_graph(rows[::2], rows[1::4], rows[3::4], 40, 2)
    return fake_run(graph, FakeScorer(random.choice(np.linspace(0, 1, 12), (40, 2, 40))))


@pytest.mark.parametrize(
    "protocol", [Protocol("", 8), Protocol("", 5, 4), Protocol("", 0, 6), Protocol("", 1000)]
)
def test_by_drawing(run, protocol):
    random, graph = np.random.default_rng(0), run.graph
    train, known = graph.splits["train"], graph.known()
    degree = np.bincount(train[:, [0, 2]].reshape(-1), minlength=40)
    draws, totals = 400, []
    for column in (0, 2):
        for triple in graph.splits["test"]:
            others = np.repeat(triple[None], 40, axis=0)
            others[:, column] = np.arange(40)
            rivals = np.flatnonzero(~known.contains(others))
            scores = run.scorer.tails[tuple(others.T)].numpy()
            own = scores[triple[column]]
            size = min(protocol.uniform, len(rivals))
            keys = random.random((draws, len(rivals)))
            first = rivals[np.argsort(keys, axis=1)[:, :size]]
            weight = degree[rivals] / degree[rivals].sum()
            second = random.choice(rivals, (draws, protocol.weighted), p=weight)
            drawn = scores[np.concatenate([first, second], axis=1)]
            totals.append(1 + (drawn > own).sum(axis=1) + (drawn == own).sum(axis=1) / 2)
    rank = np.array(totals)
    found = expected(count_rivals(run), protocol, KS)
    values = [1 / rank, rank, *(1.0 * (rank <= k) for k in KS)]
    for row, value in zip(found.itertuples(), values, strict=True):
        means = value.mean(axis=0)
        assert abs(means.mean() - row.value) <= 4 * row.sd / np.sqrt(draws) + 1e-9
        assert means.std() == pytest.approx(row.sd, rel=0.15, abs=1e-9)


def test_all_candidates_are_the_metrics(bundled):
    found = protocols(bundled("umls-transe"), ProtocolSetting(negatives=(10_000,)))
    values = kgdash.metrics(bundled("umls-transe").ranks(), (1, 3, 10))
    # So many negatives are all there are.
    for protocol in ("all candidates", "10,000 uniform"):
        rows = found[found["protocol"] == protocol].set_index("metric")["value"]
        for name, key in {"mrr": "mrr", "mr": "mr", "hits@10": "hits@10"}.items():
            assert rows[name] == pytest.approx(values.value(key))
    assert (found[found["protocol"] == "10,000 uniform"]["sd"] == 0).all()


def test_fewer_candidates_flatter_and_the_correction_undoes_it_for_the_mean_rank(bundled):
    found = protocols(bundled("umls-transe"), ProtocolSetting((20,))).set_index(
        ["protocol", "metric"]
    )
    own = found.loc["20 uniform"]
    assert own.loc["mrr", "value"] > own.loc["mrr", "exact"]
    assert own.loc["mr", "corrected"] == pytest.approx(own.loc["mr", "exact"])
    assert abs(own.loc["mrr", "corrected"] - own.loc["mrr", "exact"]) < abs(
        own.loc["mrr", "value"] - own.loc["mrr", "exact"]
    )
    assert found.loc["seen types", "corrected"].isna().all()


def test_types_are_ranked_among_alone(run):
    found = protocols(run, ProtocolSetting(side="tail")).set_index(["protocol", "metric"])
    rivals = count_rivals(run).query("side == 'tail'")
    rank = 1 + rivals["better_typed"] + rivals["tied_typed"] / 2
    assert found.loc[("seen types", "mrr"), "value"] == pytest.approx((1 / rank).mean())


@pytest.mark.parametrize("setting", [{"negatives": (0,)}, {"ks": (0,)}, {"side": "relation"}])
def test_refused(setting):
    with pytest.raises(KgdashError):
        ProtocolSetting(**setting)
