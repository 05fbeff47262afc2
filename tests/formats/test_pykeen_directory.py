"""Directories as PyKEEN's ``PipelineResult.save_to_directory`` writes them."""

import gzip
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pykeen.datasets import Nations
from pykeen.pipeline import PipelineResult, pipeline
from pykeen.triples import TriplesFactory

from kgdash.errors import KgdashError
from kgdash.formats import pykeen_directory
from kgdash.graph.datasets import load_dataset
from kgdash.ranking.metrics import metrics
from kgdash.runs import loading
from kgdash.runs.loading import convert, load

OPTIONS = {
    "training_kwargs": {"num_epochs": 1, "batch_size": 256, "use_tqdm": False},
    "evaluation_kwargs": {"use_tqdm": False, "batch_size": 64},
    "random_seed": 0,
}


def save(result: PipelineResult, folder: Path) -> SimpleNamespace:
    result.save_to_directory(folder)
    return SimpleNamespace(folder=folder, model=result.model.eval(), result=result)


@pytest.fixture(scope="module")
def transe(tmp_path_factory):
    """Train on Nations by name; entities are numbered in sorted order."""
    result = pipeline(
        dataset="nations", model="TransE", model_kwargs={"embedding_dim": 6}, **OPTIONS
    )
    return save(result, tmp_path_factory.mktemp("pykeen") / "transe")


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """Train ConvE, with inverse triples, on entities and relations numbered the other way round."""
    nations = Nations()
    ids = [
        {name: len(names) - 1 - number for number, name in enumerate(sorted(names))}
        for names in (nations.training.entity_to_id, nations.training.relation_to_id)
    ]
    factories = {
        split: TriplesFactory.from_path(
            path,
            entity_to_id=ids[0],
            relation_to_id=ids[1],
            create_inverse_triples=split == "training",
        )
        for split, path in (
            ("training", nations.training_path),
            ("validation", nations.validation_path),
            ("testing", nations.testing_path),
        )
    }
    result = pipeline(
        **factories,
        model="ConvE",
        model_kwargs={"embedding_dim": 12, "output_channels": 4},
        **OPTIONS,
    )
    return save(result, tmp_path_factory.mktemp("pykeen") / "turned")


@pytest.fixture
def copy(transe, tmp_path):
    """Return a copy of the TransE directory, to be changed."""
    return Path(shutil.copytree(transe.folder, tmp_path / "copy"))


@pytest.fixture
def dataset_folder(tmp_path):
    """Return Nations as a folder."""
    folder, nations = tmp_path / "mine", Nations()
    folder.mkdir()
    for split, path in (
        ("train", nations.training_path),
        ("valid", nations.validation_path),
        ("test", nations.testing_path),
    ):
        shutil.copy(path, folder / f"{split}.txt")
    return folder


def assert_scores_equal(run, model):
    pairs = torch.cartesian_prod(torch.arange(14), torch.arange(55))
    with torch.inference_mode():
        assert torch.equal(run.scorer.model.predict_t(pairs), model.predict_t(pairs))
        assert torch.equal(
            run.scorer.model.predict_h(pairs.flip(1)), model.predict_h(pairs.flip(1))
        )


def write_gz(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write(text)


class TestLoading:
    def test_with_the_dataset_by_name(self, transe):
        run = load(transe.folder, "nations")
        assert_scores_equal(run, transe.model)
        assert run.name == "transe"
        assert run.notes == ()
        assert run.training["losses"] == pytest.approx(transe.result.losses)
        assert run.provenance["dataset"] == "nations"
        assert run.graph.entities == tuple(sorted(Nations().training.entity_to_id))

    def test_metrics_equal_what_pykeen_reported(self, transe):
        found = metrics(load(transe.folder, "nations").ranks()).values()
        for key in ("inverse_harmonic_mean_rank", "hits_at_10", "arithmetic_mean_rank"):
            assert found[key] == pytest.approx(transe.result.get_metric(key), rel=1e-5)

    def test_with_the_dataset_as_a_folder(self, transe, dataset_folder):
        run = load(transe.folder, dataset_folder)
        assert_scores_equal(run, transe.model)
        assert run.graph.name == "mine"
        assert run.digest == load(transe.folder, "nations").digest

    @pytest.mark.parametrize("by_folder", [False, True])
    def test_names_numbered_otherwise_than_the_dataset(self, turned, dataset_folder, by_folder):
        run = load(turned.folder, dataset_folder if by_folder else "nations")
        plain = load_dataset("nations")
        assert run.graph.entities == plain.entities[::-1]
        assert run.graph.relations == plain.relations[::-1]
        assert run.spec.create_inverse_triples
        assert run.notes == ()
        assert_scores_equal(run, turned.model)
        found = metrics(run.ranks()).value("mrr")
        assert found == pytest.approx(turned.result.get_metric("mrr"), rel=1e-5)

    def test_without_the_training_triples(self, copy, transe):
        shutil.rmtree(copy / "training_triples")
        run = load(copy, "nations")
        assert len(run.notes) == 1
        assert "no training_triples/entity_to_id.tsv.gz" in run.notes[0]
        assert "sorted order" in run.notes[0]
        assert_scores_equal(run, transe.model)

    def test_base_pth_and_metadata_are_never_opened(self, copy, transe):
        (copy / "training_triples" / "base.pth").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
        (copy / "metadata.json").write_bytes(b"{")
        assert_scores_equal(load(copy, "nations"), transe.model)

    def test_names_with_quotation_marks(self, copy, tmp_path):
        """PyKEEN writes names with pandas, which quotes those that hold quotation marks."""
        graph = load_dataset("nations")
        strange = {"usa": 'the "usa"', "cuba": '"cuba"', "uk": '"'}
        names = [strange.get(name, name) for name in graph.entities]
        folder = tmp_path / "strange"
        folder.mkdir()
        for split, ids in graph.splits.items():
            rows = ["\t".join((names[h], graph.relations[r], names[t])) for h, r, t in ids]
            (folder / f"{split}.tsv").write_text("\n".join(rows))
        factory = TriplesFactory(
            torch.from_numpy(graph.splits["train"]),
            {name: number for number, name in enumerate(names)},
            {name: number for number, name in enumerate(graph.relations)},
        )
        factory.to_path_binary(copy / "training_triples")
        run = load(copy, folder)
        assert run.graph.entities == tuple(names)
        assert run.notes == ()


class TestNotes:
    def test_other_training_triples(self, copy):
        """Half of train, and a test triple: the figures on it flatter the model."""
        graph = load_dataset("nations")
        rows = np.concatenate([graph.splits["train"][:700], graph.splits["test"][:3]])
        text = "\n".join("\t".join(map(str, row)) for row in rows.tolist())
        write_gz(
            copy / "training_triples" / "numeric_triples.tsv.gz", "head\trelation\ttail\n" + text
        )
        (note,) = load(copy, "nations").notes
        assert "trained on 703 triples, of which 700 are in" in note
        assert "(1,592 triples), 0 in valid and 3 in test; values on those flatter it" in note

    def test_a_subset_of_the_dataset(self, transe, dataset_folder):
        lines = (dataset_folder / "train.txt").read_text().splitlines()
        kept = [line for number, line in enumerate(lines) if number % 20]
        (dataset_folder / "train.txt").write_text("\n".join(kept))
        (note,) = load(transe.folder, dataset_folder).notes
        assert f"trained on 1,592 triples, of which {len(kept):,} are in" in note

    def test_triples_left_out(self, transe, dataset_folder):
        with (dataset_folder / "test.txt").open("a") as stream:
            stream.write("usa\tembassy\tatlantis\n")
        (note,) = load(transe.folder, dataset_folder).notes
        assert note.startswith("1 test triples left out")

    def test_training_triples_by_other_numbers_than_sorted_names(self, turned, tmp_path):
        """An MRR of 0.279 for 0.475, with a note that the model was trained on other triples."""
        copy = Path(shutil.copytree(turned.folder, tmp_path / "copy"))
        for kind in ("entity", "relation"):
            (copy / "training_triples" / f"{kind}_to_id.tsv.gz").unlink()
        with pytest.raises(
            KgdashError, match=r"in sorted order [\d,]+ of 1,592 triples are none of .* nations"
        ):
            load(copy, "nations")

    def test_training_triples_by_the_numbers_of_sorted_names(self, copy, transe):
        for kind in ("entity", "relation"):
            (copy / "training_triples" / f"{kind}_to_id.tsv.gz").unlink()
        run = load(copy, "nations")
        assert ["sorted order" in note for note in run.notes] == [True]
        assert_scores_equal(run, transe.model)

    @pytest.mark.parametrize("with_results", [True, False])
    def test_tell_of_a_model_that_an_older_pykeen_scores_otherwise(self, tmp_path, with_results):
        """Versions 1.10.2 and 1.11 write the same TransH; by the latter's formula 0.53 was 0.25."""
        options = {"model": "TransH", "model_kwargs": {"embedding_dim": 6}} | OPTIONS
        trained = save(pipeline(dataset="nations", **options), tmp_path / "saved")
        results = trained.folder / "results.json"
        found = json.loads(results.read_text())["metrics"]["both"]["realistic"]
        said = f"results.json tells an MRR of {found['inverse_harmonic_mean_rank']:.3f}"
        if not with_results:
            results.unlink()
            said = "with what PyKEEN found"
        run = load(trained.folder, "nations")
        (note,) = run.notes
        assert said in note
        assert_scores_equal(run, trained.model)

    def test_survive_import(self, copy, tmp_path):
        shutil.rmtree(copy / "training_triples")
        notes = load(copy, "nations").notes
        assert load(convert(copy, tmp_path / "safe", "nations")).notes == notes

    def test_the_dataset_is_found_wherever_the_run_is_opened(
        self, transe, dataset_folder, tmp_path, monkeypatch
    ):
        monkeypatch.chdir(dataset_folder.parent)
        convert(transe.folder, tmp_path / "safe", dataset_folder.name)
        for run in (load(transe.folder, dataset_folder.name), load(tmp_path / "safe")):
            assert run.provenance["dataset"] == str(dataset_folder.resolve())


class TestRefusals:
    def test_no_dataset(self, transe):
        with pytest.raises(KgdashError, match=r"give the dataset.*--dataset umls"):
            load(transe.folder)

    def test_the_wrong_dataset(self, transe):
        with pytest.raises(KgdashError) as caught:
            load(transe.folder, "umls")
        text = str(caught.value)
        assert "was trained on 14 entities, dataset umls has 135 in its training triples" in text
        assert "14 only in the model (such as 'brazil', 'burma', 'china')" in text
        assert "135 only in it (such as 'acquired_abnormality'" in text

    def test_the_wrong_dataset_without_names_to_compare(self, copy):
        shutil.rmtree(copy / "training_triples")
        with pytest.raises(KgdashError, match="weights are for 55 relations, the graph has 46"):
            load(copy, "umls")

    def test_a_dataset_that_lacks_an_entity(self, transe, dataset_folder):
        lines = (dataset_folder / "train.txt").read_text().splitlines()
        kept = [line for line in lines if "cuba" not in line.split("\t")]
        (dataset_folder / "train.txt").write_text("\n".join(kept))
        with pytest.raises(KgdashError, match=r"1 only in the model \(such as 'cuba'\)\. Give"):
            load(transe.folder, dataset_folder)

    def test_an_unknown_dataset(self, transe):
        with pytest.raises(KgdashError, match="unknown dataset 'nation'"):
            load(transe.folder, "nation")

    @pytest.mark.parametrize("text", ["{", "", "\x00", "[" * 100_000])
    def test_results_that_are_no_json(self, copy, text):
        (copy / "results.json").write_text(text)
        with pytest.raises(KgdashError, match=r"results.json is not readable JSON .*remove it"):
            load(copy, "nations")

    @pytest.mark.parametrize("value", [[], {"losses": "low"}, {"losses": [1, "x"]}, {}])
    def test_results_without_losses_are_no_obstacle(self, copy, value):
        (copy / "results.json").write_text(json.dumps(value))
        assert load(copy, "nations").training == {}
        (copy / "results.json").unlink()
        assert load(copy, "nations").training == {}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("id\tlabel\n0\tbrazil\n2\tburma\n", "expected ids 0, 1, 2, … without gaps"),
            ("id\tlabel\n", "expected ids 0, 1, 2"),
            ("id\tlabel\nx\tbrazil\n", r"expected 2 columns id, label; found x, brazil .*line 2\)"),
            ("id\tlabel\n²\tbrazil\n", "expected 2 columns id, label; found ²"),
            ("id\tlabel\n-1\tbrazil\n", "found -1"),
            ("0\n", r"found 0 .*line 1\)"),
            ("9" * 5000 + "\tbrazil\n", "expected 2 columns id, label"),
            ("0\tbrazil\n0\tchina\n", r"id 0 stands twice \(.*line 2\)"),
            ("0\tbrazil\n1\t brazil \n", "'brazil' stands twice, blanks around names left out"),
        ],
    )
    def test_names_that_are_no_table(self, copy, text, message):
        write_gz(copy / "training_triples" / "entity_to_id.tsv.gz", text)
        with pytest.raises(KgdashError, match=message):
            load(copy, "nations")

    @pytest.mark.parametrize("kind", ["entity", "relation"])
    def test_one_list_of_names_without_the_other(self, copy, kind):
        """Both were taken in sorted order: an MRR of 0.417 for 0.545."""
        (copy / "training_triples" / f"{kind}_to_id.tsv.gz").unlink()
        with pytest.raises(KgdashError, match=rf"_to_id.tsv.gz has no {kind}_to_id.tsv.gz.*copy"):
            load(copy, "nations")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1\t2\n", r"expected 3 ids; found 1, 2 \(.*numeric_triples.tsv.gz, line 1\)"),
            ("1\t2\tx\n", "expected 3 ids; found 1, 2, x"),
            ("1\t2\t" + "9" * 30 + "\n", "expected 3 ids"),
            ("0\t0\t14\n", r"numeric_triples.tsv.gz: triple 0 has ids \(0, 0, 14\), outside"),
            ("head\trelation\ttail\n", "holds no triples"),
        ],
    )
    def test_training_triples_that_are_no_table(self, copy, text, message):
        write_gz(copy / "training_triples" / "numeric_triples.tsv.gz", text)
        with pytest.raises(KgdashError, match=message):
            load(copy, "nations")

    def test_more_names_than_any_dataset_has(self, copy, monkeypatch):
        # Of packed files they took a gigabyte for 11 MB, before they were compared.
        monkeypatch.setattr(pykeen_directory, "_FEW", 10)
        text = "".join(f"{number}\tx\n" for number in range(4 * 14 + 1))
        write_gz(copy / "training_triples" / "entity_to_id.tsv.gz", text)
        with pytest.raises(KgdashError, match="holds over 56 names, the dataset 14"):
            load(copy, "nations")

    def test_more_training_triples_than_any_dataset_has(self, copy, monkeypatch):
        monkeypatch.setattr(pykeen_directory, "_FEW", 10)
        text = "0\t0\t1\n" * (4 * 1_992 + 1)
        write_gz(copy / "training_triples" / "numeric_triples.tsv.gz", text)
        with pytest.raises(KgdashError, match="holds over 7,968 triples, dataset nations 1,992"):
            load(copy, "nations")

    def test_a_model_file_that_is_none(self, copy):
        (copy / "trained_model.pkl").write_bytes(b"garbage")
        with pytest.raises(KgdashError, match=r"trained_model.pkl"):
            load(copy, "nations")


class TestImport:
    def test_ranks_are_the_same(self, turned, tmp_path):
        safe = convert(turned.folder, tmp_path / "safe", "nations")
        one, other = load(turned.folder, "nations"), load(safe)
        assert one.digest == other.digest
        for split in ("test", "valid"):
            assert one.ranks(split).equals(other.ranks(split))
        assert one.relik().equals(other.relik())
        assert other.training["losses"] == one.training["losses"]
        assert other.provenance["imported_from"] == "turned"
        assert os.listdir(tmp_path) == ["safe"]

    def test_nothing_that_could_run_is_copied(self, transe, tmp_path):
        safe = convert(transe.folder, tmp_path / "safe", "nations")
        assert {p.suffix for p in safe.rglob("*")} == {".json", ".safetensors"}

    def test_out_exists(self, transe, tmp_path):
        (tmp_path / "safe").mkdir()
        with pytest.raises(KgdashError, match="safe exists already"):
            convert(transe.folder, tmp_path / "safe", "nations")
        assert os.listdir(tmp_path / "safe") == []

    @pytest.mark.parametrize(
        ("dataset", "message"), [("umls", "14 only in the model"), (None, "give the dataset")]
    )
    def test_what_is_refused_leaves_nothing(self, transe, tmp_path, dataset, message):
        with pytest.raises(KgdashError, match=message):
            convert(transe.folder, tmp_path / "safe", dataset)
        assert os.listdir(tmp_path) == []

    def test_a_model_that_can_not_be_built_leaves_nothing(self, transe, tmp_path, monkeypatch):
        def fail(*args, **kwargs):
            raise KgdashError("no")

        monkeypatch.setattr(loading, "build_model", fail)
        with pytest.raises(KgdashError, match="no"):
            convert(transe.folder, tmp_path / "safe", "nations")
        assert os.listdir(tmp_path) == []

    def test_not_a_pykeen_directory(self, tmp_path):
        with pytest.raises(KgdashError, match="is not a PyKEEN directory: expected trained_model"):
            convert(tmp_path, tmp_path / "safe", "nations")
