"""The pages Queries and Rules take files: of queries, of rules, and of verified negatives."""

import pytest

from kgdash.errors import KgdashError
from kgdash.runs.call import Call, write
from kgdash.statistics.estimate import number
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures, separation
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.files import write_queries
from kgdash.studies.queries.query_instances import AnswerSampling
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from kgdash.studies.queries.sources import queries_of_file, sample_queries
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from kgdash.ui.instances import view
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import cards, choose, choose_folder, open_page, table
from tests.pages.driver import run as rerun
from tests.support.tiny_runs import DEMO, dataset_folder, read_run, write_run

FEW = {"source": "Rules", "max_rules": "2", "per_rule": "5"}
ROWS = (
    b"9\t9\t0.9\taffects(X,Y) <= affects(X,A), isa(Y,A)\n"
    b"8\t8\t0.8\taffects(X,Y) <= isa(X,A), affects(A,Y)\n"
    b"7\t7\t0.7\tnone_such(X,Y) <= isa(X,Y)\n"
)


def assert_groups(app, run, instances):
    expected = separation(score_instances(run, instances).table, "relik", "max")
    shown = table(app, "group", "cohens_d")
    assert sorted(shown["n_true"]) == sorted(expected["n_true"])
    assert sorted(shown["mean_true"]) == pytest.approx(sorted(expected["mean_true"]))


def test_rules_of_a_file(run):
    app = open_page("rules", rules_from="from a file", **FEW)
    assert "AMIE or AnyBURL" in app.main.info[0].value
    upload = app.get_by_key("rule_file")
    upload.set_value(("rules.txt", b"nothing of the kind", "text/plain"))
    with pytest.raises(KgdashError) as caught:
        read_rules(RuleFile(b"nothing of the kind", "rules.txt"), run.graph)
    assert [error.value for error in rerun(app).error] == [str(caught.value)]
    app.get_by_key("rule_file").set_value(("rules.txt", ROWS, "text/plain"))
    assert not rerun(app).error
    instances = find_instances(run.graph, RuleSelection(2, per_rule=5), RuleFile(ROWS))
    assert_groups(app, run, instances)
    assert any(plain("'none_such', line 3") in caption.value for caption in app.main.caption)


def test_predictions_of_an_uploaded_file_may_go_to_a_worker(monkeypatch):
    """A file of 100 bytes took 2 GB of the server, which went on when its page was left."""
    made = {}

    def noted(label, key, work):
        made[label] = work
        return computed(label, key, work)

    monkeypatch.setattr(view, "computed", noted)
    app = open_page("rules", rules_from="from a file", **FEW)
    app.get_by_key("rule_file").set_value(("rules.txt", ROWS, "text/plain"))
    assert not rerun(app).error
    assert isinstance(made["Finding instances"], Call)
    assert len(write(made["Finding instances"])) < 10_000


@pytest.mark.parametrize("way", ["graph", "model"])
def test_queries_may_go_to_a_worker_too(monkeypatch, way):
    made = {}

    def noted(label, key, work):
        made[label] = work
        return computed(label, key, work)

    monkeypatch.setattr(view, "computed", noted)
    open_page("queries", types="1p", per_type="3", intermediates=way)
    assert len(write(made["Finding instances"])) < 10_000


def test_what_counts_as_false_is_asked_where_people_verified_it(run, tmp_path):
    app = open_page("rules", **FEW)
    with pytest.raises(KeyError):
        app.get_by_key("false")
    closed = find_instances(run.graph, RuleSelection(2, per_rule=50))
    heads = closed.triples[closed.triples["is_answer_triple"] & ~closed.triples["label"]]
    negatives = heads[["head", "relation", "tail"]].drop_duplicates().to_numpy()
    folder = dataset_folder(
        tmp_path / "data", valid_negatives=negatives[::2], test_negatives=negatives[1::2]
    )
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    provenance = {**manifest["provenance"], "dataset": str(folder)}
    out = write_run(tmp_path / "run", graph, spec, state, manifest["training"], provenance)
    choose_folder(app, out)
    verified = find_instances(run.graph, RuleSelection(2, per_rule=5), negatives=negatives)
    assert_groups(app, run, verified)
    # People took most of them back: the page said what it had said, until the server's restart.
    few = {"valid_negatives": negatives[:3], "test_negatives": negatives[:3]}
    for path in dataset_folder(tmp_path / "few", **few).iterdir():
        path.replace(folder / path.name)
    left = find_instances(run.graph, RuleSelection(2, per_rule=5), negatives=negatives[:3])
    assert len(left) < len(verified)
    assert_groups(rerun(app), run, left)
    choose(app, false="closed world", rule_order="confidence", min_support=5)
    closed = find_instances(
        run.graph, RuleSelection(2, min_support=5, per_rule=5, order="confidence")
    )
    assert_groups(app, run, closed)


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
