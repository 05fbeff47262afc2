"""The page Queries and rules shows what the studies compute."""

from pathlib import Path

import numpy as np
import pytest
from tiny_runs import altered_run

from kgdash.charts.style import number
from kgdash.errors import KgdashError
from kgdash.studies.instances import score_instances
from kgdash.studies.mined_instances import mined_instances
from kgdash.studies.queries import QUERY_TYPES, sample_queries
from kgdash.studies.rule_table import read_rule_table
from kgdash.studies.separation import separation
from kgdash.ui.compute import _STOPPED

from .driver import cards, choose, choose_folder, open_page, table
from .driver import run as rerun

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "umls-rule-instances.tsv"


def assert_shows(app, run, instances, measure="relik", chains="best") -> None:
    """Compare cards, groups and instances with the library's."""
    scored = score_instances(run, instances)
    overall = {
        m: separation(scored.table, m, chains).set_index("group").loc["all"]
        for m in ("relik", "reciprocal_rank")
    }
    assert cards(app) == {
        "True instances": f"{int(overall['relik']['n_true']):,}",
        "False instances": f"{int(overall['relik']['n_false']):,}",
        "ROC-AUC of ReliK": number(overall["relik"]["roc_auc"]),
        "ROC-AUC of Reciprocal rank": number(overall["reciprocal_rank"]["roc_auc"]),
    }
    groups, expected = table(app, "group", "cohens_d"), separation(scored.table, measure, chains)
    for column in expected.columns.drop("group"):
        np.testing.assert_array_equal(groups[column], expected[column])
    listed = table(app, "instance", "question")
    assert len(listed) == len(instances)
    for column in (f"relik_{chains}", f"reciprocal_rank_{chains}"):
        np.testing.assert_array_equal(listed[column], scored.table[column])
    assert (listed["label"] == "true").tolist() == instances.table["label"].tolist()


def test_queries_at_first(run):
    app = open_page("queries_rules")
    assert_shows(app, run, sample_queries(run.graph))
    assert table(app, "group", "cohens_d")["group"].tolist() == [*QUERY_TYPES, "all"]


@pytest.mark.parametrize(
    ("widgets", "arguments"),
    [
        ({"types": ["2i"]}, {"types": ("2i",)}),
        ({"types": ["3p", "1p"]}, {"types": ("1p", "3p")}),
        ({"per_type": 7}, {"per_type": 7}),
        ({"query_seed": 3, "per_type": 10}, {"seed": 3, "per_type": 10}),
        ({"hard": "outside train+valid"}, {"hard": "outside train+valid"}),
    ],
)
def test_widgets_of_queries_change_the_numbers(run, widgets, arguments):
    app = open_page("queries_rules")
    before = cards(app)
    choose(app, **widgets)
    assert_shows(app, run, sample_queries(run.graph, **arguments))
    assert cards(app) != before


def test_chains_and_measure(run):
    app = open_page("queries_rules", per_type="20")
    instances = sample_queries(run.graph, per_type=20)
    choose(app, chains="mean", measure="reciprocal rank")
    assert_shows(app, run, instances, "reciprocal_rank", "mean")
    choose(app, measure="ReliK of the answer's triples")
    assert_shows(app, run, instances, "relik_head", "mean")


def test_no_query_type_is_no_error():
    app = choose(open_page("queries_rules"), types=[])
    assert len(app.main.info) == 1
    assert not app.main.metric
    assert not app.error


def test_mined_rules(run):
    app = choose(open_page("queries_rules"), source="Mined rules")
    assert_shows(app, run, mined_instances(run.graph))
    choose(app, max_rules=3, min_pca=0.5, per_rule=10, rule_seed=1)
    instances = mined_instances(run.graph, 3, 0.5, 10, 1)
    assert_shows(app, run, instances)
    assert len(table(app, "group", "cohens_d")) == instances.table["group"].nunique() + 1


def test_the_address_chooses_too(run):
    app = open_page("queries_rules", source="Mined rules", max_rules="2", chains="mean")
    assert_shows(app, run, mined_instances(run.graph, 2), chains="mean")


def test_no_rule_confident_enough_says_so(run):
    with pytest.raises(KgdashError) as caught:
        score_instances(run, mined_instances(run.graph, min_pca=1.0, max_rules=1))
    app = open_page("queries_rules", source="Mined rules", min_pca="1.0", max_rules="1")
    assert [error.value for error in app.error] == [str(caught.value)]


def upload(app, name: str, content: bytes):
    app.get_by_key("table").set_value((name, content, "text/tab-separated-values"))
    return rerun(app)


def test_own_table_is_asked_for():
    app = open_page("queries_rules", source="My own table")
    assert len(app.main.info) == 1
    assert not app.main.metric


def test_own_table(run):
    app = open_page("queries_rules", source="My own table")
    upload(app, "mine.tsv", EXAMPLE.read_bytes())
    assert_shows(app, run, read_rule_table(EXAMPLE, run.graph))


def with_line(number: int, line: str) -> bytes:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = line
    return "\n".join(lines).encode()


MALFORMED = [
    (with_line(1, "rule\tinstance\tsubject\trelation\ttail\tlabel\trole"), "line 1"),
    (with_line(5, "a\t2\tvirus\tcauses"), "line 5"),
    (with_line(9, "a\t9\tvirusses\tcauses\tvirus\ttrue\thead"), "line 9"),
    (with_line(12, "a\t9\tvirus\tcauses\tvirus\tperhaps\thead"), "line 12"),
    (EXAMPLE.read_bytes()[:300] + b"\xff", "line 3"),
    (b"", "empty"),
]


@pytest.mark.parametrize(("content", "place"), MALFORMED)
def test_malformed_table_is_refused_with_its_line(run, content, place):
    with pytest.raises(KgdashError) as caught:
        read_rule_table(content, run.graph, "mine.tsv")
    app = open_page("queries_rules", source="My own table")
    upload(app, "mine.tsv", content)
    assert [error.value for error in app.error] == [str(caught.value)]
    assert "mine.tsv" in app.error[0].value
    assert place in app.error[0].value
    assert not app.main.metric
    upload(app, "mine.tsv", EXAMPLE.read_bytes())
    assert not app.error


def test_graph_without_held_out_triples_has_no_hard_answers(tmp_path):
    nothing = np.empty((0, 3), dtype=np.int64)
    folder = altered_run(tmp_path / "train-only", splits={"valid": nothing, "test": nothing})
    app = choose_folder(open_page("queries_rules"), folder)
    assert len(app.error) == 1
    assert "hard" in app.error[0].value


def test_stopped_scoring_says_so_and_starts_again(run):
    app = open_page("overview")
    types = tuple(QUERY_TYPES)
    key = (run.digest, "queries", types, 50, "outside train", 0, "scored")
    app.session_state[_STOPPED] = key
    app.switch_page("pages/queries_rules.py").run()
    assert not app.exception
    assert "stopped" in app.main.info[0].value
    assert not app.main.metric
    app.main.button[0].click()
    app.run()
    assert_shows(app, run, sample_queries(run.graph))
