"""Which file of a folder holds a split: none is passed by that may be one."""

import os

import pytest

from kgdash.errors import KgdashError
from kgdash.graph.dataset_files import find_file, find_split
from kgdash.graph.datasets import check_folder, load_dataset

TRIPLES = "a\tr\tb\nb\tr\ta\n"


def folder_of(tmp_path, *names):
    """Write files; what ends in / is a folder."""
    for name in names:
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            separated = TRIPLES.replace("\t", ",") if ".csv" in name.lower() else TRIPLES
            (tmp_path / name).write_text(separated)
    return tmp_path


class TestFindFile:
    def test_any_stem_and_extension(self, tmp_path):
        assert find_file(tmp_path, ("valid", "dev")) is None
        folder_of(tmp_path, "dev.csv.gz")
        assert find_file(tmp_path, ("valid", "dev")) == tmp_path / "dev.csv.gz"
        (tmp_path / "valid.tsv").mkdir()
        assert find_file(tmp_path, ("valid", "dev")) == tmp_path / "dev.csv.gz"

    def test_several(self, tmp_path):
        folder_of(tmp_path, "train.tsv", "train.txt.gz")
        with pytest.raises(
            KgdashError, match=r"files for train: train.tsv, train.txt.gz; keep one"
        ):
            find_file(tmp_path, ("train",))

    def test_a_folder_that_can_not_be_listed(self, tmp_path):
        with pytest.raises(KgdashError, match=r"can not list .*none: No such file"):
            find_file(tmp_path / "none", ("train",))


@pytest.mark.parametrize(
    "name",
    ["val.tsv", "Val.txt", "Valid.tsv", "valid.TSV", "VALIDATION.csv", "dev.CSV", "Dev.tsv"],
)
def test_spellings_that_are_read(name, tmp_path):
    """The filter lacked their triples: hits@1 of 0.59 in place of 0.76."""
    graph = load_dataset(folder_of(tmp_path, "Train.TXT", name))
    assert [len(rows) for rows in graph.splits.values()] == [2, 2, 0]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        *((f"valid{ending}", "valid") for ending in ("", ".del", ".nt", ".jsonl", ".json", ".pt")),
        *((f"{stem}.tsv", "valid") for stem in ("validate", "eval", "Evaluation", "valid.en")),
        ("valid.tsv.xz", "valid"),
        ("DEV.Triples", "valid"),
        ("val.zip", "valid"),
        ("Test.tsv.zst", "test"),
        ("testing.del", "test"),
        ("train.del", "train"),
    ],
)
def test_what_may_be_a_split_is_not_passed_by(name, split, tmp_path):
    others = [f"{each}.txt" for each in ("train", "valid", "test") if each != split]
    folder_of(tmp_path, name, *others)
    said = rf"holds {name}, which may be its {split} triples but is not read: expected {split}.*"
    for read in (load_dataset, check_folder):
        with pytest.raises(KgdashError, match=said + r"Convert or rename it, or move it away"):
            read(tmp_path)
    folder_of(tmp_path, f"{split}.txt")
    assert [len(rows) for rows in load_dataset(tmp_path).splits.values()] == [2, 2, 2]


def test_an_evaluation_s_triples_may_be_either_s(tmp_path):
    folder_of(tmp_path, "train.tsv", "valid.tsv", "eval.txt")
    with pytest.raises(KgdashError, match=r"eval.txt, which may be its test triples"):
        load_dataset(tmp_path)


def test_two_spellings_are_refused(tmp_path):
    folder_of(tmp_path, "train.tsv", "Valid.tsv", "val.txt")
    with pytest.raises(KgdashError, match=r"several files for valid: Valid.tsv, val.txt; keep one"):
        load_dataset(tmp_path)


def test_links_that_lead_nowhere_are_refused(tmp_path):
    """As a checkout without its large files has them: such a split was empty."""
    folder_of(tmp_path, "train.tsv")
    os.symlink(tmp_path / "none", tmp_path / "valid.tsv")
    with pytest.raises(KgdashError, match=r"can not read .*valid.tsv: No such file"):
        load_dataset(tmp_path)


#: that others publish, beside train.txt
FOLDERS = {
    "LibKGE": "valid.txt test.txt train.del valid.del test.del dataset.yaml train.del-t.pckl",
    "OpenKE": "valid.txt test.txt train2id.txt valid2id.txt test2id.txt 1-1.txt type_constrain.txt "
    "test2id_all.txt new_test2id.txt",
    "SimKGC": "valid.txt test.txt train.txt.json valid.txt.json test.txt.json",
    "with negatives": "valid.txt test.txt test_negatives.tsv valid_neg.txt",
    "train alone": "train.log test.py train.txt.bak train.yaml eval.json dev.md valid.tsv.bak "
    "test.results.json test_negatives.tsv valid_neg.txt .valid.tsv.swp README.md test/ valid/ "
    "contest.tsv tested.tsv entity2id.txt",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_of_others_are_read(name, tmp_path):
    folder_of(tmp_path, "train.txt", *FOLDERS[name].split())
    sizes = [len(rows) for rows in load_dataset(tmp_path).splits.values()]
    assert sizes == ([2, 0, 0] if name == "train alone" else [2, 2, 2])
    assert find_split(tmp_path, "train") == tmp_path / "train.txt"
