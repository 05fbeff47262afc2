"""The best new triples, against all of them scored, sorted and cut by the definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files import table_cache
from kgdash.studies.discovery import discovery
from kgdash.studies.discovery.discovery import DiscoverySetting, discover, seen_ends
from kgdash.studies.probability.calibration import fit_calibration
from tests.support.cluster_fakes import FakeHelpers
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer


def grid(run) -> np.ndarray:
    """All (head, relation, tail), in the order of their ids."""
    e, r = range(run.graph.num_entities), range(run.graph.num_relations)
    return np.stack(np.meshgrid(e, r, e, indexing="ij"), axis=-1).reshape(-1, 3)


def all_scores(run) -> dict[str, np.ndarray]:
    """Both sides' scores of all triples: float64, ``(|E|, |R|, |E|)`` each."""
    e, r = run.graph.num_entities, run.graph.num_relations
    pairs = torch.cartesian_prod(torch.arange(e), torch.arange(r))
    tails = run.scorer.score_tails(pairs).reshape(e, r, e)
    backwards = torch.cartesian_prod(torch.arange(r), torch.arange(e))
    heads = run.scorer.score_heads(backwards).reshape(r, e, e).permute(2, 0, 1)
    return {"tail": tails.numpy().astype(float), "head": heads.numpy().astype(float)}


def expected(run, setting: DiscoverySetting) -> pd.DataFrame:
    """`discover` by the definition, in whole arrays."""
    graph, scores = run.graph, all_scores(run)
    known = np.zeros(scores["tail"].shape, dtype=bool)
    for split in setting.known:
        known[tuple(graph.splits[split].T)] = True
    allowed = ~known
    if setting.types == "seen":
        allowed = allowed & known.any(axis=2)[:, :, None] & known.any(axis=0)[None]
    value = scores["tail"]
    if not setting.loops:
        allowed = allowed & ~np.eye(graph.num_entities, dtype=bool)[:, None]
    if setting.by == "probability":
        betas, sides = fit_calibration(run).betas, []
        for side, axis in (("tail", 2), ("head", 0)):
            rows = betas[betas["side"] == side].set_index("relation")["beta"]
            beta = np.array([rows.get(r, rows[-1]) for r in range(graph.num_relations)])
            logit = np.where(known, -np.inf, beta[None, :, None] * scores[side])
            sides.append(logit - np.logaddexp.reduce(logit, axis=axis, keepdims=True))
        value = np.minimum(*sides)
    triples = grid(run)[allowed.reshape(-1)]
    table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
    table["value"], table["score"] = value[allowed], scores["tail"][allowed]
    if setting.relations:
        table = table[table["relation"].isin([graph.relation_id(n) for n in setting.relations])]
    table = table.sort_values("value", ascending=False, kind="stable")
    if setting.per_relation:
        table = table.groupby("relation", sort=False).head(setting.per_relation)
    return table.head(setting.k).reset_index(drop=True)


IDS = ["head", "relation", "tail"]


def helped(run, seed: int = 0):
    """Return a run whose helpers search relations in any order, one of them twice."""
    return replace(run, helpers=FakeHelpers(run, seed))


@pytest.mark.parametrize("name", ["umls-complex", "umls-transe", "umls-conve", "umls-rotate"])
@pytest.mark.parametrize(("types", "loops"), [("any", True), ("any", False), ("seen", True)])
def test_by_score(bundled, name, types, loops):
    run = bundled(name)
    setting = DiscoverySetting(500, "score", types, loops=loops)
    found, wanted = discover(run, setting), expected(run, setting)
    np.testing.assert_allclose(found["score"], wanted["value"], rtol=1e-5)
    assert found["score"].is_monotonic_decreasing
    assert list(found.columns) == [*IDS, "score"]
    if name != "umls-conve":  # whose convolution rounds by batch
        pd.testing.assert_frame_equal(found[IDS], wanted[IDS])


@pytest.mark.parametrize("name", ["umls-complex", "umls-transe", "umls-pairre"])
@pytest.mark.parametrize(
    "setting",
    [
        DiscoverySetting(300),
        DiscoverySetting(300, types="seen", known=("train",)),
        DiscoverySetting(300, per_relation=7),
        DiscoverySetting(300, loops=False),
        DiscoverySetting(50, relations=("affects", "isa"), per_relation=40),
    ],
)
def test_by_probability(bundled, name, setting):
    run = bundled(name)
    found, wanted = discover(run, setting), expected(run, setting)
    assert len(found) == len(wanted)
    np.testing.assert_allclose(found["softmax"], np.exp(wanted["value"]), rtol=2e-5)
    assert found["softmax"].is_monotonic_decreasing
    assert found["probability"].is_monotonic_decreasing
    apart = np.diff(wanted["value"], prepend=0, append=-np.inf)
    clear = (-apart[:-1] > 1e-4) & (-apart[1:] > 1e-4)
    assert clear.mean() > 0.5
    pd.testing.assert_frame_equal(found.loc[clear, IDS], wanted.loc[clear, IDS])


def test_a_single_new_triple_has_the_probability_that_run_probabilities_says(bundled):
    run = bundled("umls-complex")
    found = run.discover(40)
    for row in found.iloc[::13].itertuples():
        own = run.probabilities(triples=np.array([[row.head, row.relation, row.tail]]))
        assert own["softmax"].min() == pytest.approx(row.softmax, rel=1e-5)
        assert own["probability"].min() == pytest.approx(row.probability, rel=1e-4)


@given(
    st.integers(0, 10**6),
    st.sampled_from(["score", "probability"]),
    st.sampled_from(["any", "seen"]),
    st.integers(1, 120),
    st.sampled_from([None, 1, 5]),
    st.booleans(),
)
def test_ties_and_asymmetric_models_searched_here_or_by_helpers(
    seed, by, types, k, per_relation, loops
):
    random = np.random.default_rng(seed)
    values = [-1.0, 0.0, 0.0, 0.5, 2.0]
    tails, heads = (random.choice(values, (6, 2, 6)) for _ in range(2))
    rows = np.unique(random.integers(0, [6, 2, 6], (16, 3)), axis=0)
    run = fake_run(make_graph(rows[::3], rows[1::3], rows[2::3], 6, 2), FakeScorer(tails, heads))
    setting = DiscoverySetting(k, by, types, per_relation, loops=loops)
    found, wanted = discover(run, setting), expected(run, setting)
    assert len(found) == len(wanted)
    pd.testing.assert_frame_equal(discover(helped(run, seed), setting), found)
    if by == "score":
        pd.testing.assert_frame_equal(found[[*IDS, "score"]], wanted[[*IDS, "score"]])
    else:
        np.testing.assert_allclose(found["softmax"], np.exp(wanted["value"]), rtol=1e-6)


@pytest.mark.parametrize("by", ["score", "probability"])
def test_what_was_interrupted_twice_goes_on_with_the_other_relations(bundled, monkeypatch, by):
    monkeypatch.setattr(table_cache, "offered_table", lambda name: None)
    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1)
    monkeypatch.setattr(discovery, "_EVERY", -1)
    run, setting = bundled("umls-complex"), DiscoverySetting(200, by)
    fit_calibration(run)  # which has parts of its own
    searched = []
    for most in (9, 20):
        hurried = replace(run, helpers=FakeHelpers(run, most, most=most))
        with pytest.raises(KeyboardInterrupt):
            discover(hurried, setting)
        searched += [part.relation for part in hurried.helpers.parts]
    rest = helped(run)
    found = discover(rest, setting)
    searched += [part.relation for part in rest.helpers.parts[:-1]]
    # The last one before each end was done, but not taken in any more; one came twice.
    assert sorted(set(searched)) == list(range(run.graph.num_relations))
    assert len(searched) <= run.graph.num_relations + 2
    assert table_cache.list_cache()["kind"].tolist().count("discovery") == 1  # none of the parts
    table_cache.clear_cache()
    pd.testing.assert_frame_equal(discover(run, setting), found)


@pytest.mark.parametrize("by", ["score", "probability"])
def test_all_scores_tied(by):
    graph = make_graph([(0, 0, 1), (1, 0, 2)], [(2, 0, 3)], [(3, 0, 4)], 8, 1)
    run = fake_run(graph, FakeScorer(np.zeros((8, 1, 8))))
    found = discover(run, DiscoverySetting(10, by))
    wanted = expected(run, DiscoverySetting(10, by))
    np.testing.assert_allclose(found["score"], 0.0)
    if by == "score":
        pd.testing.assert_frame_equal(found[IDS], wanted[IDS])
    else:
        np.testing.assert_allclose(found["softmax"], np.exp(wanted["value"]))


@pytest.mark.parametrize("by", ["score", "probability"])
def test_more_than_there_are(by):
    graph = make_graph([(0, 0, 1)], [(1, 0, 2)], [(2, 0, 0)], 3, 1)
    found = discover(fake_run(graph, random_scorer(3, 1)), DiscoverySetting(10**6, by))
    assert len(found) == 9 - 3
    triples = found[IDS].to_numpy()
    assert not graph.known().contains(triples).any()


def test_everything_is_known():
    graph = make_graph([(0, 0, 0), (0, 0, 1)], [(1, 0, 0)], [(1, 0, 1)], 2, 1)
    run = fake_run(graph, random_scorer(2, 1))
    for by in ("score", "probability"):
        assert discover(run, DiscoverySetting(3, by)).empty


def test_only_ends_that_a_relation_has():
    graph = make_graph([(0, 0, 1), (2, 0, 1), (3, 1, 4)], [(4, 0, 3)], entities=6, relations=3)
    heads, tails = zip(*seen_ends(graph, graph.known(("train",))), strict=True)
    assert [h.tolist() for h in heads] == [[0, 2], [3], []]
    assert [t.tolist() for t in tails] == [[1], [4], []]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"k": 0}, "expected k between 1 and"),
        ({"k": 10**12}, "KGDASH_MEMORY"),
        ({"per_relation": 0}, "expected triples per relation between 1"),
        ({"by": "luck"}, "luck"),
        ({"types": "some"}, "some"),
        ({"known": ("trian",)}, "trian"),
    ],
)
def test_settings_that_are_refused(setting, message):
    with pytest.raises(KgdashError, match=message):
        DiscoverySetting(**setting)


@pytest.mark.parametrize("by", ["score", "probability"])
def test_nan_is_refused(by):
    scores = np.zeros((4, 1, 4))
    scores[2, 0, 3] = np.nan
    graph = make_graph([(0, 0, 1)], [(1, 0, 2)], [(2, 0, 0)], 4, 1)
    with pytest.raises(KgdashError, match="NaN"):
        discover(fake_run(graph, FakeScorer(scores)), DiscoverySetting(3, by))


def test_probabilities_need_validation_and_finite_scores():
    graph = make_graph([(0, 0, 1), (1, 0, 2)], [], [(2, 0, 0)], 4, 1)
    with pytest.raises(KgdashError, match="holds no triples"):
        discover(fake_run(graph, random_scorer(4, 1)), DiscoverySetting(3))
    scores = np.zeros((4, 1, 4))
    scores[3, 0, 3] = np.inf
    graph = make_graph([(0, 0, 1)], [(1, 0, 2)], [(2, 0, 0)], 4, 1)
    with pytest.raises(KgdashError, match="infinite"):
        discover(fake_run(graph, FakeScorer(scores)), DiscoverySetting(3))
    assert discover(fake_run(graph, FakeScorer(scores)), DiscoverySetting(1, "score"))[
        "head"
    ].tolist() == [3]


def test_unknown_relation_is_named(bundled):
    with pytest.raises(KgdashError, match="afects"):
        bundled("umls-complex").discover(3, relations=("afects",))


@pytest.mark.own_cache
def test_it_can_be_cancelled_and_is_kept(bundled, monkeypatch):
    class Left(Exception):
        pass

    def leave(done: float, total: float) -> None:
        if done > 0.6 * total:
            raise Left

    run = bundled("umls-complex")
    with pytest.raises(Left):
        run.discover(5, progress=leave)
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", -1)
    first = run.discover(5)
    monkeypatch.setattr("kgdash.studies.discovery.discovery._Search.table", None)
    pd.testing.assert_frame_equal(run.discover(5), first)
