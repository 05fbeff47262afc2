"""Opening a page and reading it the way a user does: by widget key and by label."""

from pathlib import Path

import pandas as pd
from streamlit.testing.v1 import AppTest

from kgdash.runs.bundled import FOLDER_CHOICE
from tests.support.paths import ROOT

APP = ROOT / "dashboard.py"


def open_page(page: str, **url: str) -> AppTest:
    """Open a page at an address with the parameters of ``url``."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(url)
    return run(app.switch_page(f"pages/{page}.py"))


def run(app: AppTest) -> AppTest:
    """Run the page anew; an exception fails the test."""
    app.run()
    assert not app.exception, app.exception[0].stack_trace
    return app


def choose(app: AppTest, **values) -> AppTest:
    """Set widgets by key; those that only appear after another choice come in a second run."""
    while values:
        shown = [key for key in values if _has(app, key)]
        assert shown, f"no widget {list(values)} on the page"
        for key in shown:
            app.get_by_key(key).set_value(values.pop(key))
        run(app)
    return app


def _has(app: AppTest, key: str) -> bool:
    try:
        app.get_by_key(key)
    except KeyError:
        return False
    return True


def choose_folder(app: AppTest, folder: Path | str, dataset: str | None = None) -> AppTest:
    """Name a folder in the sidebar."""
    named = {"folder": str(folder)} | ({} if dataset is None else {"dataset": dataset})
    return choose(app, run=FOLDER_CHOICE, **named)


def cards(app: AppTest) -> dict[str, str]:
    """Return what the metric cards of the page show, by label without its arrow."""
    return {card.label.rstrip(" ↑↓"): card.value for card in app.main.metric}


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """Return the one table on the page that has these columns."""
    tables = [frame.value for frame in app.dataframe]
    found = [frame for frame in tables if set(columns) <= set(frame.columns)]
    assert len(found) == 1, [list(frame.columns) for frame in tables]
    return found[0]


def messages(app: AppTest) -> list[str]:
    """Return the information and the warnings on the page."""
    return [element.value for element in (*app.main.info, *app.main.warning)]


def assert_refused(app: AppTest, message: str) -> None:
    """Check that one message stands where the page would be."""
    assert [error.value for error in app.error] == [message]
    assert [title.value for title in app.title] == ["No run is open"]
    assert not app.main.metric
