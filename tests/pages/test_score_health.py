"""The page Score health shows what the library computes, for models that can not be ranked too."""

from pathlib import Path

import pandas as pd
import pytest

from kgdash.formats.run_directory import read_run, write_run
from kgdash.health.of_run import score_health
from kgdash.runs.bundled import DEMO
from kgdash.runs.loading import load
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table


def altered(out: Path, name: str, weights) -> Path:
    graph, spec, state, manifest = read_run(DEMO / name)
    state = {key: weights(tensor) for key, tensor in state.items()}
    return write_run(out, graph, spec, state, manifest["training"], manifest["provenance"])


@pytest.fixture(scope="module")
def coarse(tmp_path_factory) -> Path:
    """A model of rounded weights, full of ties."""
    out = tmp_path_factory.mktemp("runs") / "coarse"
    return altered(out, "umls-transe", lambda tensor: (tensor * 3).round() / 3)


def verdict(findings):
    levels = [finding.level for finding in findings]
    word = "Healthy"
    if levels.count("fault") or levels.count("notice"):
        word = "Not healthy" if levels.count("fault") else "Worth a look"
    return {
        "Scores": word,
        "Faults": str(levels.count("fault")),
        "Notices": str(levels.count("notice")),
        "Checks passed": f"{levels.count('fine')} of {len(levels)}",
    }


def test_a_healthy_run(run):
    app = open_page("score_health")
    health = score_health(run)
    assert cards(app) == verdict(health.findings())
    assert cards(app)["Scores"] == "Healthy"
    assert not app.main.error
    pd.testing.assert_frame_equal(
        table(app, "true_share").reset_index(drop=True), health.histogram(), check_dtype=False
    )
    assert "No true answer shares its score" in " ".join(c.value for c in app.main.caption)


def test_split_filter_and_side(run):
    app = choose(
        open_page("score_health"), split="valid", filter_valid="none", side="head", log=True
    )
    health = score_health(run, "valid", "none")
    shown = table(app, "at_maximum")
    expected = health.summary("head").rename_axis("of").reset_index()
    pd.testing.assert_frame_equal(shown, expected, check_dtype=False)
    assert (
        table(app, "left")["candidates"].tolist() == health.histogram("head")["candidates"].tolist()
    )


def test_a_model_full_of_ties(coarse):
    app = choose_folder(open_page("score_health", side="tail"), coarse)
    health = score_health(load(str(coarse)))
    findings = health.findings("tail")
    assert cards(app) == verdict(findings)
    assert [error.value[2:].split(".")[0].lower() for error in app.main.error] == [
        finding.check.lower() for finding in findings if finding.level == "fault"
    ]
    shown = table(app, "equal_scores", "optimistic")
    expected = health.run.graph.with_names(health.tie_groups("tail"))
    pd.testing.assert_frame_equal(shown[expected.columns], expected, check_dtype=False)
    shown = table(app, "gap", "largest_tie")
    assert shown["gap"].tolist() == health.by_relation("tail")["gap"].tolist()
    assert len(table(app, "group", "entity")) == len(health.tied_entities) > 0


def test_nan_is_shown_and_not_refused(tmp_path):
    broken = altered(tmp_path / "broken", "umls-distmult", lambda tensor: tensor * 1e15)
    app = choose_folder(open_page("score_health"), broken)
    health = score_health(load(str(broken)))
    assert health.ranks is None
    assert cards(app) == verdict(health.findings())
    assert "NaN" in app.main.error[0].value
    pd.testing.assert_frame_equal(
        table(app, "share", "kind"), health.tables()["missing"], check_dtype=False
    )
    assert "Ties and gaps are about ranks" in messages(app)[-1]


def test_a_constant_model(tmp_path):
    zero = altered(tmp_path / "zero", "umls-transe", lambda tensor: tensor * 0)
    app = choose_folder(open_page("score_health"), zero)
    assert cards(app)["Scores"] == "Not healthy"
    errors = " ".join(error.value for error in app.main.error)
    assert "All scores are 0: the model tells nothing apart" in errors.replace("\\", "")
    assert set(table(app, "equal_scores", "optimistic")["optimistic"]) == {1}
