"""The tour leads through six pages and back, with the run that was chosen."""

from kgdash.ui.runtime.tour import STEPS
from tests.pages.driver import open_page, run


def said(app) -> str:
    return next(each.value for each in app.main.markdown if each.value.startswith("Step "))


def press(app, key: str):
    app.get_by_key(key).click()
    return run(app)


def test_six_steps_on_and_back():
    app = press(open_page("overview", run="umls-distmult"), "tour_begin")
    titles = []
    for number, step in enumerate(STEPS, start=1):
        assert said(app) == f"Step {number} of 6. {step.text}"
        assert app.get_by_key("run").value == "umls-distmult"
        titles.append(app.title[0].value)
        if number == 3:
            press(app, "tour_back")
            assert app.title[0].value == titles[1]
            press(app, "tour_next")
        if number < len(STEPS):
            press(app, "tour_next")
    assert len(set(titles)) == 6
    assert app.get_by_key("tour_next").disabled


def test_it_can_be_ended():
    app = press(press(open_page("overview"), "tour_begin"), "tour_end")
    assert app.title
    assert not [each for each in app.main.markdown if each.value.startswith("Step ")]
