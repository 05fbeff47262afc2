"""The page Metrics shows what the library computes."""

import numpy as np
import pytest
import torch

import kgdash
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import tie_summary
from kgdash.statistics.estimate import number
from kgdash.ui.runtime.computed import _STOPPED
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table
from tests.support.tiny_runs import altered_run


def expected_cards(loaded, split="test", filter=None, side="both", rank_type="realistic", k=10):
    ks = tuple(sorted({1, 3, 5, 10, k}))
    values = kgdash.metrics(loaded.ranks(split=split, filter=filter), ks).values(side, rank_type)
    guide = metric_records(ks)
    keys = (
        "inverse_harmonic_mean_rank",
        f"hits_at_{k}",
        "arithmetic_mean_rank",
        "adjusted_arithmetic_mean_rank_index",
    )
    return {guide[key].label: number(values[key]) for key in keys}


def test_cards_and_table_at_first(run):
    app = open_page("metrics")
    assert cards(app) == expected_cards(run)
    assert not messages(app)
    assert "–" not in cards(app).values()
    shown = table(app, "metric", "range")
    assert not shown.select_dtypes(float).isna().any(axis=None)
    frame = kgdash.metrics(run.ranks()).frame
    guide = metric_records()
    assert shown["metric"].iloc[0] == guide["inverse_harmonic_mean_rank"].title
    shown = shown.set_index("metric").loc[[guide[key].title for key in frame.index]]
    for side, rank_type in frame.columns:
        np.testing.assert_array_equal(
            shown[f"{side} · {rank_type}"].to_numpy(), frame[side, rank_type].to_numpy()
        )


def test_widgets_change_the_numbers(run):
    app, arguments, seen = open_page("metrics"), {}, []
    for widgets, change in (
        ({"filter_test": "none"}, {"filter": "none"}),
        ({"filter_test": "train+test"}, {"filter": "train+test"}),
        ({"side": "head"}, {"side": "head"}),
        ({"side": "tail", "k": 2}, {"side": "tail", "k": 2}),
        ({"k": 135}, {"k": 135}),
        ({"split": "train"}, {"split": "train", "filter": None}),
        ({"split": "valid"}, {"split": "valid", "filter": "train+valid"}),
    ):
        seen.append(cards(app))
        choose(app, **widgets)
        arguments |= change
        assert cards(app) == expected_cards(run, **arguments)
        assert cards(app) not in seen


def test_the_address_chooses_too(run):
    app = open_page("metrics", split="valid", side="head", rank_type="pessimistic", k="7")
    assert cards(app) == expected_cards(run, "valid", "train+valid", "head", "pessimistic", 7)


@pytest.mark.parametrize("k", ["-3", "ten"])
def test_nonsense_in_the_address_is_dropped(run, k):
    url = {"split": "dev", "k": k, "rank_type": "median", "side": "x"}
    assert cards(open_page("metrics", **url)) == expected_cards(run)


@pytest.fixture(scope="module")
def constant(tmp_path_factory):
    """A run whose scores are all equal: the hardest case of ties."""
    return altered_run(tmp_path_factory.mktemp("runs") / "constant", weights=torch.zeros_like)


def test_rank_types_and_ties_of_a_constant_model(constant):
    app = choose_folder(open_page("metrics"), constant)
    loaded = kgdash.load(constant)
    shown = {}
    for rank_type in ("optimistic", "realistic", "pessimistic"):
        choose(app, rank_type=rank_type)
        shown[rank_type] = cards(app)
        assert shown[rank_type] == expected_cards(loaded, rank_type=rank_type)
    assert shown["optimistic"]["Mean rank (MR)"] == number(1.0)
    assert len({tuple(found.values()) for found in shown.values()}) == 3
    ties = tie_summary(loaded.ranks())
    assert ties["tied_share"] == 1.0
    (warning,) = (text for text in messages(app) if "100.0%" in text)
    assert f"{ties['largest_tie']:,} equal scores" in warning


def test_splits_without_triples_are_no_choice(tmp_path):
    nothing = np.empty((0, 3), dtype=np.int64)
    folder = altered_run(tmp_path / "train-only", splits={"valid": nothing, "test": nothing})
    app = choose_folder(open_page("metrics"), folder)
    assert app.get_by_key("split").options == ["train"]
    assert cards(app) == expected_cards(kgdash.load(folder), "train")


def test_the_address_names_metrics_as_people_do():
    """By all the names of `find_metric`."""
    app = open_page("metrics", metric="MR")
    assert app.get_by_key("metric").value == "arithmetic_mean_rank"
    assert not messages(app)
    choose(app, metric="hits_at_3", side="head")
    assert app.get_by_key("metric").value == "hits_at_3"
    assert app.get("plotly_chart")


def test_the_address_may_show_the_label_or_nonsense():
    app = open_page("metrics", metric="Median rank ↓")
    assert app.get_by_key("metric").value == "median_rank"
    app = open_page("metrics", metric="mrx")
    assert app.get_by_key("metric").value == "inverse_harmonic_mean_rank"


@pytest.mark.own_cache
def test_stopped_ranking_says_so_and_starts_again(run):
    app = open_page("overview")
    shown = (run.digest, run.shown_digest)
    app.session_state[_STOPPED] = (shown, "ranks", "test", "train+valid+test")
    app.switch_page("pages/metrics.py").run()
    assert not app.exception
    assert not app.main.metric
    assert "stopped" in app.main.info[0].value
    app.main.button[0].click()
    app.run()
    assert cards(app) == expected_cards(run)


def test_the_page_can_be_left_and_opened_again(run):
    app = choose(open_page("metrics"), split="valid")
    app.switch_page("pages/overview.py").run()
    app.switch_page("pages/metrics.py").run()
    assert not app.exception
    split = app.get_by_key("split").value
    chosen = app.get_by_key(f"filter_{split}").value
    assert cards(app) == expected_cards(run, split, chosen)


def test_a_smaller_graph_has_no_larger_k(pykeen_directory):
    app = choose(open_page("metrics"), k=135)
    choose_folder(app, pykeen_directory, "nations")
    assert app.get_by_key("k").value <= 14
    loaded = kgdash.load(pykeen_directory, "nations")
    assert cards(app) == expected_cards(loaded, k=app.get_by_key("k").value)
