"""The page Queries and rules in a browser."""

from kgdash.statistics.estimate import number
from kgdash.studies.instances.instances import instance_triples, score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from tests.browser.driver import (
    Cards,
    click_point,
    drawn_points,
    expect_cards,
    freest,
    open_page,
    press,
    table_texts,
    widget,
)


def cards(scored) -> Cards:
    found = compare_measures(scored.table)
    relik, rank, score = (found.overall(measure) for measure in found.by_measure)
    return [
        ("Instances", f"{len(scored.table):,}"),
        ("AUC of ReliK", number(relik["roc_auc"])),
        ("AUC of reciprocal rank", number(rank["roc_auc"])),
        ("AUC of raw score", number(score["roc_auc"])),
        (
            "ReliK minus reciprocal rank",
            f"{found.difference('reciprocal_rank')['difference']:+.3f}",
        ),
    ]


def said(scored, instance) -> str:
    about = scored.table.set_index("instance").loc[instance]
    return f"{about['question']} → {about['answer']} is {'true' if about['label'] else 'false'}"


def test_a_click_on_a_point_or_a_row_draws_the_instance(address, tab, run):
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("3p",), 10)))
    open_page(tab, f"{address}/queries?types=3p&per_type=10&view=Distributions")
    expect_cards(tab, cards(scored))
    points = drawn_points(tab, "values", "true") + drawn_points(tab, "values", "false")
    assert sorted(p["data"][0] for p in points) == scored.table["instance"].tolist()

    point = freest(points, points)
    click_point(tab, point)
    instance = point["data"][0]
    tab.locator("[data-testid=stMarkdown]").filter(has_text=said(scored, instance)).wait_for()
    triples = instance_triples(run.graph, scored.triples, instance)
    assert {entity["data"] for entity in drawn_points(tab, f"path_{instance}", "entities")} <= set(
        scored.triples.loc[scored.triples["instance"] == instance, ["head", "tail"]]
        .to_numpy()
        .ravel()
    )
    shown = table_texts(tab)
    assert [row[1:4] for row in shown] == triples[["head", "relation", "tail"]].to_numpy().tolist()

    press(tab, "view", "All instances")
    table = widget(tab, "instances").locator("[data-testid=stDataFrame]")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    # The box that selects a row is the first of its cells; rows are 35 high, the heading too.
    tab.mouse.click(box["x"] + 16, box["y"] + 35 + 17)
    tab.locator("[data-testid=stMarkdown]").filter(has_text=said(scored, 0)).wait_for()
    widget(tab, "path_0").locator(".js-plotly-plot").wait_for()


def test_a_long_computation_can_be_stopped_and_started_again(address, tab):
    beam = "intermediates=model&beam=100"
    tab.goto(f"{address}/queries?per_type=1000&query_seed=1&types=2p&types=3p&{beam}")
    tab.get_by_role("button", name="Stop", exact=True).click()
    tab.get_by_text("was stopped").wait_for()
    assert tab.locator("[data-testid=stMain] [data-testid=stMetric]").count() == 0
    tab.get_by_role("button", name="Start again").click()
    tab.get_by_role("button", name="Stop", exact=True).click()
    tab.get_by_text("was stopped").wait_for()
