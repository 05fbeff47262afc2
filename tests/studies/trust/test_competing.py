"""Runs that rank about as well, by the MRRs that their manifests record."""

import json
import shutil
from dataclasses import replace

import pytest

from kgdash.formats.run_directory import MANIFEST, WEIGHTS
from kgdash.runs import library
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.description import recorded_mrr
from kgdash.runs.library import runs_folder
from kgdash.studies.trust import competing
from kgdash.studies.trust.competing import MARGIN, competing_names, distinct


def test_bundled_runs(bundled):
    run = bundled("umls-transe")
    own = recorded_mrr(run.training)
    expected = [
        name
        for name in bundled_names()
        if name.startswith("umls-")
        and name != run.name
        and abs(recorded_mrr(bundled(name).training) - own) <= MARGIN * own
    ]
    assert competing_names(run) == expected
    assert {"umls-transe-seed4", "umls-distmult"} <= set(expected)
    assert "umls-pairre" not in expected


def test_without_a_record(bundled):
    run = replace(bundled("umls-transe"), training={})
    assert recorded_mrr(run.training) is None
    assert competing_names(run) == []
    assert competing_names(bundled("fb15k-237-complex")) == []


@pytest.fixture
def many(bundled):
    """Put forty more runs of the graph beside the bundled ones."""
    manifest = json.loads((DEMO / "umls-transe" / MANIFEST).read_text())
    for number in range(40):
        folder = runs_folder() / f"copy{number}"
        folder.mkdir(parents=True)
        sums = manifest["sha256"] | {WEIGHTS: str(number)}
        (folder / MANIFEST).write_text(json.dumps(manifest | {"sha256": sums}))
    return bundled("umls-transe")


def test_the_folder_of_runs_is_looked_at_once(many, monkeypatch):
    asked, real = [], library.own_names
    monkeypatch.setattr(library, "own_names", lambda: asked.append(1) or real())
    found = competing_names(many)
    assert len(found) == 7
    assert len(asked) == 1


def test_it_can_be_ended(many):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        competing_names(many, stop)


def test_no_more_manifests_are_read_than_it_takes_nor_twice(many, monkeypatch):
    read, real = [], competing.read_manifest
    monkeypatch.setattr(competing, "read_manifest", lambda path: read.append(path) or real(path))
    own = [name for name in (competing_names(many), competing_names(many))[1] if "copy" in name]
    assert len([path for path in read if path.name in own]) == len(own) < 8


def test_of_copies_one_is_asked(bundled):
    run = bundled("umls-transe")
    before = competing_names(run)
    for number in range(9):
        shutil.copytree(DEMO / "umls-transe-seed4", runs_folder() / f"copy{number}")
    assert competing_names(run) == before


def test_copies_and_runs_of_another_graph_are_left_out(bundled):
    run, other, third = map(bundled, ("umls-transe", "umls-distmult", "fb15k-237-complex"))
    others = {"itself": replace(run, name="itself"), "one": other, "again": other, "else": third}
    assert distinct(run, others) == {"one": other}
