"""The bundled run of FB15k-237: what came along is what is counted."""

import json

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy

from kgdash.files.shipped_tables import offered_table
from kgdash.files.table_cache import cache_size, list_cache
from kgdash.graph.known_triples import SIDES
from kgdash.ranking.metrics import mean_reciprocal_rank
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_exact import relik_exact
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.loading import load
from kgdash.runs.preparation import prepared_share

FOLDER = DEMO / "fb15k-237-complex"


@pytest.fixture(scope="module")
def run():
    return load(FOLDER.name)


def test_all_bundled_runs_take_at_most_12_mb():
    assert FOLDER.name in bundled_names()
    sizes = [path.stat().st_size for path in DEMO.rglob("*") if path.is_file()]
    assert sum(sizes) <= 12_000_000


def test_every_table_that_came_along_is_believed(run):
    tables = sorted((FOLDER / "tables").iterdir())
    assert tables
    assert [offered_table(path.name) for path in tables] == tables


def test_nothing_is_left_to_count(run):
    before = cache_size()
    assert prepared_share(run) == 1
    for filter in ("train+valid+test", "none"):
        run.ranks("test", filter=filter)
    assert cache_size() == before
    assert FOLDER.name not in set(list_cache()["run"])


def test_the_prepared_ranks_are_those_of_the_opened_weights(run):
    test, prepared = run.graph.splits["test"], run.ranks("test", sides=tuple(SIDES))
    assert mean_reciprocal_rank(prepared, ("head", "tail")) >= 0.32
    sample = np.random.default_rng(0).choice(len(test), 300, replace=False)
    counted = rank_triples(run.scorer, test[sample], run.graph.known(), tuple(SIDES))
    places = np.concatenate([sample + number * len(test) for number in range(len(SIDES))])
    pd.testing.assert_frame_equal(prepared.iloc[places].reset_index(drop=True), counted)


def test_the_prepared_relik_is_that_of_the_opened_weights(run):
    triples = run.graph.all_triples
    sample = triples[np.random.default_rng(0).choice(len(triples), 12, replace=False)]
    counted = relik_values(relik_exact(run.scorer, sample, run.graph.known()), "optimistic")
    assert run.relik(triples=sample).equals(counted)


def test_names_read_well_and_weights_take_half_the_room(run):
    graph = run.graph
    assert graph.name == "FB15k-237"
    labels = dict(zip(graph.relations, graph.relation_labels, strict=True))
    assert labels["/film/actor/film./film/performance/film"] == "acted in"
    assert len(set(graph.relation_labels)) == graph.num_relations
    assert not [label for label in graph.relation_labels if "/" in label or len(label) > 50]
    weights = safetensors.numpy.load_file(FOLDER / "weights.safetensors")
    assert {str(value.dtype) for value in weights.values()} == {"float16"}


def test_where_the_data_come_from_is_told(run):
    assert "CC BY 2.5" in run.provenance["attribution"]
    notice = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert all(part in notice for part in ("Toutanova", "Freebase", "creativecommons.org"))
    assert json.loads((FOLDER / "run.json").read_text())["graph"] == "FB15k-237"
