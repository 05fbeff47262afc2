"""The page Breakdowns shows what the library computes."""

import numpy as np
import pytest

import kgdash
from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.ranking.metric_lookup import metric_records
from kgdash.statistics.estimate import number
from tests.pages.driver import cards, choose, open_page, table

MRR = "inverse_harmonic_mean_rank"


@pytest.fixture(scope="module")
def rows(run):
    return add_rank_facts(run.ranks(), run.graph)


def shown(app):
    return table(app, "group", "value")


def expected_cards(found, overall, metric=MRR):
    return {
        f"{metric_records()[metric].label}, all groups": number(overall),
        "Groups": f"{len(found):,}",
        "Groups of fewer than 30 triples": f"{found['small'].sum():,}",
        "Widest gap by ties": number(found["gap"].max()),
    }


def check(app, found, overall, metric=MRR):
    frame = shown(app)
    assert sorted(frame["group"]) == sorted(found["group"])
    found = found.set_index("group").loc[frame["group"]]
    for column in ("count", "triples", "value", "low", "high", "optimistic", "pessimistic", "gap"):
        np.testing.assert_array_equal(frame[column].to_numpy(), found[column].to_numpy())
    assert (frame["small"] == "small").tolist() == found["small"].tolist()
    assert cards(app) == expected_cards(found, overall, metric)


def of_side(found, side):
    return found[found["side"] == side]


def test_relations_at_first(run, rows):
    app = open_page("breakdowns")
    overall = kgdash.metrics(run.ranks()).value("mrr")
    check(app, of_side(breakdown(rows, "relation"), "both"), overall)
    assert shown(app)["triples"].is_monotonic_decreasing


@pytest.mark.parametrize("by", ["cardinality", "answers"])
def test_other_groupings(run, rows, by):
    app = choose(open_page("breakdowns"), by=by, side="tail")
    overall = kgdash.metrics(run.ranks()).value(MRR, "tail", "realistic")
    found = of_side(breakdown(rows, by), "tail")
    check(app, found, overall)
    assert shown(app)["group"].tolist() == found["group"].tolist()


def test_metric_rank_type_and_order(run, rows):
    metric = "arithmetic_mean_rank"
    app = open_page("breakdowns", by="cardinality", side="head", rank_type="pessimistic")
    choose(app, metric=metric)
    found = of_side(breakdown(rows, "cardinality", metric, "pessimistic"), "head")
    check(app, found, kgdash.metrics(run.ranks()).value(metric, "head", "pessimistic"), metric)
    choose(app, order_cardinality="best first")
    assert shown(app)["value"].is_monotonic_increasing
    choose(app, order_cardinality="worst first")
    assert shown(app)["value"].is_monotonic_decreasing


def test_split_and_filter(run):
    app = choose(open_page("breakdowns"), split="valid", filter_valid="none")
    ranks = run.ranks("valid", filter="none")
    found = of_side(breakdown(add_rank_facts(ranks, run.graph), "relation"), "both")
    check(app, found, kgdash.metrics(ranks).value("mrr"))


def test_a_metric_without_intervals():
    app = choose(open_page("breakdowns", by="cardinality"), metric="median_rank")
    assert shown(app)[["low", "high"]].isna().all(axis=None)
    assert app.get("plotly_chart")
