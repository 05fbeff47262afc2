"""`run.plot`: the figures that pages and commands draw, by the same names."""

import copy

import pytest

from kgdash.breakdowns import rank_facts
from kgdash.charts.export import on_background
from kgdash.errors import KgdashError
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.content import report_content
from kgdash.reports.evaluation import evaluation
from kgdash.reports.named_charts import NAMED_CHARTS, draw_chart
from kgdash.studies.correlation.confounders import triple_factors


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-transe")


def test_every_chart_has_a_method(umls):
    assert dir(umls.plot) == sorted(name.replace("-", "_") for name in NAMED_CHARTS)
    assert all(callable(getattr(umls.plot, name)) for name in dir(umls.plot))


def test_choices_are_those_of_the_command(umls):
    asked = evaluation(umls, RankSetting("valid", "none", "tail", "pessimistic"), "mr")
    figure = umls.plot.breakdown_by_relation(
        split="valid", filter="none", side="tail", rank_type="pessimistic", metric="mr"
    )
    assert figure == on_background(draw_chart("breakdown-by-relation", ChartSource(asked)))
    source = ChartSource(evaluation(umls), "virus", 20, 3)
    part = umls.plot.subgraph_figures(entity="virus", size=20, seed=3)
    assert part == on_background(draw_chart("subgraph-figures", source))
    dark = umls.plot.subgraph_figures(entity="virus", size=20, seed=3, dark=True)
    assert dark.data == part.data
    assert dark.layout.paper_bgcolor == "#111418"
    assert part == umls.plot("subgraph-figures", entity="virus", size=20, seed=3)


def test_progress_may_cancel(umls):
    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        umls.plot.subgraph_relik(entity="virus", size=21, seed=99, progress=stop)


def test_what_there_is_not(umls):
    with pytest.raises(AttributeError, match=r"unknown chart 'rank' .* did you mean 'ranks'"):
        _ = umls.plot.rank
    with pytest.raises(KgdashError, match=r"unknown choice 'metrc' .* did you mean 'metric'"):
        umls.plot.ranks(metrc="mrr")
    with pytest.raises(KgdashError, match="unknown chart 'rank'"):
        umls.plot("rank")
    with pytest.raises(KgdashError, match="need the entity"):
        umls.plot.subgraph()


def test_notebooks_may_look_at_it(umls):
    plots = umls.plot
    assert not hasattr(plots, "_repr_mimebundle_")
    assert repr(copy.copy(plots)).startswith("charts of umls-transe: breakdown_by_answers, ")
    assert "breakdown_by_answers" in plots._repr_html_()


@pytest.mark.parametrize(
    "work",
    [
        lambda run, report: run.plot("breakdown-by-relation", progress=report),
        lambda run, report: report_content(run, progress=report),
        lambda run, report: triple_factors(run, progress=report),
    ],
    ids=["chart", "report", "confounders"],
)
def test_patterns_tell_where_they_are_and_may_cancel(umls, monkeypatch, work):
    """Patterns of tens of thousands of relations take minutes."""

    heard = []

    def patterns(graph, progress):
        before = len(heard)
        progress(1, 2)
        assert len(heard) > before
        raise InterruptedError

    monkeypatch.setattr(rank_facts, "stored_relation_kinds", patterns)
    with pytest.raises(InterruptedError):
        work(umls, lambda done, total: heard.append(done / total))
