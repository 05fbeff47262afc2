"""PyKEEN's pickles: read without running them, rebuilt exactly, or refused with a reason."""

import pytest
import torch
from pykeen.models import TransE, model_resolver

from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.formats.run_directory import read_run, write_run
from tests.support.fakes import make_graph
from tests.support.pickled_models import (
    DIM,
    ENTITIES,
    FACTORIES,
    TRAINING,
    assert_same_scores,
    make,
    refusal,
    save,
)

# Models that can be read

CONFIGURATIONS = [
    ("TransE", False, {"scoring_fct_norm": 1}),
    ("TransE", False, {"scoring_fct_norm": 2}),
    ("TransE", True, {"power_norm": True}),
    ("TransE", False, {"loss": "nssa", "regularizer": "lp"}),
    ("DistMult", False, {}),
    ("DistMult", True, {"predict_with_sigmoid": True}),
    ("RotatE", False, {}),
    ("PairRE", False, {}),
    ("PairRE", False, {"p": 2}),
    ("ComplEx", False, {}),
    ("ConvE", True, {}),
    ("ConvE", True, {"embedding_height": 2, "embedding_width": 6, "output_channels": 4}),
    ("ConvE", True, {"apply_batch_normalization": False, "kernel_width": 2, "input_dropout": 0}),
    ("ConvE", True, {"input_channels": 2, "embedding_height": 2, "kernel_height": 2}),
    ("SimplE", False, {"clamp_score": 0.01}),
    ("RESCAL", False, {}),
    ("TuckER", False, {"relation_dim": 5}),
    ("TuckER", False, {"apply_batch_normalization": False}),
    ("HolE", False, {}),
    ("TransH", False, {}),
    ("TransR", False, {"relation_dim": 5, "max_projection_norm": 2.0}),
    ("TransD", False, {"relation_dim": 5}),
    ("TransF", False, {}),
    ("KG2E", False, {"dist_similarity": "ExpectedLikelihood"}),
    ("ProjE", False, {"inner_non_linearity": "relu"}),
    ("ERMLP", False, {"hidden_dim": 5, "activation": "tanh"}),
    ("ERMLPE", False, {"hidden_dim": 5}),
    ("NTN", False, {"num_slices": 2}),
    ("QuatE", False, {}),
    ("CP", False, {"rank": 3}),
    ("CrossE", False, {"combination_activation": "relu", "combination_dropout": None}),
    ("MuRE", False, {"p": 1}),
    ("TorusE", False, {"p": 1}),
    ("BoxE", False, {"p": 1, "tanh_map": False}),
    ("AutoSF", False, {}),
    ("DistMA", False, {}),
    ("SE", False, {}),
    ("UM", False, {}),
    ("ConvKB", False, {"num_filters": 3}),
    ("FixedModel", False, {}),
    ("RGCN", False, {"activation": "relu", "use_bias": False, "decomposition": "block"}),
    ("CompGCN", True, {}),
    ("NodePiece", True, {"num_tokens": 3}),
]


@pytest.mark.parametrize(("name", "inverse", "kwargs"), CONFIGURATIONS)
def test_scores_are_the_original_ones_bit_for_bit(name, inverse, kwargs, tmp_path):
    model = make(name, inverse, **kwargs)
    assert_same_scores(save(model, tmp_path / "trained_model.pkl"), model)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_other_protocols_are_read(protocol, tmp_path):
    model = make("DistMult", True)
    assert_same_scores(save(model, tmp_path / "m.pkl", protocol), model)


def test_model_that_was_scored_with_keeps_no_cache(tmp_path):
    model = make("CompGCN", True)
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    assert_same_scores(save(model, tmp_path / "m.pkl"), model)


# Models that cannot be rebuilt exactly


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("PairRE", {"entity_normalizer": None}, "normalizer: file None, rebuilt functools.partial"),
        ("TorusE", {"entity_normalizer": "normalize"}, "normalizer: file torch.nn.functional"),
    ],
)
def test_setting_that_no_argument_expresses(name, kwargs, message, tmp_path):
    path = save(make(name, **kwargs), tmp_path / "m.pkl")
    assert message in refusal(path)


def test_changed_attributes_are_refused(tmp_path):
    model = make("TransH")
    model.interaction.p = 3.5
    model.interaction.power_norm = "yes"
    assert "power_norm" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("RotatE")
    model.interaction.p = 1
    assert "interaction.p: file 1, rebuilt 2" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.interaction.extra = torch.nn.ReLU()
    assert "interaction.extra" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("ConvE", True)
    model.interaction.hr2d[3].eps = 0.5
    assert "hr2d.3.eps: file 0.5, rebuilt 1e-05" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.forward = torch.nn.init.zeros_
    assert "forward: file torch.nn.init.zeros_" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.interaction.register_forward_hook(torch.nn.init.zeros_)
    assert "_forward_hooks" in refusal(save(model, tmp_path / "m.pkl"))


@pytest.mark.parametrize(
    ("name", "parts"),
    [("PairRE", "relation_representations"), ("ERMLPE", "interaction.mlp")],
)
def test_parts_that_are_called_in_another_order_are_refused(name, parts, tmp_path):
    """By their names they were the same, and scored as another model."""
    model = make(name)
    container = model.get_submodule(parts)
    container._modules = dict(reversed(container._modules.items()))
    assert f"{parts}: file torch.nn.modules.container." in refusal(save(model, tmp_path / "m.pkl"))


def test_wrapped_models_are_refused_by_the_class_that_is_in_the_way(tmp_path):
    model = model_resolver.lookup("CooccurrenceFilteredModel")(
        triples_factory=FACTORIES[False], embedding_dim=DIM
    )
    assert "refused: scipy.sparse" in refusal(save(model, tmp_path / "m.pkl"))


def test_other_things_than_models(tmp_path):
    model = make("TransE")
    path = tmp_path / "m.pkl"
    assert "bare weights or a checkpoint" in refusal(save(model.state_dict(), path))
    assert "bare weights or a checkpoint" in refusal(save({"epoch": 3}, path))
    assert "found list" in refusal(save([1, 2], path))
    assert "found torch._utils._rebuild_tensor_v2" in refusal(save(torch.zeros(2), path))
    assert "found torch.nn.modules.activation.ReLU" in refusal(save(torch.nn.ReLU(), path))
    assert "found pykeen.nn.modules.TransEInteraction" in refusal(save(model.interaction, path))


def test_views_and_complex_numbers_are_read(tmp_path):
    model = TransE(triples_factory=FACTORIES[False], embedding_dim=DIM).eval()
    embeddings = model.entity_representations[0]._embeddings
    embeddings.weight = torch.nn.Parameter(torch.rand(DIM, ENTITIES + 2).t()[1:-1])
    assert not embeddings.weight.is_contiguous()
    save(model, tmp_path / "m.pkl")
    # PyKEEN itself scores with contiguous weights only.
    embeddings.weight = torch.nn.Parameter(embeddings.weight.detach().contiguous())
    assert_same_scores(tmp_path / "m.pkl", model)
    embeddings.weight = torch.nn.Parameter(torch.rand(ENTITIES, DIM) * 1j)
    found = read_pickled_model(save(model, tmp_path / "m.pkl"))
    assert found.state["entity_representations.0._embeddings.weight"].is_complex()


def test_parts_that_are_one_and_the_same_are_read_and_written_but_not_without_end(
    tmp_path, monkeypatch
):
    """250 KB of 64 components, one embedding named 64 times, took 3.3 GB."""
    model = make("AutoSF", num_components=4)
    for parts in (model.entity_representations, model.relation_representations):
        for number in range(1, 4):
            parts[number] = parts[0]
    path = save(model, tmp_path / "model.pkl")
    found = read_pickled_model(path)
    graph = make_graph(TRAINING, entities=found.num_entities, relations=found.num_relations)
    out = write_run(tmp_path / "run", graph, found.spec, found.state, {}, {})
    for name, tensor in read_run(out)[2].items():
        assert torch.equal(tensor, found.state[name])
    monkeypatch.setattr("kgdash.formats.pykeen_model_file._SHARED", 0)
    assert "the same numbers again" in refusal(path)
