"""The page Expected performance in a browser: a click on a point opens its subgraph."""

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.correlation.performance_prediction import predict_performance_of_run
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.browser.driver import click_point, drawn_points, expect_cards, freest, open_page
from tests.browser.test_local import cards


def test_a_click_on_a_point_opens_its_subgraph(address, tab, run):
    open_page(
        tab, f"{address}/expected_performance?subgraphs=24&here_size=12&here_evaluated=all+triples"
    )
    found, learnt = predict_performance_of_run(
        run, "tail_mrr", SubgraphSampling(24, 12), SubgraphEvaluation("all")
    )
    points = found.points
    inside = points["observed"].between(points["low"], points["high"])
    drawn = drawn_points(tab, "prognosis", f"inside their interval ({inside.sum()})")
    assert sorted(point["data"] for point in drawn) == points.index[inside].tolist()
    chosen = freest(drawn, drawn)
    click_point(tab, chosen)
    tab.get_by_role("heading", name="Local reliability").wait_for()
    part = learnt[int(points["row"].iloc[chosen["data"]])]
    expect_cards(tab, cards(compare(run, part, "all")))
