"""The tour leads through six pages and back, with the run that was chosen."""

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.graph import IDS
from kgdash.studies.overview.overview import least_reliable_fact
from kgdash.ui.runtime.tour import STEPS
from tests.pages.driver import APP, cards, open_page, run

RUN = "umls-distmult"


def touring(page: str, step: int = 0, **url: str) -> AppTest:
    """Open a page in a session whose tour was at a step."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.session_state["tour_step"] = step
    app.query_params.update({"run": RUN} | url)
    return run(app.switch_page(f"pages/{page}.py"))


def said(app) -> list[str]:
    return [each.value for each in app.main.markdown if each.value.startswith("Step ")]


def ways(app) -> dict[str, tuple[str, dict]]:
    """Return where the links of the tour lead: page and parameters."""
    links = [each.proto for each in app.main.get("page_link")]
    return {
        link.label: (link.page or "overview", parse_qs(link.query_string))
        for link in links
        if link.label in ("Back", "Next")
    }


def test_six_steps_on_and_back():
    for number, step in enumerate(STEPS):
        app = touring(step.page)
        assert said(app) == [f"Step {number + 1} of 6. {step.text}"]
        assert app.get_by_key("run").value == RUN
        around = {"Back": number - 1, "Next": number + 1}
        expected = {way: STEPS[n].page for way, n in around.items() if 0 <= n < len(STEPS)}
        assert {way: page for way, (page, _) in ways(app).items()} == expected


def test_a_page_of_no_step_leaves_it_where_it_was():
    app = touring("compare", step=3)
    assert said(app) == [f"Step 4 of 6. {STEPS[3].text}"]
    assert {way: page for way, (page, _) in ways(app).items()} == {
        "Back": STEPS[2].page,
        "Next": STEPS[4].page,
    }


def test_it_ends_on_the_fact_that_is_trusted_least(bundled):
    page, choices = ways(touring(STEPS[4].page))["Next"]
    graph = bundled(RUN).graph
    relik = bundled(RUN).relik(triples=graph.all_triples)
    names = dict(zip(IDS, least_reliable_fact(graph, relik), strict=True))
    assert (page, choices) == ("inspect", {part: [name] for part, name in names.items()})
    shown = cards(touring("inspect", **names))["ReliK"]
    assert float(shown) == pytest.approx(relik["relik"].min(), rel=0.01)


def test_links_say_nothing_that_is_so_anyhow():
    """Streamlit takes defaults out of the address again, as an entry of the history each."""
    for step in STEPS:
        for key, value in step.choices.items():
            assert str(open_page(step.page, run=RUN).get_by_key(key).value) != value


def test_it_begins_and_ends():
    app = open_page("overview")
    assert not said(app)
    app.get_by_key("tour_begin").click()
    assert run(app).session_state["tour_step"] == 0
    app = touring("metrics")
    app.get_by_key("tour_end").click()
    assert "tour_step" not in run(app).session_state
