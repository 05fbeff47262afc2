"""The page Model selection in a browser: it follows a search that goes on."""

from kgdash.hpo.selection import Budget, search
from kgdash.hpo.study_file import read_study
from kgdash.runs.bundled import DEMO_STUDY
from kgdash.statistics.estimate import number
from tests.browser.driver import (
    download,
    enter,
    expect_cards,
    open_page,
    press,
    select,
    settle,
    widget,
)
from tests.support.small_search import PLAN


def cards(study):
    states = study.trials["state"].value_counts()
    names = ("finished", "pruned", "failed")
    best = study.trials["value"][study.best]
    return [
        ("Best MRR on valid", number(best)),
        *((f"Trials {name}", str(states.get(name, 0))) for name in names),
    ]


def test_the_example_and_a_search_that_goes_on(address, tab, run, tmp_path):
    open_page(tab, f"{address}/model_selection")
    example = read_study(DEMO_STUDY)
    expect_cards(tab, cards(example))
    for view, key in {"Parameters": "importance", "Side by side": "parallel"}.items():
        press(tab, "view", view)
        widget(tab, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    press(tab, "view", "All trials")
    tab.get_by_role("heading", name="All trials").wait_for()
    settle(tab)
    assert download(tab, tmp_path)["value"].tolist() == example.trials["value"].tolist()

    path = tmp_path / "x.db"
    first = search(run.graph, PLAN, path, Budget(trials=1))
    select(tab, "study", "A file on this machine …")
    enter(tab, "study_file", path)
    expect_cards(tab, cards(first))
    # Nobody touches the page: it sees for itself that the file changed.
    expect_cards(tab, cards(search(run.graph, PLAN, path, Budget(trials=3))))
