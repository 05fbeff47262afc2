"""The page Answer sets in a browser: a click on a group lists its sets, a row opens its triple."""

from urllib.parse import parse_qs, urlparse

from kgdash.studies.probability.answer_sets import answer_sets
from tests.browser.driver import (
    click_point,
    drawn_points,
    freest,
    open_page,
    press,
    settle,
    table_texts,
)
from tests.browser.test_inspect import names_in, select_row


def test_a_click_on_a_group_lists_its_sets(address, tab, run):
    sets = answer_sets(run)
    groups = sets.by_groups("degree")
    open_page(tab, f"{address}/answer_sets?run=umls-transe")
    found = sets.summary()
    tab.get_by_text(f"{found['coverage']:.1%}").first.wait_for()
    press(tab, "asked_by", "Degree")
    points = drawn_points(tab, "coverage_degree", "coverage")
    assert sorted(int(point["data"]) for point in points) == list(range(len(groups)))
    point = freest(points, points)
    click_point(tab, point)
    group = groups.iloc[int(point["data"])]
    heading = tab.get_by_role("heading", name=f"Sets: {group['group']}")
    heading.wait_for()
    settle(tab)
    assert parse_qs(urlparse(tab.url).query)["set_group"] == [group["group"]]
    first = table_texts(tab)[0]
    select_row(tab, f"sets_degree_{group['number']}", 0)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    assert names_in(tab.url) == first[:3]
    tab.go_back()
    heading.wait_for()
