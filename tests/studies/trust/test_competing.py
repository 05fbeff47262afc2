"""Runs that rank about as well, by the MRRs that their manifests record."""

from dataclasses import replace

from kgdash.runs.bundled import bundled_names
from kgdash.studies.trust.competing import MARGIN, competing_names, recorded_mrr


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
