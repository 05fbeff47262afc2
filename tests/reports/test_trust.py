"""What a report says of where a run can be trusted; its numbers are tested by their commands."""

import numpy as np
import pandas as pd
import pytest

from kgdash.graph.communities import find_communities
from kgdash.reports import trust
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import evaluation
from kgdash.reports.trust import seed_entities, trust_sections, weakest_relations
from tests.support.checks import check_progress
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture
def small():
    """Return a run of a graph with nothing to validate on."""
    triples = np.unique(np.random.default_rng(0).integers(0, [9, 5, 9], size=(80, 3)), axis=0)
    graph = make_graph(triples[:60], triples[:0], triples[60:], 9, 5)
    return fake_run(graph, random_scorer(9, 5))


def source(run):
    return ChartSource(evaluation(run))


@pytest.mark.own_cache  # another test's process that fills the same table tells what it has
def test_sections_and_progress(bundled):
    check_progress(lambda progress: trust_sections(source(bundled("umls-distmult")), progress))


def test_the_least_and_the_most_reliable_community(bundled):
    run = bundled("umls-transe")
    found = source(run).overview().communities
    groups, degrees = find_communities(run.graph), run.graph.degrees
    for which, row in (("lowest", 0), ("highest", -1)):
        entity = run.graph.entities.index(seed_entities(found)[which])
        assert groups[entity] == found["id"].iloc[row]
        assert degrees[entity] == degrees[groups == groups[entity]].max()
    assert list(seed_entities(found[:1])) == ["lowest"]
    assert seed_entities(found[:0]) == {}
    assert seed_entities(found.assign(small=True)) == {}


def test_small_relations_are_not_the_weakest(bundled):
    of_run = source(bundled("umls-transe"))
    table, of = weakest_relations(of_run, 5)
    every = of_run.relations().set_index("label")
    assert table["mean ReliK"].tolist() == sorted(every[every["triples"] >= 30]["relik"])[:5]
    assert of == (every["triples"] >= 30).sum() < len(every)


def test_relik_that_is_not_counted_is_not_waited_for(small, monkeypatch):
    monkeypatch.setattr(trust, "run_relik_known", lambda run: False)
    first, *others = trust_sections(source(small))
    assert "run kgdash prepare on it" in first.text[0]
    assert [section.title for section in others] == ["True and false told apart", "Calibration"]


def test_a_study_that_the_graph_has_no_triples_for_says_why(small):
    sections = {section.title: section for section in trust_sections(source(small))}
    assert not sections["Calibration"].shown
    assert "valid" in sections["Calibration"].text[0]
    local = sections["Local comparison"].shown[0].table
    assert isinstance(local, pd.DataFrame)
