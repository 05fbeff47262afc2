"""Models rebuilt from configuration and weights: the same scores, or a refusal that says why."""

import copy
import json
import random

import numpy as np
import pytest
import torch
from pykeen.datasets import Nations
from pykeen.models import (
    RGCN,
    CompGCN,
    ConvE,
    DistMult,
    FixedModel,
    Model,
    NodePiece,
    RotatE,
    TransE,
)
from safetensors.torch import load_file, save_file

from kgdash.errors import KgdashError
from kgdash.runs.loading import weights_digest
from kgdash.scoring import build_model as build_model_module
from kgdash.scoring import reckoned_memory
from kgdash.scoring.build_model import (
    ModelSpec,
    build_model,
    is_train_only,
    scoring_state,
)
from kgdash.scoring.model_spec import ARGUMENTS, OwnWeights, constructor_arguments, model_class

ENTITIES, RELATIONS, WHERE = 14, 55, "runs/nations"
TRAINING = Nations().training.mapped_triples.numpy()
TRANSE = ModelSpec("TransE", {"embedding_dim": 8, "scoring_fct_norm": 2})


def original(cls: type[Model], inverse: bool = False, **kwargs) -> Model:
    factory = Nations(create_inverse_triples=inverse).training
    model = cls(triples_factory=factory, random_seed=0, **kwargs)
    return model.eval()


def rebuild(spec: ModelSpec, state: dict, entities: int = ENTITIES, relations: int = RELATIONS):
    return build_model(spec, TRAINING, entities, relations, state, WHERE)


@pytest.fixture
def state() -> dict[str, torch.Tensor]:
    return scoring_state(original(TransE, embedding_dim=8, scoring_fct_norm=2))


@pytest.mark.parametrize(
    ("cls", "kwargs", "inverse"),
    [
        (TransE, {"embedding_dim": 8, "scoring_fct_norm": 2}, False),
        (DistMult, {"embedding_dim": 8}, True),
        (RotatE, {"embedding_dim": 8}, False),
        (ConvE, {"embedding_dim": 12, "output_channels": 4}, True),
        (CompGCN, {"embedding_dim": 8}, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_scores_survive_safetensors_bit_for_bit(cls, kwargs, inverse, tmp_path):
    model = original(cls, inverse, **kwargs)
    save_file(scoring_state(model), tmp_path / "weights.safetensors")
    written = json.loads(json.dumps(ModelSpec(cls.__name__, kwargs, inverse).to_json()))
    rebuilt = rebuild(ModelSpec.from_json(written), load_file(tmp_path / "weights.safetensors"))
    pairs = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(RELATIONS))
    assert torch.equal(rebuilt.predict_t(pairs), model.predict_t(pairs))
    assert torch.equal(rebuilt.predict_h(pairs.flip(1)), model.predict_h(pairs.flip(1)))
    assert not rebuilt.training
    assert not any(p.requires_grad for p in rebuilt.parameters())
    assert rebuilt.device == torch.device("cpu")


def test_state_holds_what_scores_and_shares_no_memory():
    model = original(DistMult, embedding_dim=8)
    state = scoring_state(model)
    assert sorted(state) == [
        "entity_representations.0._embeddings.weight",
        "relation_representations.0._embeddings.weight",
    ]
    tensor = state["entity_representations.0._embeddings.weight"]
    assert tensor.is_contiguous()
    before = tensor.clone()
    with torch.no_grad():
        next(iter(model.entity_representations[0].parameters())).zero_()
    assert torch.equal(tensor, before)


def test_rebuilt_model_shares_no_memory_with_the_given_weights(state):
    model = rebuild(TRANSE, state)
    before = scoring_state(model)
    for tensor in state.values():
        tensor.zero_()
    assert all(torch.equal(value, before[name]) for name, value in scoring_state(model).items())


def test_large_weights_that_are_nobody_elses_stay_where_they_are(state, monkeypatch):
    name = "entity_representations.0._embeddings.weight"
    monkeypatch.setattr(build_model_module, "_LARGE", state[name].nbytes - 1)
    others = {key: tensor for key, tensor in state.items() if tensor.nbytes < state[name].nbytes}
    kept = rebuild(TRANSE, OwnWeights(state)).state_dict()
    assert kept[name].data_ptr() == state[name].data_ptr()
    assert all(kept[key].data_ptr() != tensor.data_ptr() for key, tensor in others.items())
    assert rebuild(TRANSE, state).state_dict()[name].data_ptr() != state[name].data_ptr()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("loss.weight", True),
        ("dummy", True),
        ("entity_representations.0.regularizer.weight", True),
        ("weight_regularizers.0.regularization_term", True),
        ("entity_representations.0._embeddings.weight", False),
        ("interaction.loss", False),
        ("regularizer", False),
    ],
)
def test_rule_for_train_only_tensors(name, expected):
    assert is_train_only(name) is expected


def test_no_tensor_reads_as_several_in_a_digest(state):
    """Two runs of other weights had one digest, by a name that holds what follows names."""
    one = {"f.regularizer.x": torch.tensor(list(b".re"), dtype=torch.uint8)}
    held = "f.regularizer.x\0torch.uint8\0(3,)\0.re\0g.regularizer.y"
    other = {held: torch.tensor(list(b"zz"), dtype=torch.uint8)}
    two = {"g.regularizer.y": torch.tensor(list(b"zz"), dtype=torch.uint8)}
    assert weights_digest(TRANSE, one | two) == weights_digest(TRANSE, other)
    rebuild(TRANSE, state | one | two)
    with pytest.raises(KgdashError, match=r"the weights hold a tensor of the name 'f\.regularizer"):
        rebuild(TRANSE, state | other)


def test_train_only_tensors_are_ignored_whatever_they_are(state):
    state["loss.x"] = torch.tensor([float("nan")])
    state["entity_representations.0.regularizer.weight"] = torch.ones(3)
    assert rebuild(TRANSE, state).num_entities == ENTITIES


def test_fixed_model_needs_no_weights():
    model = original(FixedModel)
    assert scoring_state(model) == {}
    pair = torch.tensor([[3, 5]])
    assert torch.equal(rebuild(ModelSpec("FixedModel"), {}).predict_t(pair), model.predict_t(pair))


def test_random_states_are_left_alone(state):
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    expected = torch.rand(1), np.random.rand(), random.random()
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    rebuild(TRANSE, state)
    assert (torch.rand(1), np.random.rand(), random.random()) == expected


# Refusals of configurations


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected keys create_inverse_triples, kwargs, name; found list"),
        ({"name": "TransE"}, "found name"),
        ({"name": "TransE", "kwargs": {}, "create_inverse_triples": True, "code": ""}, "code"),
        ({"name": 1, "kwargs": {}, "create_inverse_triples": True}, "name: expected str"),
        ({"name": "TransE", "kwargs": [], "create_inverse_triples": True}, "kwargs: expected"),
        ({"name": "TransE", "kwargs": {}, "create_inverse_triples": 1}, "expected bool"),
        ({"name": "T", "kwargs": {"p": [1]}, "create_inverse_triples": True}, "kwargs.p"),
    ],
)
def test_json_of_another_form_is_refused(data, message):
    with pytest.raises(KgdashError, match=message):
        ModelSpec.from_json(data)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (ModelSpec("Trans"), "unknown model 'Trans'.*did you mean 'Trans"),
        (ModelSpec("os.system"), "unknown model"),
        (ModelSpec("DistMultLiteral"), "numeric attributes"),
        (ModelSpec("CooccurrenceFilteredModel"), "wraps another model"),
        (ModelSpec("TransE", {"embeding_dim": 8}), "did you mean 'embedding_dim'"),
        (ModelSpec("TransE", {"loss": "nssa"}), "unknown argument 'loss'"),
        (ModelSpec("TransE", {"entity_initializer": "uniform"}), "unknown argument"),
        (ModelSpec("TransE", {"num_slices": 2}), "unknown argument"),
        (ModelSpec("TransE", {"embedding_dim": 10**9}), "whole number from 1 to 65,536"),
        (ModelSpec("TransE", {"embedding_dim": True}), "found True"),
        (ModelSpec("TransE", {"embedding_dim": 0}), "found 0"),
        (ModelSpec("TransE", {"scoring_fct_norm": float("nan")}), "a number from"),
        (ModelSpec("TransE", {"scoring_fct_norm": "2"}), "found '2'"),
        (ModelSpec("TransE", {"power_norm": 1}), "true or false"),
        (ModelSpec("AutoSF", {"num_components": 1000}), "from 1 to 64"),
        (ModelSpec("ERMLP", {"activation": "os; system"}), "expected a name"),
        (ModelSpec("ERMLP", {"activation": "system"}), "PyKEEN cannot build ERMLP"),
        (ModelSpec("RGCN", {}, create_inverse_triples=True), "PyKEEN cannot build RGCN"),
    ],
)
def test_configuration_is_refused(spec, message, state):
    with pytest.raises(KgdashError, match=message) as caught:
        rebuild(spec, state)
    assert WHERE in str(caught.value)


def test_every_listed_argument_belongs_to_some_model():
    models = ["TransE", "CP", "NTN", "ConvE", "ConvKB", "RGCN", "AutoSF", "NodePiece", "BoxE"]
    models += ["TuckER", "SimplE", "TransR", "KG2E", "ERMLP", "ERMLPE", "CrossE", "ProjE"]
    used = set().union(*(constructor_arguments(model_class(m, WHERE)) for m in models))
    assert used == {name for names in ARGUMENTS.values() for name in names}


# Refusals of weights

ENTITY = "entity_representations.0._embeddings.weight"
RELATION = "relation_representations.0._embeddings.weight"


def test_weights_of_another_graph(state):
    with pytest.raises(KgdashError, match="weights are for 14 entities, the graph has 135"):
        rebuild(TRANSE, state, entities=135)
    with pytest.raises(KgdashError, match="weights are for 55 relations, the graph has 56"):
        rebuild(TRANSE, state, relations=56)
    inverse = ModelSpec(TRANSE.name, TRANSE.kwargs, create_inverse_triples=True)
    with pytest.raises(KgdashError, match="the graph has 110, inverse ones included"):
        rebuild(inverse, state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({ENTITY: torch.zeros(14, 9)}, r"expected shape \(14, 8\), found \(14, 9\)"),
        ({ENTITY: torch.zeros(14)}, r"expected shape \(14, 8\), found \(14,\)"),
        ({ENTITY: torch.zeros(14, 8).double()}, "expected torch.float32, found torch.float64"),
        ({ENTITY: torch.zeros(14, 8).to_sparse()}, "sparse"),
        ({ENTITY: torch.zeros(14, 8, device="meta")}, "data-less"),
        ({ENTITY: np.zeros((14, 8))}, "expected a tensor, found ndarray"),
        ({"extra": torch.zeros(1)}, r"1 unexpected \(extra\)"),
        (
            {RELATION: torch.full((55, 8), float("nan"))},
            "relation_representations.*of 440 weights 440 are NaN and 0 infinite",
        ),
        ({RELATION: torch.full((55, 8), float("inf"))}, "0 are NaN and 440 infinite"),
    ],
)
def test_weights_are_refused(change, message, state):
    with pytest.raises(KgdashError, match=message):
        rebuild(TRANSE, state | change)


def test_missing_weights_are_named(state):
    del state[ENTITY]
    with pytest.raises(KgdashError, match=r"1 missing \(entity_representations.0"):
        rebuild(TRANSE, state)


def test_absurd_sizes_are_refused_before_anything_is_allocated(state):
    spec = ModelSpec("TuckER", {"embedding_dim": 65_536, "relation_dim": 65_536})
    with pytest.raises(KgdashError, match="do not fit"):
        rebuild(spec, state)


def test_one_tensor_under_two_names_must_agree():
    state = scoring_state(original(CompGCN, inverse=True, embedding_dim=8))
    name = "entity_representations.0.combined.layers.0.w_loop"
    state[name] = state[name] + 1
    spec = ModelSpec("CompGCN", {"embedding_dim": 8}, create_inverse_triples=True)
    with pytest.raises(KgdashError, match="are one tensor in the model but differ"):
        rebuild(spec, state)


@pytest.mark.parametrize("value", [-1, ENTITIES])
@pytest.mark.parametrize(
    ("cls", "name"), [(RGCN, "sources"), (RGCN, "targets"), (CompGCN, "combined.edge_index")]
)
def test_edges_beyond_the_graph_are_refused(cls, name, value):
    inverse = cls is CompGCN
    state = scoring_state(original(cls, inverse, embedding_dim=8))
    for key in [key for key in state if key.endswith(name)]:
        state[key].fill_(value)
    spec = ModelSpec(cls.__name__, {"embedding_dim": 8}, inverse)
    with pytest.raises(KgdashError, match=f"expected indices from 0 to 13, found {value}"):
        rebuild(spec, state)


def test_tokens_and_relations_beyond_the_graph_are_refused():
    state = scoring_state(original(NodePiece, inverse=True, embedding_dim=8))
    state["entity_representations.0.base.0.assignment"].fill_(111)
    with pytest.raises(KgdashError, match="from 0 to 110, found 111"):
        rebuild(ModelSpec("NodePiece", {"embedding_dim": 8}, True), state)
    state = scoring_state(original(RGCN, embedding_dim=8))
    state["entity_representations.0.edge_types"].fill_(RELATIONS)
    with pytest.raises(KgdashError, match="from 0 to 54, found 55"):
        rebuild(ModelSpec("RGCN", {"embedding_dim": 8}), state)


def test_few_weights_that_would_become_many(monkeypatch, as_visitor):
    """Each entity of NodePiece is made of a few tokens that all share: 0.2 MB took 3 GB."""
    made = original(NodePiece, inverse=True, embedding_dim=16)
    spec, weights = ModelSpec("NodePiece", {"embedding_dim": 16}, True), scoring_state(made)
    rebuild(spec, weights)
    monkeypatch.setattr(build_model_module, "_MOST_FLOATS", 4 * 14 * 16 - 1)
    rebuild(spec, weights)
    refused = pytest.raises(KgdashError, match=r"would become 896 numbers of 14 entities; take")
    monkeypatch.setattr(build_model_module, "_DENSEST_SERVED", 0)
    rebuild(spec, weights)
    as_visitor(name="ada", folder="a")
    with refused:
        rebuild(spec, weights)
    as_visitor()
    monkeypatch.setattr(build_model_module, "_DENSEST", 0)
    with refused:
        rebuild(spec, weights)


def test_what_would_be_made_of_all_relations_at_once(monkeypatch):
    """An RGCN of 4 MB took 5 GB where it was scored without a fast kernel."""
    spec = ModelSpec("RGCN", {"embedding_dim": 8, "interaction": "TransF"})
    weights = scoring_state(original(RGCN, embedding_dim=8, interaction="TransF"))
    most = 8 * 8 * ENTITIES * RELATIONS + 4 * 8 * 8 * RELATIONS
    monkeypatch.setattr(reckoned_memory, "memory_budget", lambda: most)
    rebuild(spec, weights)
    monkeypatch.setattr(reckoned_memory, "memory_budget", lambda: most - 1)
    with pytest.raises(KgdashError, match=rf"{WHERE}: .* {most:,} bytes .* set KGDASH_MEMORY"):
        rebuild(spec, weights)


@pytest.mark.parametrize("weighting", ["symmetric", "inverseindegree", "inverseoutdegree"])
@pytest.mark.parametrize("decomposition", ["bases", "block"])
def test_edges_are_weighed_at_once_as_by_relation(weighting, decomposition):
    """Of 20,000 relations PyKEEN looked through all edges for minutes."""
    kwargs = {"embedding_dim": 10, "edge_weighting": weighting, "decomposition": decomposition}
    model = original(RGCN, **kwargs)
    rebuilt = rebuild(ModelSpec("RGCN", kwargs), scoring_state(model))
    triples = torch.from_numpy(TRAINING)
    assert torch.equal(rebuilt.predict_hrt(triples), model.predict_hrt(triples))
    copied = copy.deepcopy(rebuilt)
    copied.entity_representations[0].post_parameter_update()
    assert torch.equal(copied.predict_hrt(triples), model.predict_hrt(triples))
