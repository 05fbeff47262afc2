"""The command import: scores are those of what was imported."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

import kgdash
from kgdash.formats.run_directory import read_run
from kgdash.ranking.metrics import metrics
from kgdash.runs import importing
from kgdash.runs.importing import run_from_arrays
from kgdash.runs.library import runs_folder
from kgdash.runs.loading import load
from tests.support.cli import strict_json
from tests.support.embeddings import (
    ENTITIES,
    ENTITY_IDS,
    GRAPH,
    RELATION_IDS,
    RELATIONS,
    by_id,
    vectors,
    write_arrays,
    write_names,
)

E, R = vectors(len(ENTITIES), 6, seed=1), vectors(len(RELATIONS), 6, seed=2)
ARRAYS = ("--from", "arrays", "--dataset", "nations", "--interaction")


@pytest.fixture
def folder(tmp_path):
    return write_arrays(tmp_path / "vectors", E, R)


def test_a_run_like_any_other(call, folder, tmp_path):
    call("import", folder, tmp_path / "out", *ARRAYS, "DistMult")
    run = load(tmp_path / "out")
    assert (run.spec.name, run.graph.entities) == ("DistMult", GRAPH.entities)
    e, r = by_id(E, ENTITY_IDS), by_id(R, RELATION_IDS)
    # Ranks by the definition, of tails: candidates that are known are left out.
    known = {tuple(row) for row in GRAPH.all_triples.tolist()}
    ranks = []
    for head, relation, tail in GRAPH.splits["test"].tolist():
        scores = e @ (e[head] * r[relation])
        others = [n for n in range(len(e)) if n != tail and (head, relation, n) not in known]
        ranks.append(1 + int((scores[others] > scores[tail]).sum()))
    found = run.ranks(split="test", sides=["tail"])
    np.testing.assert_array_equal(found["realistic"], ranks)
    printed = strict_json(call("metrics", tmp_path / "out", "--json"))
    assert printed["run"] == "out"
    in_memory = run_from_arrays((ENTITIES, E), (RELATIONS, R), "DistMult", "nations")
    both = (metrics(each.ranks()).value("mrr") for each in (run, in_memory))
    assert len(set(both)) == 1


def test_into_the_folder_of_runs_with_notes(call, folder):
    printed = call("import", folder, *ARRAYS, "TransE")
    assert "its name is nations-transe" in printed
    run = load("nations-transe")
    assert "TransE was taken with norm L1, as none was given" in run.notes
    assert run.provenance["form"] == "imported from arrays"


BAD = {
    "no interaction": ({}, ARRAYS[:-1], "give --interaction, one of dot"),
    "no dataset": ({}, ("--from", "arrays"), "give the dataset of"),
    "unknown format": ({}, ("--from", "arrows", *ARRAYS[2:], "dot"), "unknown format 'arrows'"),
    "another dataset": (
        {},
        ("--from", "arrays", "--dataset", "umls", "--interaction", "DistMult"),
        "have no row",
    ),
    "NaN": ({"entities": np.where(np.arange(6) == 2, np.nan, E)}, (*ARRAYS, "DistMult"), "is NaN"),
    "float16": (
        {"entities": np.full_like(E, 1e6).astype(np.float16)},
        (*ARRAYS, "DistMult"),
        "float16 ends at 65,504",
    ),
    "too few names": ({"entities": E[1:]}, (*ARRAYS, "DistMult"), "14 names, .*13 rows"),
    "a number": ({"entities": np.float32(1)}, (*ARRAYS, "DistMult"), "14 names, .*0 rows"),
    "one column": ({"entities": E[:, 0]}, (*ARRAYS, "DistMult"), "found shape"),
    "norms that differ": ({}, (*ARRAYS, "TransE-L1", "--norm", "2"), "differ; give one"),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_leaves_nothing(refused, folder, tmp_path, name):
    files, options, message = BAD[name]
    for stem, values in files.items():
        np.save(folder / f"{stem}.npy", values)
    printed = refused("import", folder, tmp_path / "out", *options)
    assert re.search(message, printed), printed
    assert not (tmp_path / "out").exists()
    assert refused("import", folder, *options) == printed
    assert not list(runs_folder().glob("*"))


def test_files_that_are_missing_are_named(refused, folder):
    (folder / "relations.npy").unlink()
    printed = refused("import", folder, *ARRAYS, "DistMult")
    assert "expected relations.npy or relations.safetensors or relations.parquet" in printed
    assert "There is no folder" in refused("import", folder / "none", *ARRAYS, "DistMult")


def test_rows_that_the_dataset_lacks(call, refused, folder, tmp_path):
    np.save(folder / "entities.npy", np.concatenate([E, E[:1]]))
    write_names(folder, "entities", (*ENTITIES, "atlantis"))
    options = (folder, tmp_path / "out", *ARRAYS, "DistMult")
    assert "'atlantis'" in refused("import", *options)
    call("import", *options, "--drop-unknown")
    assert read_run(tmp_path / "out")[0].entities == GRAPH.entities


def test_names_that_lie_elsewhere(call, refused, folder, tmp_path):
    """The lists beside the vectors were read: an MRR of 0.15375, that of other names."""
    elsewhere = tmp_path / "names"
    elsewhere.mkdir()
    write_names(elsewhere, "entities", ENTITIES)
    write_names(folder, "entities", ENTITIES[::-1])
    options = ("import", folder, tmp_path / "out", *ARRAYS, "DistMult", "--names", elsewhere)
    assert "relations.txt: No such file" in refused(*options)
    write_names(elsewhere, "relations", RELATIONS)
    call(*options)
    expected = run_from_arrays((ENTITIES, E), (RELATIONS, R), "DistMult", "nations")
    assert load(tmp_path / "out").digest == expected.digest


@pytest.mark.parametrize("given", [("--interaction", "dot"), ("--layout", "interleaved")])
def test_pykeens_form_takes_none_of_the_options(refused, pykeen_directory, given):
    assert "leave out --interaction" in refused(
        "import", pykeen_directory, *given, "--dataset", "nations"
    )


def test_no_pickle_is_read(refused, folder):
    np.save(folder / "entities.npy", np.array([print], dtype=object), allow_pickle=True)
    assert "expected floating point numbers" in refused("import", folder, *ARRAYS, "dot")


@pytest.mark.parametrize(
    ("patched", "told"),
    [
        ((np, "fromfile"), "to read it takes more than 1 GiB of memory"),
        ((importing, "fit_to"), "do not fit into memory (Unable to allocate 33. GiB)"),
    ],
)
def test_vectors_larger_than_memory(refused, folder, monkeypatch, patched, told):
    def fail(*args, **kwargs):
        raise MemoryError("Unable to allocate 33. GiB")

    monkeypatch.setenv("KGDASH_MEMORY", "2G")
    monkeypatch.setattr(*patched, fail)
    printed = " ".join(refused("import", folder, *ARRAYS, "DistMult").split())
    assert told in printed
    assert "a larger machine" in printed


def test_what_was_reported_is_compared(call, refused, folder, tmp_path):
    call("import", folder, tmp_path / "first", *ARRAYS, "DistMult")
    tails = load(tmp_path / "first").ranks(sides=["tail"])
    mrr = metrics(tails).value("mrr", "tail", "optimistic")
    options = (*ARRAYS, "DistMult", "--reported")
    printed = call("import", folder, tmp_path / "out", *options, f"mrr={mrr:.5f}")
    assert "inverse_harmonic_mean_rank" in printed
    assert "nearest protocol: known triples filtered, tails only" in printed
    assert "check: what was reported is found by another protocol" in printed
    assert "Give shares" in refused("import", folder, tmp_path / "new", *options, "mrr=31")
    assert not (tmp_path / "new").exists()


def test_import_gives_the_scores_of_the_pykeen_directory(call, pykeen_directory, tmp_path):
    call("import", pykeen_directory, tmp_path / "safe", "--dataset", "nations")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["safe"]
    assert not list((tmp_path / "safe").glob("*.pkl"))
    imported = kgdash.load(tmp_path / "safe")
    direct = kgdash.load(pykeen_directory, "nations")
    pd.testing.assert_frame_equal(imported.ranks(), direct.ranks())
    assert len(imported.training["losses"]) == 2
    original = torch.load(pykeen_directory / "trained_model.pkl", weights_only=False).eval()
    triples = torch.from_numpy(imported.graph.splits["test"])
    with torch.inference_mode():
        expected = original.predict_hrt(triples).squeeze(-1)
    assert torch.equal(imported.scorer.model.predict_hrt(triples).squeeze(-1), expected)
