"""The page Which model where in a browser."""

import kgdash
from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.part_scores import part_scores
from tests.browser.driver import click_point, drawn_points, freest, open_page, settle, table_texts


def test_a_click_on_a_part_lists_its_models(address, tab, run):
    choices = "regions=relations&relik_of=the+evaluated+triples&with=umls-distmult"
    open_page(tab, f"{address}/which_model?{choices}")
    settle(tab)
    runs = [run, kgdash.load("umls-distmult")]
    scores = part_scores(runs, find_parts(run, "relations"), relik_of="evaluated")
    names = ("ReliK says right", "ReliK says wrong, or equal")
    points = [point for name in names for point in drawn_points(tab, "differences", name)]
    assert {point["data"] for point in points} == set(scores.table["part"])
    point = freest(points, points)
    click_point(tab, point)
    rows = scores.table[scores.table["part"] == point["data"]]
    tab.locator("[data-testid=stMarkdown] strong", has_text=rows["name"].iloc[0]).first.wait_for()
    settle(tab)
    shown = table_texts(tab)
    assert [row[0] for row in shown] == rows["run"].tolist()
    assert [float(row[2]) for row in shown] == [float(f"{mrr:.4g}") for mrr in rows["mrr"]]
