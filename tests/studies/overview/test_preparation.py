"""Computed ahead: what pages open with is found on disk."""

import numpy as np
import pytest

import kgdash
from kgdash.files import table_cache as store
from kgdash.files.cache_folder import cache_directory
from kgdash.files.table_note import read_note
from kgdash.runs.preparation import prepared_share
from kgdash.studies.overview.preparation import prepare_pages
from kgdash.ui.runtime.result_cache import memory
from tests.pages.driver import open_page
from tests.support.checks import check_progress
from tests.support.tiny_runs import altered_run

PAGES = ("overview", "metrics", "score_health", "classification", "reliability", "confounders")
PAGES += ("obl2021", "queries", "rules", "label", "probabilities", "answer_sets")


def stored() -> dict[bytes, str]:
    """Return the contents of all tables, and what they are of."""
    files = cache_directory().glob("*.parquet")
    return {path.read_bytes(): f"{read_note(path)}" for path in files}


@pytest.fixture
def prepared(bundled, monkeypatch, tmp_path):
    monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    run = bundled("umls-pairre")
    prepare_pages(run)
    return run


def test_pages_open_without_computing(prepared):
    before = stored()
    for page in PAGES:
        memory.clear()
        open_page(page, run=prepared.name)
        assert [what for content, what in stored().items() if content not in before] == [], page


def test_progress(prepared):
    check_progress(lambda progress: prepare_pages(prepared, progress))


def test_without_held_out_triples(tmp_path):
    nothing = np.zeros((0, 3), dtype=np.int64)
    run = kgdash.load(str(altered_run(tmp_path / "run", {"test": nothing, "valid": nothing})))
    prepare_pages(run)
    assert prepared_share(run) == 1
