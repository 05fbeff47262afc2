"""The page Correlation study in a browser: a click on a point opens its subgraph."""

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.subgraph_table import draw_subgraphs
from tests.browser.driver import (
    click_point,
    drawn_points,
    expect_cards,
    freest,
    go_to,
    open_page,
    settle,
)
from tests.browser.test_local import cards


def test_a_click_on_a_point_opens_its_subgraph(address, tab, run):
    open_page(tab, f"{address}/study?subgraphs=10&study_size=15&study_evaluated=all+triples")
    parts = draw_subgraphs(run, SubgraphSampling(10, 15))
    points = drawn_points(tab, "study_scatter_0", "subgraphs (10)")
    assert sorted(point["data"] for point in points) == list(range(10))
    chosen = freest(points, points)
    click_point(tab, chosen)
    tab.get_by_role("heading", name="Local reliability").wait_for()
    comparison = compare(run, parts[chosen["data"]], "all")
    expect_cards(tab, cards(comparison))
    # Who comes back is not sent away again by what was selected.
    go_to(tab, "Studies", "Correlation study")
    tab.get_by_role("heading", name="Correlation study").wait_for()
    tab.locator(".st-key-study_scatter_1 .main-svg").first.wait_for()
    settle(tab)
    assert tab.get_by_role("heading", name="Correlation study").count() == 1
