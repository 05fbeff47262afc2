"""The page Confounders of ReliK in a browser."""

from kgdash.studies.correlation.confounders import triple_factors
from tests.browser.driver import click_point, drawn_points, freest, open_page, settle


def test_a_click_on_a_point_tells_its_triple(address, tab, run):
    open_page(tab, f"{address}/confounders")
    settle(tab)
    points = drawn_points(tab, "factor_points", "triples")
    factors = run.graph.with_names(triple_factors(run))
    assert len(points) == len(factors)
    point = freest(points, points)
    click_point(tab, point)
    row = factors.iloc[int(point["data"])]
    expected = f"ReliK {row['relik']:.3g}, mean reciprocal rank {row['reciprocal_rank']:.3g};"
    tab.get_by_text(expected).wait_for()
    assert tab.get_by_text(f"frequency of the relation {row['frequency']:,}.").count() == 1
