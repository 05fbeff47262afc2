"""The page Queries and rules shows what the studies compute."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.statistics.estimate import number
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.likely_errors import (
    likely_errors,
    plausible_missing_triples,
    suspicious_facts,
)
from kgdash.studies.instances.separation import COMPARED, compare_measures
from kgdash.studies.instances.thresholds import (
    best_of,
    judged_thresholds,
    rates_at,
    threshold_curve,
)
from kgdash.studies.labelling.queue import label_queue
from kgdash.studies.labelling.results import labelled_instances
from kgdash.studies.labelling.session import judge
from kgdash.studies.labelling.sources import instance_predictions
from kgdash.studies.queries.query_types import PAPER_TYPES, QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from kgdash.ui.runtime.computed import _STOPPED
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import Memory
from tests.pages.driver import cards, choose, choose_folder, open_page, table
from tests.pages.driver import run as rerun
from tests.support.paths import EXAMPLE
from tests.support.tiny_runs import altered_run

#: few queries, so that a page takes little
FEW = {"types": "2i", "per_type": "8"}


def assert_shows(app, run, instances, measure="relik", aggregate="max", over="all triples"):
    """Compare cards and groups with the library's; return the scored instances."""
    scored = score_instances(run, instances)
    found = compare_measures(scored.table, COMPARED[over], aggregate, order="separation")
    relik, rank, score = (found.overall(measure) for measure in COMPARED[over])
    difference = found.differences.iloc[-2]["difference"]
    assert cards(app) == {
        "Instances": f"{len(instances):,}",
        "AUC of ReliK": number(relik["roc_auc"]),
        "AUC of reciprocal rank": number(rank["roc_auc"]),
        "AUC of raw score": number(score["roc_auc"]),
        "ReliK minus reciprocal rank": f"{difference:+.3f}",
    }
    groups, expected = table(app, "group", "cohens_d"), found.by_measure[measure]
    for column in expected.columns.drop("group"):
        np.testing.assert_array_equal(groups[column], expected[column])
    return scored


def test_queries_at_first_then_other_choices_and_measures(run):
    app = open_page("queries")
    assert_shows(app, run, sample_queries(run.graph))
    first = sorted(table(app, "group", "cohens_d")["group"])
    assert first == sorted([*(f"{name}: {QUERY_TYPES[name].words}" for name in PAPER_TYPES), "all"])
    choose(app, types=["3p", "1p"], per_type=7, query_seed=3, hard="outside train+valid")
    chosen = {"per_type": 7, "seed": 3, "hard": "outside train+valid"}
    instances = sample_queries(run.graph, QuerySampling(("1p", "3p"), **chosen))
    assert_shows(app, run, instances)
    choose(app, measure="raw score", over="answering triples", chains="mean")
    assert_shows(app, run, instances, "score_answer", "mean", "answering triples")


def test_the_address_chooses_too(run):
    app = open_page(
        "rules",
        source="Rules",
        max_rules="2",
        per_rule="5",
        chains="mean",
        measure="reciprocal rank",
    )
    instances = find_instances(run.graph, RuleSelection(2, per_rule=5))
    assert_shows(app, run, instances, "reciprocal_rank", "mean")
    assert len(table(app, "group", "cohens_d")) == instances.table["group"].nunique() + 1


def test_thresholds(run):
    app = open_page("queries", view="Threshold", **FEW)
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("2i",), 8)))
    slider = next(w for w in app.main.select_slider if w.key.startswith("threshold"))
    choose(app, threshold_group="2i", **{slider.key: 0.01})
    # The address keeps it; what is no place of the slider leaves it where it is at first.
    app = open_page("queries", view="Threshold", **FEW, **{slider.key: "somewhere"})
    app = open_page("queries", view="Threshold", **FEW, **{slider.key: "0.0100"})
    curve = threshold_curve(scored.table["label"].to_numpy(), scored.table["relik_max"].to_numpy())
    at = rates_at(curve, 0.01)
    shown = cards(app)
    for name, rate in (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1")):
        assert shown[name] == number(at[rate])
    best = {name: best_of(curve, name) for name in ("f1", "accuracy")}
    for name, threshold in best.items():
        choose(app, **{slider.key: 0.01})
        app.get_by_key(f"best_{name}").click()
        rerun(app)
        chosen = float(next(w for w in app.main.select_slider if w.key == slider.key).value)
        assert rates_at(curve, chosen).equals(rates_at(curve, threshold))
        choose(app, threshold_group="all")  # it stays where it was put
        assert float(next(w for w in app.main.select_slider if w.key == slider.key).value) == chosen
        choose(app, threshold_group="2i")
    judged = judged_thresholds(scored.table, group="2i")
    np.testing.assert_array_equal(table(app, "criterion")["accuracy"], judged["accuracy"])


def test_likely_errors_and_all_instances(run):
    app = open_page("queries", view="Likely errors", **FEW)
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("2i",), 8)))
    tables = [frame.value for frame in app.main.dataframe]
    for shown, label in zip(tables[:2], (True, False), strict=True):
        expected = likely_errors(scored.table, label)
        assert shown["instance"].tolist() == expected["instance"].tolist()
        assert shown.columns[0] == "relik_max"
    lists = suspicious_facts(run.graph, scored), plausible_missing_triples(run.graph, scored)
    for shown, expected in zip(tables[2:], lists, strict=True):
        np.testing.assert_array_equal(shown["relik"], expected["relik"])
        assert shown["tail_label"].tolist() == expected["tail_label"].tolist()
    choose(app, view="All instances")
    listed = table(app, "instance", "question")
    for column in ("relik_max", "reciprocal_rank_max", "score_max"):
        np.testing.assert_array_equal(listed[column], scored.table[column])
    assert (listed["label"] == "true").tolist() == scored.table["label"].tolist()


def test_distributions_in_each_shape():
    app = open_page("queries", view="Distributions", shape="violin", **FEW)
    assert app.get_by_key("shape").value == "violin"
    choose(app, shape="points only", measure="raw score")


def test_no_query_type_is_no_error():
    app = choose(open_page("queries", **FEW), types=[])
    assert len(app.main.info) == 1
    assert not app.main.metric
    assert not app.error


def test_rules_say_what_the_number_of_groundings_alone_gives():
    """More of true predictions: the greatest of random ReliK told them from false ones."""
    alone = plain("the number of groundings alone gives about 0.5")
    app = open_page("rules")
    assert any(alone in each.value for each in app.main.markdown)
    assert any("what their number alone gives" in each.value for each in app.main.caption)
    choose(app, chains="mean")
    assert not any(alone in each.value for each in app.main.markdown)
    assert not any("what their number alone gives" in each.value for each in app.main.caption)


def test_no_rule_confident_enough_says_so(run):
    with pytest.raises(KgdashError) as caught:
        score_instances(run, find_instances(run.graph, RuleSelection(1, 1.0)))
    app = open_page("rules", source="Rules", min_pca="1.0", max_rules="1")
    assert [error.value for error in app.error] == [str(caught.value)]


def upload(app, name: str, content: bytes):
    app.get_by_key("table").set_value((name, content, "text/tab-separated-values"))
    return rerun(app)


def test_own_table_is_asked_for_refused_with_its_line_and_shown(run):
    app = open_page("rules", source="My own table")
    assert len(app.main.info) == 1
    assert not app.main.metric
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    lines[11] = "a\t9\tvirus\tcauses\tvirus\tperhaps\thead"
    content = "\n".join(lines).encode()
    with pytest.raises(KgdashError, match="line 12") as caught:
        read_rule_table(content, run.graph, "mine.tsv")
    upload(app, "mine.tsv", content)
    assert [error.value for error in app.error] == [str(caught.value)]
    assert not app.main.metric
    upload(app, "mine.tsv", EXAMPLE.read_bytes())
    assert not app.error
    assert_shows(app, run, read_rule_table(EXAMPLE, run.graph))


def test_labels_by_people(run):
    app = open_page("rules", source="My labels")
    assert "Label predictions" in app.main.info[0].value
    assert not app.main.metric
    queue = label_queue(run, instance_predictions(read_rule_table(EXAMPLE, run.graph)))
    for place, triple in enumerate(queue.order):
        judge(queue, triple, place % 2 == 0)
    assert_shows(rerun(app), run, labelled_instances(run))
    judge(queue, queue.order[0], False)
    assert_shows(rerun(app), run, labelled_instances(run))


def test_graph_without_held_out_triples_has_no_hard_answers(tmp_path):
    nothing = np.empty((0, 3), dtype=np.int64)
    folder = altered_run(tmp_path / "train-only", splits={"valid": nothing, "test": nothing})
    app = choose_folder(open_page("queries", **FEW), folder)
    assert len(app.error) == 1
    assert "hard" in app.error[0].value


@pytest.mark.own_cache
def test_stopped_scoring_says_so_and_starts_again(run, monkeypatch):
    asked = []
    monkeypatch.setattr(Memory, "put", lambda self, key, value: asked.append(key))
    app = open_page("queries", **FEW)
    app.session_state[_STOPPED] = next(key for key in asked if key[-1] == "scored")
    rerun(app)
    assert "stopped" in app.main.info[0].value
    assert not app.main.metric
    app.main.button[0].click()
    rerun(app)
    assert_shows(app, run, sample_queries(run.graph, QuerySampling(("2i",), 8)))
