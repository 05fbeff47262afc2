"""Tables of trust: row by row what a single triple gives, in the order of the file."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.trust import triple_table as module
from kgdash.studies.trust.basis import card_basis, questions
from kgdash.studies.trust.triple_table import stored_relik, trust_table, trust_tables
from tests.support.checks import check_progress
from tests.support.cluster_fakes import FakeHelpers
from tests.support.fakes import FakeScorer, fake_run, make_graph


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-complex")


@pytest.fixture(scope="module")
def basis(run):
    return card_basis(run)


@pytest.fixture(scope="module")
def triples(run):
    rng = np.random.default_rng(0)
    random = rng.integers(0, [135, 46, 135], size=(40, 3))
    # Two candidates of one query must not hide one another; one triple comes twice.
    return np.concatenate([random, run.graph.split("test")[:5], [[0, 1, 2], [0, 1, 3], [0, 1, 2]]])


def write(path, run, triples):
    names = run.graph.with_names(pd.DataFrame(triples, columns=["head", "relation", "tail"]))
    names.to_csv(path, sep="\t", index=False)
    return path


@pytest.mark.parametrize("side", ["head", "tail"])
def test_each_row_is_that_of_the_triple_alone(run, basis, triples, side):
    table = trust_table(basis, triples, side)
    ranks = run.ranks_of_mixed(triples, sides=[side])
    assert table["rank"].tolist() == ranks["realistic"].tolist()
    assert table["candidates"].tolist() == ranks["candidates"].tolist()
    for row, triple in enumerate(triples):
        alone = basis.placing.place(questions(run, triple[None], side, "train+valid+test")).iloc[0]
        for column in ("score", "probability"):
            assert table[column][row] == pytest.approx(alone[column], rel=1e-5)
        assert (table["in_set"][row], table["set_size"][row]) == (
            alone["in_set"],
            alone["set_size"],
        )
    assert table["known"].tolist() == run.graph.split_of(triples).tolist()


def test_relik_where_it_is_known(run, triples):
    assert np.isnan(stored_relik(run, triples)).all()
    test = run.graph.split("test")[:5]
    expected = run.relik(triples=test)["relik"]
    found = stored_relik(run, triples)
    counted = run.graph.positions(triples) >= 0
    assert found[40:45].tolist() == expected.tolist()
    assert np.isnan(found[~counted]).all()


def test_parts_do_not_matter(run, basis, triples, tmp_path, monkeypatch):
    path = write(tmp_path / "triples.tsv", run, triples)
    whole = run.graph.with_names(trust_table(basis, triples))
    monkeypatch.setattr(module, "_PART", 7)
    parts = list(trust_tables(basis, path))
    assert [len(part) for part in parts] == [7] * 6 + [6]
    found = pd.concat(parts, ignore_index=True)
    columns = found.columns.drop(["score", "probability"]).tolist()
    pd.testing.assert_frame_equal(found[columns], whole[columns])
    np.testing.assert_allclose(found["probability"], whole["probability"], rtol=1e-5)
    check_progress(lambda progress: list(trust_tables(basis, path, progress=progress)))
    for seed in range(3):  # helpers give them in any order, one of them twice
        placed = replace(basis, run=replace(run, helpers=FakeHelpers(run, seed)))
        for here, there in zip(parts, trust_tables(placed, path), strict=True):
            pd.testing.assert_frame_equal(there, here)


@pytest.mark.parametrize("seed", [None, 1])
def test_what_was_interrupted_goes_on_with_what_is_missing(
    run, basis, triples, tmp_path, monkeypatch, seed
):
    path = write(tmp_path / "triples.tsv", run, triples)
    monkeypatch.setattr(module, "_PART", 7)
    whole = list(trust_tables(basis, path))
    monkeypatch.setattr(module, "_KEPT", 7 * 135)  # the last part is too small to keep
    begun = trust_tables(basis, path)
    assert [len(next(begun)) for _ in range(3)] == [7] * 3
    begun.close()
    place, made = module._place, []

    def noted(run, part, progress):
        made.append(part.number)
        return place(run, part, progress)

    if seed is None:
        monkeypatch.setattr(module, "_place", noted)
        again = basis
    else:
        again = replace(basis, run=replace(run, helpers=FakeHelpers(run, seed)))
    for here, there in zip(whole, trust_tables(again, path), strict=True):
        pd.testing.assert_frame_equal(there, here)
    if seed is None:
        assert made == [3, 4, 5, 6]
        made.clear()
        list(trust_tables(basis, path))
        assert made == [6]
    else:
        assert {part.number for part in again.run.helpers.parts} == {3, 4, 5, 6}


def test_a_wrong_line_is_told_before_anything_is_computed(run, basis, tmp_path, monkeypatch):
    path = write(tmp_path / "triples.tsv", run, np.zeros((20, 3), dtype=np.int64))
    with path.open("a") as stream:
        stream.write("nobody\tcauses\tvirus\n")
    monkeypatch.setattr(module, "_PART", 4)
    monkeypatch.setattr(module, "_place", lambda *_: pytest.fail("computed"))
    with pytest.raises(KgdashError, match=r"unknown entity 'nobody'.*line 22"):
        list(trust_tables(basis, path))


def test_refusals(basis, triples):
    with pytest.raises(KgdashError, match="unknown side 'relation'"):
        trust_table(basis, triples, "relation")


def test_nan_is_refused(basis):
    graph = make_graph([(0, 0, 1)], valid=[(1, 0, 2)], test=[(2, 0, 0)])
    scores = np.zeros((3, 1, 3))
    scores[0, 0, 2] = np.nan
    broken = replace(basis, run=fake_run(graph, FakeScorer(scores)))
    with pytest.raises(KgdashError, match="NaN"):
        trust_table(broken, np.array([[0, 0, 0]]))
