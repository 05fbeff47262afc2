"""What is wrong is refused with one message, and nothing is left behind."""

import pickle
from pathlib import Path

import pytest
import torch

from tests.support.tiny_runs import altered_run, dataset_folder


def test_missing_directory(refused, tmp_path):
    assert "nothing" in refused("metrics", tmp_path / "nothing")
    assert "nothing" in refused("import", tmp_path / "nothing", tmp_path / "out")


def test_misspelt_run_is_told_the_nearest(refused):
    assert "did you mean 'umls-transe'" in refused("metrics", "umls-trans")


def test_pykeen_directory_without_its_dataset(refused, pykeen_directory):
    assert "--dataset" in refused("metrics", pykeen_directory)


def copy_with(pykeen_directory: Path, tmp_path: Path, model: bytes) -> Path:
    folder = tmp_path / "foreign"
    (folder / "training_triples").mkdir(parents=True)
    (folder / "trained_model.pkl").write_bytes(model)
    for path in (pykeen_directory / "training_triples").iterdir():
        (folder / "training_triples" / path.name).write_bytes(path.read_bytes())
    return folder


class MakesAFile:
    """What a hostile pickle would do when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize(("command", "archive"), [("metrics", True), ("import", False)])
def test_hostile_pickle_is_refused_and_does_not_run(
    refused, pykeen_directory, tmp_path, command, archive
):
    marker = tmp_path / "executed"
    torch.save({"model": MakesAFile(marker)}, tmp_path / "payload")
    content = (tmp_path / "payload").read_bytes()
    (tmp_path / "payload").unlink()
    content = content if archive else pickle.dumps({"model": MakesAFile(marker)})
    folder = copy_with(pykeen_directory, tmp_path, content)
    out = [tmp_path / "out"] if command == "import" else []
    assert "trained_model.pkl" in refused(command, folder, *out, "--dataset", "nations")
    assert not marker.exists()
    pickle.loads(pickle.dumps(MakesAFile(marker))).close()
    assert marker.exists(), "the payload would have worked"


def test_model_and_dataset_that_do_not_fit(refused, pykeen_directory, tmp_path):
    message = refused("import", pykeen_directory, tmp_path / "out", "--dataset", "umls")
    assert "14" in message
    assert "135" in message


def test_misspelt_dataset(refused, pykeen_directory):
    assert "did you mean 'nations'" in refused("metrics", pykeen_directory, "--dataset", "nation")


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("two.tsv", "virus\tcauses\n", "line 1"),
        ("unknown.tsv", "virus\tcauses\tvirusses\n", "did you mean 'virus'"),
    ],
)
def test_wrong_triples_file(refused, tmp_path, name, content, place):
    (tmp_path / name).write_text(content)
    out = tmp_path / "x.csv"
    message = refused("relik", "umls-transe", "--triples", tmp_path / name, "--out", out)
    assert name in message
    assert place in message


def test_missing_triples_file(refused, tmp_path):
    assert "nothing.tsv" in refused("relik", "umls-transe", "--triples", tmp_path / "nothing.tsv")


def test_empty_split(refused, call, tmp_path, run):
    data = dataset_folder(tmp_path / "data", train=run.graph.splits["train"][:200])
    options = ("--dataset", data, "--model", "TransE", "--dim", 4, "--epochs", 1)
    call("train", tmp_path / "mine", *options)
    for command in ("metrics", "relik"):
        assert "train (200)" in refused(command, tmp_path / "mine")
    assert "count" in call("metrics", tmp_path / "mine", "--split", "train")


def test_weights_that_are_not_numbers(refused, tmp_path):
    folder = altered_run(tmp_path / "nan", weights=lambda t: torch.full_like(t, torch.nan))
    message = refused("subgraph", folder, "--entity", "virus")
    assert "NaN" in message or "finite" in message


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (["metrics", "--k", 0], "0"),
        (["metrics", "--split", "dev"], "'dev'"),
        (["relik", "--split", "dev"], "'dev'"),
        (["relik", "--rank-type", "best"], "best"),
        (["subgraph", "--entity", "virusses"], "did you mean 'virus'"),
        (["subgraph", "--entity", "virus", "--restart", 1], "restart"),
        (["subgraph", "--entity", "virus", "--direction", "up"], "direction"),
        (["subgraph", "--entity", "virus", "--method", "neighbourhood", "--hops", 4], "hops"),
        (["queries", "--per-type", 0], "per type"),
        (["queries", "--hard", "very"], "very"),
        (["queries", "--over", "some triples"], "some triples"),
        (["queries", "--suspicious", "s.txt"], "s.txt"),
        (["rules", "--max-rules", 0], "rule"),
        (["rules", "--min-pca", 2], "2"),
        (["rules", "--seed", -1], "seed"),
        (["rules", "--table", "nothing.tsv"], "nothing.tsv"),
    ],
)
def test_arguments_out_of_range(refused, options, place):
    assert place in refused(options[0], "umls-transe", *options[1:])


def test_output_directory_exists(refused, pykeen_directory, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    options = ("--dataset", "nations")
    assert "exists" in refused("import", pykeen_directory, tmp_path / "out", *options)
    assert "exists" in refused("train", tmp_path / "out", *options, "--model", "TransE")


@pytest.mark.parametrize("command", [["metrics"], ["relik"], ["subgraph", "--entity", "virus"]])
def test_unknown_extension_of_the_output(refused, tmp_path, command, monkeypatch):
    monkeypatch.setattr("kgdash.runs.loading.load", lambda *_: pytest.fail("refuse before working"))
    message = refused(command[0], "umls-transe", *command[1:], "--out", tmp_path / "x.xlsx")
    assert "x.xlsx" in message
    assert ".csv" in message


def test_output_that_can_not_be_written(refused, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "x.csv" in refused("metrics", "umls-transe", "--out", tmp_path / "file" / "x.csv")


def test_split_and_triples_together(refused, tmp_path):
    (tmp_path / "t.tsv").write_text("virus\tcauses\tvirus\n")
    options = ("--split", "test", "--triples", tmp_path / "t.tsv")
    assert "not both" in refused("relik", "umls-transe", *options)
