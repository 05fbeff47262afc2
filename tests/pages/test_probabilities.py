"""The page Probabilities shows what the library computes."""

import pytest

from kgdash.statistics.estimate import number, percent
from kgdash.studies.probability.calibration import calibration_on_test
from kgdash.studies.probability.calibration_report import overall_errors, sure_answers
from tests.pages.driver import cards, choose, open_page, table


@pytest.fixture(scope="module")
def tested(run):
    return calibration_on_test(run)


def test_the_answer_first(tested):
    app = open_page("probabilities")
    assert not app.exception
    errors = overall_errors(tested).set_index(["way", "error"])["value"]
    assert cards(app)["Expected calibration error"] == number(errors["fitted", "ece"])
    sure, right = sure_answers(tested)
    text = " ".join(markdown.value for markdown in app.main.markdown)
    assert f"{sure:,} test queries" in text
    assert f"**{percent(right)}**" in text
    assert table(app, "ece_low")["queries"].sum() <= len(tested.queries)


def test_by_relation(tested):
    app = choose(open_page("probabilities"), by="relation")
    names = set(table(app, "ece_low")["group"])
    assert names <= set(tested.run.graph.relation_labels)
