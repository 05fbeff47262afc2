"""The page Metrics in a browser."""

import kgdash
from kgdash.charts.style import number
from kgdash.metrics import metric_guide

from .driver import Cards, download, enter, expect_cards, open_page, select, table_texts, widget


def cards(values, side="both", k=10) -> Cards:
    keys = (
        "inverse_harmonic_mean_rank",
        f"hits_at_{k}",
        "arithmetic_mean_rank",
        "adjusted_arithmetic_mean_rank_index",
    )
    guide = metric_guide((1, 3, 5, 10, k) if k not in (1, 3, 5, 10) else (1, 3, 5, 10))
    return [(guide[key].label, number(values[side]["realistic"][key])) for key in keys]


def test_numbers_charts_and_table(address, tab, run):
    open_page(tab, f"{address}/metrics")
    expect_cards(tab, cards(kgdash.metrics(run.ranks())))
    for key in ("bars", "ecdf"):
        widget(tab, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    bars = widget(tab, "bars").locator(".js-plotly-plot")
    drawn = bars.evaluate("chart => chart._fullData.map(t => [t.name, [...t.y]])")
    mrr = {
        kind: [
            types[kind]["inverse_harmonic_mean_rank"]
            for types in kgdash.metrics(run.ranks()).values()
        ]
        for kind in ("optimistic", "realistic", "pessimistic")
    }
    assert dict(drawn) == mrr
    row = table_texts(tab)[0]
    (key,) = (key for key, about in metric_guide().items() if row[0].startswith(about.label))
    assert float(row[1]) == kgdash.metrics(run.ranks())["head"]["optimistic"][key]


def test_raw_ranks_another_side_and_k_and_the_file(address, tab, run, tmp_path):
    open_page(tab, f"{address}/metrics")
    expect_cards(tab, cards(kgdash.metrics(run.ranks())))
    raw = kgdash.metrics(run.ranks(filter="none"), (1, 3, 5, 10))
    select(tab, "filter_test", "none (raw ranks)")
    expect_cards(tab, cards(raw))
    assert cards(raw) != cards(kgdash.metrics(run.ranks()))
    saved = download(tab, tmp_path).set_index("key")
    for side, types in raw.items():
        for rank_type, values in types.items():
            assert saved[f"{side} · {rank_type}"].to_dict() == values
    select(tab, "side", "head")
    enter(tab, "k", 7)
    values = kgdash.metrics(run.ranks(filter="none"), (1, 3, 5, 7, 10))
    expect_cards(tab, cards(values, "head", 7))
    tab.reload()
    expect_cards(tab, cards(values, "head", 7))
