"""The page Metrics in a browser."""

import numpy as np

import kgdash
from kgdash.ranking.metric_lookup import metric_records
from kgdash.statistics.estimate import number
from tests.browser.driver import (
    Cards,
    download,
    enter,
    expect_cards,
    open_page,
    select,
    table_texts,
    widget,
)


def cards(values, side="both", k=10) -> Cards:
    keys = (
        "inverse_harmonic_mean_rank",
        f"hits_at_{k}",
        "arithmetic_mean_rank",
        "adjusted_arithmetic_mean_rank_index",
    )
    guide = metric_records((1, 3, 5, 10, k) if k not in (1, 3, 5, 10) else (1, 3, 5, 10))
    return [(guide[key].label, number(values.value(key, side))) for key in keys]


def test_numbers_charts_and_table(address, tab, run):
    open_page(tab, f"{address}/metrics")
    expect_cards(tab, cards(kgdash.metrics(run.ranks())))
    for key in ("bars", "ecdf"):
        widget(tab, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    bars = widget(tab, "bars").locator(".js-plotly-plot")
    drawn = bars.evaluate("chart => chart._fullData.map(t => [t.name, [...t.y]])")
    values = kgdash.metrics(run.ranks())
    mrr = {
        kind: [values.value("mrr", side, kind) for side in values.sides]
        for kind in ("optimistic", "realistic", "pessimistic")
    }
    assert np.ptp(list(mrr.values()), axis=0).max() < 1e-4, "ties play no role"
    assert dict(drawn) == {"realistic": mrr["realistic"]}
    row = table_texts(tab)[0]
    (key,) = (key for key, about in metric_records().items() if row[0].startswith(about.label))
    assert float(row[1]) == kgdash.metrics(run.ranks()).value(key, "head", "realistic")


def test_raw_ranks_another_side_and_k_and_the_file(address, tab, run, tmp_path):
    open_page(tab, f"{address}/metrics")
    expect_cards(tab, cards(kgdash.metrics(run.ranks())))
    raw = kgdash.metrics(run.ranks(filter="none"), (1, 3, 5, 10))
    select(tab, "filter_test", "none (raw ranks)")
    expect_cards(tab, cards(raw))
    assert cards(raw) != cards(kgdash.metrics(run.ranks()))
    saved = download(tab, tmp_path).set_index("key")
    for side, rank_type in raw.frame.columns:
        assert saved[f"{side} · {rank_type}"].to_dict() == raw.values(side, rank_type)
    select(tab, "side", "head")
    enter(tab, "k", 7)
    values = kgdash.metrics(run.ranks(filter="none"), (1, 3, 5, 7, 10))
    expect_cards(tab, cards(values, "head", 7))
    assert all(part in tab.url for part in ("filter_test=none", "side=head", "k=7"))
