"""The page Cache lists what is kept on disk and clears it after a question."""

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.files.table_cache import clear_cache, list_cache
from kgdash.ui.widgets.cache_table import size_text
from tests.pages.driver import cards, messages, open_page, run, table

pytestmark = pytest.mark.own_cache


@pytest.fixture
def filled(run, keep_all):
    run.relik(split="valid")
    run.ranks(split="valid", sides=["tail"])
    return list_cache()


def press(app: AppTest, label: str) -> AppTest:
    button = next(button for button in app.button if button.label == label)
    button.click()
    return run(app)


def test_nothing_kept(cache_folder):
    app = open_page("cache")
    assert cards(app)["Tables"] == "0"
    assert cards(app)["Size"] == "0 bytes"
    assert "Nothing is kept yet" in messages(app)[0]
    assert not app.button
    assert [caption for caption in app.caption if str(cache_folder) in caption.value]


def test_what_a_page_computes_is_kept(keep_all):
    open_page("metrics", split="valid")
    kinds = table(open_page("cache"), "run", "kind", "details")["kind"]
    assert set(kinds) == {"ranks"}


def test_tables_and_their_sum(filled, monkeypatch):
    monkeypatch.setenv("KGDASH_CACHE_LIMIT", "500M")
    app = open_page("cache")
    assert cards(app)["Tables"] == "2"
    assert cards(app)["Size"] == size_text(filled["bytes"].sum())
    assert cards(app)["Limit"] == "500 MiB"
    shown = table(app, "run", "kind", "details")
    assert shown["kind"].tolist() == ["ranks", "ReliK"]
    assert shown["details"].tolist() == ["train+valid", "exact"]
    assert shown["run"].tolist() == ["umls-transe"] * 2
    assert shown["triples"].tolist() == filled["triples"].tolist()


def test_clear_all_asks_first(filled):
    app = press(open_page("cache"), "Clear all …")
    assert len(list_cache()) == 2
    press(app, "Cancel")
    assert len(list_cache()) == 2
    press(press(app, "Clear all …"), "Delete")
    assert len(list_cache()) == 0
    assert cards(app)["Tables"] == "0"
    assert "Deleted 2 tables" in app.toast[0].value
    assert not run(app).toast


def test_files_that_name_nothing_and_damaged_ones(cache_folder):
    (cache_folder / f"{'b' * 40}.parquet").write_bytes(b"PAR1")
    app = open_page("cache")
    assert table(app, "kind")["kind"].tolist() == ["unknown"]
    press(press(app, "Clear all …"), "Delete")
    assert list(cache_folder.iterdir()) == []


def test_cleared_elsewhere_meanwhile(filled):
    app = press(open_page("cache"), "Clear all …")
    clear_cache()
    press(app, "Delete")
    assert "Deleted 0 tables" in app.toast[0].value
    assert cards(app)["Tables"] == "0"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (2**20, "1 MiB"), (2**31, "2 GiB")],
)
def test_sizes(size, text):
    assert size_text(size) == text
