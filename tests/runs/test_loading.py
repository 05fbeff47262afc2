"""From what a user names to a run."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import kgdash
from kgdash.errors import KgdashError
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.description import describe_run
from kgdash.runs.loading import assemble, load, weights_digest
from kgdash.scoring.model_spec import ModelSpec


def test_a_bundled_name(bundled):
    run = bundled("umls-transe")
    assert (run.name, run.spec.name, run.graph.name) == ("umls-transe", "TransE", "umls")
    assert (run.graph.num_entities, run.graph.num_relations) == (135, 46)
    assert not run.scorer.model.training
    assert run.provenance["source"] == "umls-transe"
    assert run.training["losses"]
    assert run.notes == ()


#: the bundled runs of UMLS; the other one has tests of its own
UMLS = [name for name in bundled_names() if name.startswith("umls-")]


@pytest.mark.parametrize("name", UMLS)
def test_every_run_of_umls_has_the_papers_dimension(bundled, name):
    run = bundled(name)
    assert run.graph.digest == bundled("umls-transe").graph.digest
    assert run.spec.kwargs["embedding_dim"] == 50
    assert run.spec.create_inverse_triples == (run.spec.name == "ConvE")


def test_bundled_runs_are_listed_without_their_models():
    rows = [describe_run(name, DEMO / name) for name in bundled_names()]
    assert [row["name"] for row in rows] == bundled_names()
    assert {row["model"] for row in rows} == {
        "TransE",
        "DistMult",
        "RotatE",
        "PairRE",
        "ComplEx",
        "ConvE",
    }
    for row in rows:
        is_umls = row["name"] in UMLS
        assert row["graph"] == ("umls" if is_umls else "FB15k-237")
        assert row["dimension"] == (50 if is_umls else 64)
        assert 0 < row["mrr"] <= row["hits_at_10"] <= 1


def test_a_copy_scores_and_digests_alike(bundled, tmp_path):
    shutil.copytree(DEMO / "umls-transe", tmp_path / "copy")
    run, original = load(tmp_path / "copy"), bundled("umls-transe")
    assert run.name == "copy"
    assert run.digest == original.digest
    pairs = torch.tensor([[0, 1], [5, 2]])
    assert torch.equal(run.scorer.score_tails(pairs), original.scorer.score_tails(pairs))


def test_the_folder_one_stands_in_has_a_name(tmp_path, monkeypatch):
    shutil.copytree(DEMO / "umls-transe", tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    assert load(".").name == "copy"


def test_runs_have_their_own_digests(bundled):
    names = bundled_names()
    assert len({bundled(name).digest for name in names}) == len(names)


class TestRefusals:
    def test_unknown(self):
        with pytest.raises(
            KgdashError, match=r"unknown run 'umls-trans' .*did you mean 'umls-transe'"
        ):
            load("umls-trans")

    @pytest.mark.parametrize("source", ["", " "])
    def test_nothing_is_not_the_folder_one_stands_in(self, tmp_path, monkeypatch, source):
        shutil.copytree(DEMO / "umls-transe", tmp_path / "copy")
        monkeypatch.chdir(tmp_path / "copy")
        with pytest.raises(KgdashError, match="expected the name or the folder of a run; found an"):
            load(source)

    def test_a_path_that_leads_nowhere(self):
        with pytest.raises(KgdashError, match=r"^There is no folder /nope/nothing\.$"):
            load("/nope/nothing")

    def test_dataset_beside_a_safe_form(self):
        with pytest.raises(KgdashError, match="holds its own graph; leave the dataset out"):
            load("umls-transe", "umls")

    def test_another_folder(self, tmp_path):
        (tmp_path / "readme").write_text("")
        with pytest.raises(KgdashError, match=r"is not a run: expected run.json .*found readme"):
            load(tmp_path)
        (tmp_path / "readme").unlink()
        with pytest.raises(KgdashError, match="found nothing"):
            load(tmp_path)

    def test_a_file(self):
        with pytest.raises(KgdashError, match=r"run.json is a file; give the directory"):
            load(DEMO / "umls-transe" / "run.json")


def test_weights_digest_follows_every_part():
    spec = ModelSpec("TransE", {"embedding_dim": 2})
    state = {"a": torch.zeros(2, 2), "b": torch.tensor(3)}
    digests = [
        weights_digest(spec, state),
        weights_digest(ModelSpec("TransE", {"embedding_dim": 3}), state),
        weights_digest(spec, {**state, "a": torch.zeros(4)}),
        weights_digest(spec, {**state, "a": torch.zeros(2, 2, dtype=torch.int32)}),
        weights_digest(spec, {**state, "a": torch.ones(2, 2)}),
        weights_digest(spec, {"c": state["a"], "b": state["b"]}),
        weights_digest(spec, {"a": state["a"]}),
    ]
    assert len(set(digests)) == len(digests)
    assert weights_digest(spec, dict(reversed(state.items()))) == digests[0]
    # What counts is the content, not how it lies in memory.
    turned = {**state, "a": torch.tensor([[0.0, 1], [2, 3]]).T}
    assert weights_digest(spec, turned) == weights_digest(
        spec, {**state, "a": turned["a"].contiguous()}
    )


def test_the_package_names_what_readers_of_the_readme_use():
    assert kgdash.load is load
    assert kgdash.Run.__name__ == "Run"
    assert kgdash.metrics.__name__ == "metrics"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kgdash.nothing  # noqa: B018
    assert Path(kgdash.__file__).parent == DEMO.parent


def test_test_triples_of_train_are_told(bundled, tmp_path):
    run = bundled("umls-transe")
    train = run.graph.splits["train"]
    splits = {**run.graph.splits, "valid": train[80:95], "test": train[:90]}
    graph = replace(run.graph, splits=splits)
    state = run.scorer.model.state_dict()
    copied = assemble("copy", graph, run.spec, state, {}, {})
    held = "not held out, they tell what was learnt, and not what is predicted"
    assert copied.notes[-3:] == (
        f"15 of 15 valid triples are train triples, too: {held}",
        f"90 of 90 test triples are train triples, too: {held}",
        "10 of 90 test triples are valid triples, too: what is fitted or chosen on valid looks "
        "better than it is",
    )
    assert not any("held out" in note for note in run.notes)
