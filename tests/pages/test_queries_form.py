"""The widgets of the page Queries and rules that choose queries."""

from kgdash.statistics.estimate import number
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.files import write_queries
from kgdash.studies.queries.query_instances import AnswerSampling
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from kgdash.studies.queries.sources import queries_of_file, sample_queries
from tests.pages.driver import cards, choose, open_page
from tests.pages.driver import run as rerun


def assert_cards(app, run, instances):
    relik = compare_measures(score_instances(run, instances).table).overall("relik")
    shown = cards(app)
    assert shown["Instances"] == f"{len(instances):,}"
    assert shown["AUC of ReliK"] == number(relik["roc_auc"])


def test_intermediates_of_the_model(run):
    few = QuerySampling(("up",), 6)
    app = open_page("queries", types="up", per_type="6", intermediates="model", beam="2")
    assert_cards(app, run, sample_queries(run.graph, few, beam=Beam(run.scorer, 2)))
    choose(app, intermediates="graph")
    assert_cards(app, run, sample_queries(run.graph, few))


def test_queries_of_a_file(run, tmp_path):
    asked = draw_queries(run.graph, QuerySampling(("pi", "2u"), 6))
    write_queries(asked, run.graph, tmp_path / "mine.jsonl")
    content = (tmp_path / "mine.jsonl").read_bytes()
    app = open_page("queries", queries_from="from a file", per_type="5")
    assert len(app.main.info) == 1
    assert not app.main.metric
    app.get_by_key("queries_file").set_value(("mine.jsonl", content, "application/json"))
    rerun(app)
    assert_cards(app, run, queries_of_file(run.graph, content, None, AnswerSampling(5)))
    assert any("answers of all 12 queries" in caption.value for caption in app.main.caption)
    app.get_by_key("queries_file").set_value(("mine.jsonl", b'{"type": "9p"}', "application/json"))
    rerun(app)
    assert len(app.error) == 1
    assert "mine.jsonl" in app.error[0].value
