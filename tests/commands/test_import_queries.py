"""Files of queries on the command line."""

import pickle

import pytest

from kgdash.graph.datasets import load_dataset
from kgdash.studies.queries.files import read_queries


@pytest.fixture
def folder(tmp_path):
    """Two queries in the form of Query2box over a graph of three facts."""
    for split, triple in (("train", "a\tr\tb"), ("valid", "b\tr\tc"), ("test", "b\tr\ta")):
        (tmp_path / f"{split}.tsv").write_text(f"{triple}\n" + "c\tr\tc\n" * (split == "train"))
    files = {
        "ind2ent": {0: "a", 1: "b", 2: "c", 3: "elsewhere"},
        "ind2rel": {0: "r", 1: "r_reverse"},
        "test_ans_1c": {((1, (0,)),): {0, 2}, ((3, (0,)),): {0}},
        "test_ans_1c_hard": {((1, (0,)),): {0}, ((3, (0,)),): {0}},
    }
    for name, value in files.items():
        (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(value))
    return tmp_path


def test_a_folder_becomes_a_file(call, folder):
    told = call("import-queries", folder, folder / "q.parquet", "--dataset", folder)
    assert "1 of 2 queries left out" in told
    assert "the answers of all 1 queries are those of graph" in told
    assert "hard answers are those outside train+valid" in told
    assert "wrote 2 queries with 3 answers" in told
    graph = load_dataset(folder)
    found, _ = read_queries(folder / "q.parquet", graph)
    assert found["1p"].answers.tolist() == [0, 2]
    assert found["1p"].hard.tolist() == [True, False]
    call("import-queries", folder / "q.parquet", folder / "q.tsv")
    assert read_queries(folder / "q.tsv", graph)[0]["1p"].anchors.tolist() == [[1]]


def test_what_can_not_be_is_refused(refused, folder):
    assert "expected an output file" in refused("import-queries", folder, folder / "q.xlsx")
    assert "valid_ans_T" in refused(
        "import-queries", folder, folder / "q.parquet", "--split", "valid"
    )
    assert not (folder / "q.parquet").exists()
