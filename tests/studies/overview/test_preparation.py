"""Computed ahead: what pages open with is found on disk."""

import numpy as np

import kgdash
from kgdash.files import table_cache as store
from kgdash.files.table_cache import list_cache
from kgdash.health.of_run import score_health
from kgdash.runs.preparation import prepared_share
from kgdash.studies.classification.classification import classify
from kgdash.studies.overview.overview import overview_steps
from kgdash.studies.overview.preparation import prepare_pages
from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import MAPPED, reliability_map
from tests.support.checks import check_progress
from tests.support.tiny_runs import altered_run


def test_pages_find_all_tables(bundled, monkeypatch):
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    run = bundled("umls-pairre")
    prepare_pages(run)
    before = set(list_cache()["key"])
    run.ranks("test", filter="none")
    (_,) = overview_steps(run)
    map_ = reliability_map(run)
    for what in MAPPED:
        map_.by(what)
    scan_regions(map_, RegionScan())
    score_health(run)
    classify(run).tables()
    assert set(list_cache()["key"]) == before
    check_progress(lambda progress: prepare_pages(run, progress))


def test_without_held_out_triples(tmp_path):
    nothing = np.zeros((0, 3), dtype=np.int64)
    run = kgdash.load(str(altered_run(tmp_path / "run", {"test": nothing, "valid": nothing})))
    prepare_pages(run)
    assert prepared_share(run) == 1
