"""Sets by their definition on a small graph, and what they say of a bundled run."""

import numpy as np
import pytest
import torch
from scipy.stats import betabinom

from kgdash.errors import KgdashError
from kgdash.statistics.multiple_testing import LEVEL, holm
from kgdash.statistics.proportions import exact_p
from kgdash.studies.probability.answer_scores import SCORES
from kgdash.studies.probability.answer_sets import (
    CONDITIONS,
    EPSILONS,
    AnswerSetSetting,
    answer_sets,
    compare_conditions,
    prepare_answer_sets,
)
from kgdash.studies.probability.calibration import fit_calibration
from tests.support import brute_force
from tests.support.checks import check_progress
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer

TRIPLES = [(h, r, t) for h in range(9) for r in range(2) for t in range(9) if (h + r * t) % 4 == 1]


def small_run(scorer=None, valid=TRIPLES[1::3]):
    graph = make_graph(TRIPLES[::3], valid, TRIPLES[2::3], entities=9, relations=2)
    return fake_run(graph, scorer or random_scorer(9, 2, seed=3))


def strangeness(run, triple, side, known, score, beta):
    """Return the nonconformity of each candidate, by the definition, and that of the answer."""
    rivals = [
        c for c in brute_force.candidates(triple, side, 9, 2) if c == triple or c not in known
    ]
    s = np.array([run.scorer(*c, side=side) for c in rivals], dtype=np.float64)
    p = np.exp(beta * (s - s.max()))
    p /= p.sum()
    equal = (s == s[:, None]).sum(axis=1) - 1
    found = {
        "rank": (s > s[:, None]).sum(axis=1) + equal / 2 + 1,
        "softmax": -np.log(p),
        "adaptive": (p * (s >= s[:, None])).sum(axis=1),
    }[score]
    return found, found[rivals.index(triple)]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("groups", ["none", "side", "relation"])
def test_by_definition(score, groups):
    run = small_run()
    found = answer_sets(run, AnswerSetSetting(0.3, score, groups))
    betas = fit_calibration(run).betas.set_index(["side", "relation"])["beta"]
    names = {"none": lambda side, r: 0, "side": lambda side, r: side, "relation": lambda side, r: r}
    group, alphas = names[groups], {}
    splits = {part: [tuple(t) for t in run.graph.split(part).tolist()] for part in run.graph.splits}
    for side in ("head", "tail"):
        for triple in splits["valid"]:
            known = {*splits["train"], *splits["valid"]}
            _, own = strangeness(run, triple, side, known, score, betas[side, -1])
            alphas.setdefault(group(side, triple[1]), []).append(own)
    assert min(map(len, alphas.values())) >= 7  # 2 / 0.3: each has a threshold of its own
    at = 0
    for side in ("head", "tail"):
        for triple in splits["test"]:
            every, own = strangeness(
                run, triple, side, set().union(*splits.values()), score, betas[side, -1]
            )
            values = sorted(alphas[group(side, triple[1])])
            most = values[int(np.ceil((len(values) + 1) * 0.7)) - 1]
            row = found.queries.iloc[at]
            near = int((np.abs(every - most) < 1e-5).sum()) * (score != "rank")
            assert (*row[["head", "relation", "tail"]], row["side"]) == (*triple, side)
            assert abs(row["size"] - (every <= most).sum()) <= near
            assert row["covered"] == (own <= most) or abs(own - most) < 1e-5
            at += 1


def expected_p(found, table):
    """Return the p-values by relation, the two queries of a triple as one."""
    own = found.thresholds.set_index("group")["queries"]
    number = table["number"].where(table["number"].isin(own.index), -1)
    queries, n = own[number].to_numpy(), table["n"].to_numpy() // 2
    hits = table["coverage"].to_numpy() * n
    share = np.ceil(np.round((queries + 1) * 0.8, 9)) / (queries + 1)
    a, b = share * (queries / 2 + 1), (1 - share) * (queries / 2 + 1)
    below = betabinom.cdf(np.ceil(hits - 1e-9), n, a, b)
    above = betabinom.sf(np.floor(hits + 1e-9) - 1, n, a, b)
    return np.minimum(1, 2 * np.minimum(below, above))


@pytest.mark.parametrize("score", SCORES)
def test_on_a_bundled_run(bundled, score):
    run = bundled("umls-complex")
    found = answer_sets(run, AnswerSetSetting(0.2, score, "relation"))
    about = found.summary()
    assert about["coverage"] == found.queries["covered"].mean()
    assert about["low"] <= about["coverage"] <= about["high"]
    assert about["coverage"] >= 0.75  # validation filters less than test, so that sets are wide
    assert found.queries["size"].max() <= run.graph.num_entities
    table = found.by_groups("relation")
    assert table["n"].sum() == len(found.queries)
    assert (table["coverage"].diff().dropna() >= 0).all()
    assert table["p_holm"].to_numpy() == pytest.approx(holm(expected_p(found, table)))
    assert found.coverage_gap(table) == pytest.approx(np.abs(table["coverage"] - 0.8).mean())
    named = table.set_index("group")
    for number, own in found.queries.groupby("relation"):
        row = named.loc[run.graph.relation_labels[number]]
        assert row["n"] == len(own)
        assert row["coverage"] == own["covered"].mean()
        assert (row["mean_size"], row["median_size"]) == (own["size"].mean(), own["size"].median())


def test_of_groups_that_all_keep_the_promise_none_is_told_to_break_it():
    """By 95% intervals some of 40 was, or was above it, in 64 of 100 draws."""
    rng, said = np.random.default_rng(0), 0
    for _ in range(100):
        covered = rng.binomial(60, rng.beta(901, 100), 40)  # one threshold, of 1,000 queries
        said += (holm(exact_p(covered, np.full(40, 60), 901 / 1001, 1000)) <= LEVEL).any()
    assert said <= 10


def test_conditions_side_by_side(bundled):
    run = bundled("umls-complex")
    table = compare_conditions(run, AnswerSetSetting(0.2, "rank"), "side").set_index("condition")
    assert list(table.index) == list(CONDITIONS)
    for condition in ("none", "relik"):
        alone = answer_sets(run, AnswerSetSetting(0.2, "rank", condition))
        for name, value in alone.summary().items():
            assert table.loc[condition, name] == value
        groups = alone.by_groups("side")
        assert table.loc[condition, "covgap"] == alone.coverage_gap(groups)
        assert table.loc[condition, "worst"] == groups["coverage"].min()
        assert table.loc[condition, "worst_group"] == groups["group"][groups["coverage"].idxmin()]


def test_what_is_prepared_is_what_is_asked_for(monkeypatch):
    from kgdash.files import table_cache

    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1)
    run = small_run()
    fresh = answer_sets(run, AnswerSetSetting(0.3, "rank", "side")).queries
    check_progress(lambda progress: prepare_answer_sets(run, progress))
    run.scorer.asked.clear()
    for epsilon in EPSILONS:
        for condition in CONDITIONS:
            for score in SCORES:
                assert len(answer_sets(run, AnswerSetSetting(epsilon, score, condition)).queries)
    assert not run.scorer.asked
    np.testing.assert_array_equal(
        answer_sets(run, AnswerSetSetting(0.3, "rank", "side")).queries, fresh
    )


def test_all_tied():
    run = small_run(FakeScorer(torch.zeros(9, 2, 9)))
    for score in SCORES:
        found = answer_sets(run, AnswerSetSetting(0.2, score)).queries
        assert found["covered"].any()
        # Nothing tells candidates apart: all are in, or none is.
        assert (found["covered"] == (found["size"] > 0)).all()


@pytest.mark.parametrize("missing", ["valid", "test"])
def test_without_a_split(missing):
    parts = {"valid": TRIPLES[1::3], "test": TRIPLES[2::3], missing: []}
    graph = make_graph(TRIPLES[::3], **parts, entities=9, relations=2)
    with pytest.raises(KgdashError, match=f"split '{missing}' of graph tiny holds no triples"):
        answer_sets(fake_run(graph, random_scorer(9, 2)))


def test_nan_is_refused():
    scores = torch.zeros(9, 2, 9)
    scores[3, 1, 4] = torch.nan
    with pytest.raises(KgdashError, match="NaN"):
        answer_sets(small_run(FakeScorer(scores)))


def test_a_relation_with_three_queries_has_no_threshold_of_its_own():
    few = [triple for triple in TRIPLES[1::3] if triple[1] == 0][:3]
    run = small_run(valid=[*few, *(t for t in TRIPLES[1::3] if t[1] == 1)])
    found = answer_sets(run, AnswerSetSetting(0.2, "rank", "relation"))
    assert found.thresholds["group"].tolist() == [-1, 1]


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0.0}, {"epsilon": 1.0}, {"score": "magic"}, {"groups": "colour"}]
)
def test_wrong_settings(wrong):
    with pytest.raises(KgdashError):
        AnswerSetSetting(**wrong)


def test_from_a_run(bundled):
    run = bundled("umls-complex")
    found, setting = run.answer_sets(0.2, groups="side"), AnswerSetSetting(0.2, "softmax", "side")
    assert found.setting == setting
    np.testing.assert_array_equal(found.queries, answer_sets(run, setting).queries)
