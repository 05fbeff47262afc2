"""The page Which model where shows what the library computes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.ranking.rank_setting import RankSetting
from kgdash.statistics.estimate import number
from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.model_selection import (
    BOOTSTRAP,
    pair_correlations,
    pair_differences,
    selection_summary,
    strategies,
)
from kgdash.studies.comparison.part_scores import part_scores
from kgdash.ui.comparison import model_selection
from tests.pages.driver import cards, choose, messages, open_page, table

NAMES = ("umls-transe", "umls-distmult")


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


def assert_shown(app, scores, seed=0):
    found = selection_summary(scores, replace(BOOTSTRAP, seed=seed))
    (agreement,) = (card for card in app.main.metric if card.label.startswith("Agreement"))
    assert agreement.delta == f"{number(found['spearman_low'])} to {number(found['spearman_high'])}"
    assert cards(app) == {
        "ReliK picks right": f"{found['accuracy']:.0%}",
        "Best overall right": f"{found['overall_accuracy']:.0%}",
        "MRR by ReliK's picks": number(found["mrr"]),
        "Agreement of orders": number(found["spearman"]),
    }
    ways = table(app, "strategy")
    expected = strategies(scores)[["strategy", "accuracy", "regret", "mrr"]]
    pd.testing.assert_frame_equal(ways.reset_index(drop=True), expected, check_dtype=False)
    parts = table(app, "run", "small")
    pd.testing.assert_frame_equal(parts.reset_index(drop=True), scores.table, check_dtype=False)
    pairs = table(app, "same_sign")
    wanted = pair_correlations(pair_differences(scores))
    np.testing.assert_array_equal(pairs["p_holm"], wanted["p_holm"])


def test_relations(runs):
    app = open_page(
        "which_model",
        **{"with": NAMES[1], "side": "tail", "regions": "relations"},
        relik_of="the evaluated triples",
    )
    scores = part_scores(
        runs, find_parts(runs[0], "relations"), RankSetting(side="tail"), "evaluated"
    )
    assert_shown(app, scores)
    captions = " ".join(caption.value for caption in app.main.caption)
    assert f"{scores.left_out} relations without an evaluated triple are left out" in captions
    choose(app, order="greatest regret of ReliK", measure="relik")
    said = [*messages(app), *(each.value for each in app.main.success)]
    assert any("ReliK picks a best model in" in text for text in said)


def test_subgraphs(runs):
    url = {"with": NAMES[1], "regions": "subgraphs", "subgraphs": "21", "study_size": "15"}
    app = open_page("which_model", seed="3", **url)
    parts = find_parts(runs[0], "subgraphs", sampling=SubgraphSampling(21, 15, seed=3))
    assert_shown(app, part_scores(runs, parts), seed=3)


@pytest.mark.parametrize("kind", ["communities", "subgraphs", "relations"])
@pytest.mark.parametrize(("low", "high"), [(0.01, 0.02), (-0.02, -0.01)])
def test_what_is_not_claimed_has_no_colour(monkeypatch, kind, low, high):
    """Parts that share triples gain and lose by chance: their box was green or yellow by that."""
    own, ends = model_selection.computed, {"regret_gain_low": low, "regret_gain_high": high}

    def computed(label, *rest):
        found = own(label, *rest)
        return found | ends if label == "Summary" else found

    monkeypatch.setattr(model_selection, "computed", computed)
    url = {"with": NAMES[1], "regions": kind, "subgraphs": "8", "study_size": "15"}
    main = open_page("which_model", **url).main
    boxes = {"green": main.success, "yellow": main.warning, "none": main.info}
    (box,) = [
        colour
        for colour, each in boxes.items()
        if any("ReliK picks a best model in" in box.value for box in each)
    ]
    assert box == ("none" if kind != "relations" else "green" if low > 0 else "yellow")


def test_one_run_is_not_enough():
    app = open_page("which_model", **{"with": NAMES[0]})
    assert messages(app) == ["Choose one more run, or name its folder."]
