"""PyKEEN's pickles: read without running them, rebuilt exactly, or refused with a reason."""

import copy
from functools import partial
from itertools import combinations

import pytest
import torch
from pykeen.models import TransE, model_resolver
from pykeen.regularizers import LpRegularizer

from kgdash.formats.pickled_modules import walk_modules
from kgdash.formats.pickled_structure import describe
from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.formats.run_directory import read_run, write_run
from kgdash.formats.torch_archive import read_inert
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


def embedding(model):
    return model.entity_representations[0]._embeddings


def called_first(model):
    """Give the model a part whose name is the path of another."""
    parts = model._modules
    dotted = {"relation_representations.0": model.relation_representations[0]}
    model._modules = dotted | parts


def dropout(model, **state):
    model.entity_representations[0].dropout = torch.nn.Dropout(0.1)
    model.entity_representations[0].dropout.__dict__.update(state)


def regularizer(model, kind, name):
    part = model.entity_representations[0]
    part.__dict__.pop("regularizer", None)
    part._modules["regularizer"] = kind
    kind.__dict__[name] = torch.nn.init.zeros_


def hooked(model):
    dropout(model)
    model.entity_representations[0].dropout.register_forward_hook(torch.nn.init.zeros_)


#: changes after which PyKEEN scored otherwise than what was read
SHADOWS = {
    "a tensor beside the parameter": (
        lambda m: embedding(m).__dict__.update(weight=torch.zeros(ENTITIES, DIM)),
        "entity_representations.0._embeddings has a part 'weight'",
    ),
    "a path as a name": (called_first, "the model has a part 'relation_representations.0'"),
    "no name": (lambda m: m._modules.update({"": None}), "the model has a part ''"),
    "a number as a name": (lambda m: m.__dict__.update({1: 2}), "the model has a part 1"),
    "a method": (
        lambda m: setattr(m, "forward", torch.nn.init.zeros_),
        "the model has a part 'forward'",
    ),
    "a method of a dropout": (
        lambda m: dropout(m, forward=torch.nn.Softmin(dim=-1)),
        "entity_representations.0.dropout has a part 'forward'",
    ),
    "what a dropout has besides": (lambda m: dropout(m, x=1), "dropout.x: file 1, rebuilt nothing"),
    "a dropout's hook": (hooked, "dropout._forward_hooks"),
    "a method of the loss": (
        lambda m: m.loss.__dict__.update(
            train=partial(torch.nn.init.constant_, embedding(m).weight)
        ),
        "loss has a part 'train'",
    ),
    "a method of a regularizer": (
        lambda m: regularizer(m, LpRegularizer(), "update"),
        "entity_representations.0.regularizer has a part 'update'",
    ),
    "another regularizer": (
        lambda m: regularizer(m, torch.nn.ReLU(), "other"),
        "entity_representations.0.regularizer: found torch.nn.modules.activation.ReLU",
    ),
    "a regularizer that is no part": (
        lambda m: m.entity_representations[0].__dict__.update(regularizer=torch.nn.ReLU()),
        "regularizer: file torch.nn.modules.activation.ReLU, rebuilt nothing",
    ),
    "a part that is none": (
        lambda m: m._modules.update(interaction=torch.nn.ReLU),
        "interaction: found torch.nn.modules.activation.ReLU",
    ),
}


@pytest.mark.parametrize("change", SHADOWS)
def test_what_stands_before_what_is_read_is_refused(change, tmp_path):
    model = make("DistMult")
    shadow, message = SHADOWS[change]
    shadow(model)
    assert message in refusal(save(model, tmp_path / "m.pkl"))


def test_names_of_nested_values_are_not_taken_for_paths(tmp_path):
    """By its path {"a.b": 1} was {"a": {"b": 1}}."""
    said = []
    for value in ({"a": {}, "a.b": 1}, {"a": {"b": 1}}, {"a": {"1": 1}}, {"a": {1: 1}}):
        model = make("UM")
        model.interaction.extra = value
        said.append(refusal(save(model, tmp_path / "m.pkl")))
        root, _ = read_inert(tmp_path / "m.pkl")
        said[-1] = describe(list(walk_modules(root, "x")), "x")
    assert all(one != other for one, other in combinations(said, 2))


def test_models_that_were_read_changed_and_written_again_are_read(tmp_path):
    model = make("ConvE", True)
    path = save(model.half().float(), tmp_path / "m.pkl", protocol=2)
    again = copy.deepcopy(torch.load(path, weights_only=False))
    assert_same_scores(save(again.train(), path), model)
    dropout(again, p=0.7, inplace=True)
    assert_same_scores(save(again, path), model)


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
