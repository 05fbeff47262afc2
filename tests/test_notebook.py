"""The example notebook shows what its cells give; objects show themselves and count nothing."""

import base64
import json
from dataclasses import replace

import pytest

import kgdash
from kgdash.reports.run_plots import RunPlots
from kgdash.studies.overview.overview import overview
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.reliability_map import reliability_map
from scripts.make_notebook import NOTEBOOK, executed
from tests.support.report_page import read_page

HOSTILE = "<script>alert(1)</script>\"'&"


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def outputs(notebook):
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def test_it_shows_what_its_cells_give(notebook):
    def same(found):
        shown = [dict(output.get("data", output)) for output in outputs(found)]
        return [
            {kind: text for kind, text in each.items() if kind != "image/png"} for each in shown
        ]

    assert same(executed(notebook, lambda figure: "")) == same(notebook)


def test_every_figure_is_kept_as_a_picture(notebook):
    drawn = [output["data"]["image/png"] for output in outputs(notebook) if "data" in output
             and "image/png" in output["data"]]  # fmt: skip
    assert len(drawn) == 3
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in drawn)
    assert NOTEBOOK.stat().st_size < 300_000


@pytest.fixture
def hostile(bundled):
    """Return a run with names that would be markup, which refuses to count."""
    run = bundled("umls-distmult")
    labels = tuple(f"{HOSTILE}{n}" for n in range(run.graph.num_entities))
    graph = replace(run.graph, name=HOSTILE, entity_labels=labels)
    return replace(run, name=HOSTILE, graph=graph, scorer=None, notes=(HOSTILE,))


def test_showing_counts_nothing_and_names_stay_text(hostile):
    part = hostile.subgraph(0, size=12)
    for shown in (hostile, hostile.graph, part, hostile.plot):
        page = read_page(shown._repr_html_())
        assert not page.scripts
        assert HOSTILE in page.text
        assert len(repr(shown)) < 1000
    text = read_page(hostile._repr_html_()).text
    assert "recorded by kgdash when it was trained" in text
    assert "5,216 train, 652 valid, 661 test" in text
    assert f"known triples{len(part.triples())}" in read_page(part._repr_html_()).text


def test_a_run_that_was_not_evaluated_says_no_mrr(hostile):
    assert "MRR" not in replace(hostile, training={})._repr_html_()
    recorded = {"pykeen_evaluation": {"inverse_harmonic_mean_rank": 0.25}}
    html = replace(hostile, training=recorded)._repr_html_()
    assert "0.250, recorded by PyKEEN, of test unless it evaluated on validation" in html
    assert "test MRR" not in html


def test_tables_show_their_values(bundled):
    run = bundled("umls-transe")
    metrics = kgdash.metrics(run.ranks())
    assert repr(metrics) == "metrics, of them MRR: head 0.756, tail 0.752, both 0.754 (realistic)"
    text = read_page(metrics._repr_html_()).text
    assert "Mean reciprocal rank (MRR)0.7560.7520.754inverse_harmonic_mean_rank" in text
    local = compare(run, run.subgraph("virus", size=12))
    assert (
        f"tail MRR{local.means['tail_mrr'].value:.3f} (n = 9)"
        in read_page(local._repr_html_()).text
    )
    found = overview(reliability_map(run))
    assert repr(found) == " ".join(found.verdict).replace("**", "")
    assert found.leads[0].text.replace("**", "") in read_page(found._repr_html_()).text


def test_a_run_knows_its_charts_however_it_was_loaded(bundled):
    assert isinstance(bundled("umls-transe").plot, RunPlots)
