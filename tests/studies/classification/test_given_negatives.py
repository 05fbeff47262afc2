"""Files of false triples: what is left out is counted, what can not be right is refused."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from kgdash.errors import KgdashError
from kgdash.studies.classification.classification import ClassificationSetting, classify
from kgdash.studies.classification.given_negatives import (
    find_negatives,
    negatives_by_name,
    read_negatives,
    verified_negatives,
    verified_stamp,
)
from tests.support.fakes import fake_run, make_graph, random_scorer
from tests.support.instance_fakes import small_graph

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)], valid=[(2, 0, 3)], test=[(3, 1, 0)])

VALID = "head,relation,tail\ne0,r0,e2\nE1,R1,E3\ne0,r0,e1\ne0,r0,e2\nx,r0,e1\ne0,r7,e1\n"
RUN = fake_run(small_graph([(0, 0, 1), (1, 1, 2)], valid=[(2, 0, 0)]), random_scorer(3, 2))

TEST = "e3\tr1\te1\n"


def write(folder: Path) -> dict[str, Path]:
    files = {"valid": folder / "valid_negatives.csv", "test": folder / "test_negatives.txt.gz"}
    files["valid"].write_text(VALID)
    with gzip.open(files["test"], "wt") as stream:
        stream.write(TEST)
    return files


def test_what_is_left_out_is_counted(tmp_path):
    found = read_negatives(write(tmp_path), GRAPH)
    assert found.valid.tolist() == [[0, 0, 2], [1, 1, 3]]
    assert found.test.tolist() == [[3, 1, 1]]
    assert found.notes == (
        "valid_negatives.csv: 2 left out, as the graph has no such entity or relation",
        "valid_negatives.csv: 1 left out, as known to be true",
        "valid_negatives.csv: 1 repeated, counted once",
    )


def test_those_of_both_are_told(tmp_path):
    files = write(tmp_path)
    with gzip.open(files["test"], "wt") as stream:
        stream.write(TEST + "e1\tr1\te3\n")
    assert read_negatives(files, GRAPH).notes[-1] == (
        "1 of 2 false triples of test are those of validation, too: what is fitted there looks "
        "better than it is"
    )


def test_uploads_are_read_like_files(tmp_path):
    files = write(tmp_path)
    contents = {split: path.read_bytes() for split, path in files.items()}
    names = {split: Path(path.name) for split, path in files.items()}
    found = read_negatives(names, GRAPH, contents)
    assert found.valid.tolist() == read_negatives(files, GRAPH).valid.tolist()


def test_those_of_the_run_s_dataset_are_found(tmp_path):
    run = fake_run(GRAPH, random_scorer(4, 2))
    assert find_negatives(run) is None
    of_folder = replace(run, provenance={"dataset": str(tmp_path)})
    assert find_negatives(of_folder) is None
    files = write(tmp_path)
    assert find_negatives(of_folder) == files
    stamp = verified_stamp(of_folder)
    files["valid"].write_text(VALID + VALID)
    assert verified_stamp(of_folder) != stamp
    files["valid"].write_text(VALID)
    assert not verified_stamp(run)
    found = classify(of_folder, ClassificationSetting("given"))
    assert found.about()["valid"] == {"true": 1, "false": 2}
    assert len(found.about()["notes"]) == 3
    assert find_negatives(replace(run, provenance={"dataset": "umls"})) is None


def test_they_are_found_by_any_spelling_of_a_split(tmp_path):
    for stem in ("Val_negatives.TSV", "testing_negatives.tsv"):
        (tmp_path / stem).write_text(TEST)
    run = replace(RUN, provenance={"dataset": str(tmp_path)})
    assert [path.name for path in (find_negatives(run) or {}).values()] == [
        "Val_negatives.TSV",
        "testing_negatives.tsv",
    ]


def test_a_folder_here_that_has_the_name_of_the_run_s_dataset_is_not_taken_for_it(
    tmp_path, monkeypatch
):
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    run = fake_run(GRAPH, random_scorer(4, 2))
    assert find_negatives(replace(run, provenance={"dataset": "mine"})) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no triples"),
        ("e0\tr0\te1\n", "gives no false triple of graph tiny: 1 left out, as known to be true"),
        ("a\tb\tc\n", "no such entity or relation. Expected rows"),
        ("e0\tr0\n", "expected 3 columns head, relation, tail; found 2"),
    ],
)
def test_refusals(tmp_path, text, message):
    files = write(tmp_path) | {"test": tmp_path / "other.tsv"}
    files["test"].write_text(text)
    with pytest.raises(KgdashError, match=message):
        read_negatives(files, GRAPH)


def test_a_missing_file(tmp_path):
    files = write(tmp_path) | {"test": tmp_path / "gone.tsv"}
    with pytest.raises(KgdashError, match=r"no file of negatives .*gone"):
        read_negatives(files, GRAPH)


def test_codex_s(shared_data):
    """CoDEx-S ships as many negatives as valid and test triples; none of them is known."""
    from kgdash.graph.datasets import load_dataset

    folder = shared_data / "codex-s"
    graph = load_dataset(folder)
    run = replace(fake_run(graph, random_scorer(3, 1)), provenance={"dataset": str(folder)})
    found = read_negatives(find_negatives(run), graph)
    assert (len(found.valid), len(found.test), found.notes) == (1827, 1828, ())
    assert not graph.known().contains(found.test).any()


def test_verified_ones_of_the_dataset(tmp_path):
    assert verified_negatives(RUN) is None
    with pytest.raises(KgdashError, match=r"ships no verified negatives .* or take closed-world"):
        negatives_by_name(RUN, ["verified"])
    (tmp_path / "valid_negatives.tsv").write_text("e0\tr0\te2\n")
    (tmp_path / "test_negatives.tsv").write_text("e2\tr1\te2\n")
    of_folder = replace(RUN, provenance={"dataset": str(tmp_path)})
    assert verified_negatives(of_folder).tolist() == [[0, 0, 2], [2, 1, 2]]
    assert negatives_by_name(of_folder, ["verified"]).tolist() == [[0, 0, 2], [2, 1, 2]]


def test_closed_world_and_files(tmp_path):
    assert negatives_by_name(RUN, []) is None
    assert negatives_by_name(RUN, ["closed-world"]) is None
    files = [tmp_path / "a.tsv", tmp_path / "b.csv"]
    files[0].write_text("e0\tr0\te2\n")
    files[1].write_text("e1,r1,e1\n")
    assert negatives_by_name(RUN, map(str, files)).tolist() == [[0, 0, 2], [1, 1, 1]]
    with pytest.raises(KgdashError, match=r"closed-world or verified, or files .* found 'open'"):
        negatives_by_name(RUN, ["open"])
    files[0].write_text("e9\tr0\te2\n")
    with pytest.raises(KgdashError, match="unknown entity 'e9'"):
        negatives_by_name(RUN, [str(files[0])])
