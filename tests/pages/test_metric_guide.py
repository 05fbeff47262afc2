"""The page Metric guide shows what the library computes."""

import numpy as np
import pandas as pd

from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
from kgdash.ranking.glossary import glossary_table
from kgdash.ranking.metric_guide import guide_table, plain_and_adjusted
from kgdash.ranking.metrics import metrics
from kgdash.statistics.estimate import number
from tests.pages.driver import choose, open_page, table


def test_the_run_s_own_figures(run):
    app = choose(open_page("metric_guide"), side="head", rank_type="pessimistic")
    ranks = run.ranks()
    values = metrics(ranks).values("head", "pessimistic")
    pairs = plain_and_adjusted(values)
    np.testing.assert_array_equal(table(app, "plain", "index")["index"], pairs["index"])
    shown, expected = table(app, "metric", "formula"), guide_table(values)
    assert shown["metric"].tolist() == expected["metric"].tolist()
    np.testing.assert_array_equal(shown["value"], expected["value"])
    words, uses = app.table
    pd.testing.assert_frame_equal(words.value, glossary_table())
    assert uses.value["when to use it"].tolist() == expected["use"].drop_duplicates().tolist()
    sides = compare_sides(ranks, run.graph, "pessimistic")
    assert table(app, "side", "chance")["answers"].tolist() == sides["answers"].tolist()
    texts = [element.value for element in app.markdown]
    assert [text for text in texts if text.startswith("- ")] == [
        f"- {sentence}" for sentence in describe_sides(sides, ranks, "pessimistic")
    ]


def test_another_split(run):
    app = open_page("metric_guide", split="valid")
    values = metrics(run.ranks("valid")).values()
    assert table(app, "metric", "formula")["value"].dropna().tolist() == [
        v for v in guide_table(values)["value"] if v == v
    ]


def test_relik_is_worked_out_on_a_triple(run):
    row = run.relik(triples=run.graph.splits["test"][:1]).iloc[0]
    said = next(
        each.value
        for each in open_page("metric_guide").main.markdown
        if "For example" in each.value
    )
    assert (
        f"½ (1/{row['head_rank']:,.0f} + 1/{row['tail_rank']:,.0f}) = **{number(row['relik'])}**"
        in said
    )
    assert row["relik"] == (1 / row["head_rank"] + 1 / row["tail_rank"]) / 2
