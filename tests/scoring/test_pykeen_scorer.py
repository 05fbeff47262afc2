"""PyKEEN models behind the Scorer protocol: rows, columns and single triples agree."""

import pytest
import torch
from pykeen.datasets import Nations
from pykeen.models import model_resolver

from kgdash.errors import KgdashError
from kgdash.scoring import pykeen_scorer, score_rows
from kgdash.scoring.protocol import refuse_nan
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from tests.support.tiny_runs import MODELS

ENTITIES, RELATIONS = 14, 55
FACTORIES = {inverse: Nations(create_inverse_triples=inverse).training for inverse in (False, True)}


def scorer_of(name, inverse=False, **kwargs):
    model = model_resolver.lookup(name)(
        triples_factory=FACTORIES[inverse], random_seed=0, **{"embedding_dim": 12, **kwargs}
    )
    return PyKEENScorer(model)


CASES = [
    ("TransE", False, {}),
    ("DistMult", True, {}),
    ("ComplEx", False, {}),
    ("RotatE", True, {}),
    ("PairRE", False, {}),
    ("ConvE", True, {"output_channels": 4}),
    ("RGCN", False, {}),
    ("FixedModel", False, {}),  # its scores asked for a gradient: metrics ended in a traceback
    ("DistMult", True, {"predict_with_sigmoid": True}),
]


@pytest.mark.parametrize(("name", "inverse", "kwargs"), CASES)
def test_single_triples_score_as_in_their_rows(name, inverse, kwargs):
    scorer = scorer_of(name, inverse, **kwargs)
    assert (scorer.num_entities, scorer.num_relations) == (ENTITIES, RELATIONS)
    triples = torch.tensor([(0, 3, 5), (13, 54, 0), (4, 0, 4), (7, 21, 2)])
    head, relation, tail = triples.T
    rows = torch.arange(4)
    tails = scorer.score_tails(triples[:, [0, 1]])
    heads = scorer.score_heads(triples[:, [1, 2]])
    relations = scorer.score_relations(triples[:, [0, 2]])
    assert tails.shape == heads.shape == (4, ENTITIES)
    assert relations.shape == (4, RELATIONS)
    forward = scorer.score_triples(triples)
    torch.testing.assert_close(tails[rows, tail], forward)
    torch.testing.assert_close(relations[rows, relation], forward)
    torch.testing.assert_close(heads[rows, head], scorer.score_triples(triples, "head"))
    if inverse:
        assert not torch.allclose(forward, scorer.score_triples(triples, "head"))
    else:
        assert torch.equal(forward, scorer.score_triples(triples, "head"))
    assert not any(t.requires_grad for t in (tails, heads, relations, forward))


@pytest.mark.parametrize("name", MODELS)
def test_bundled_rows_agree_with_single_triples(bundled, name):
    scorer = bundled(name).scorer
    triples = torch.from_numpy(bundled(name).graph.splits["test"][::60])
    rows = torch.arange(len(triples))
    torch.testing.assert_close(
        scorer.score_heads(triples[:, [1, 2]])[rows, triples[:, 0]],
        scorer.score_triples(triples, "head"),
        atol=1e-4,
        rtol=1e-4,
    )
    torch.testing.assert_close(
        scorer.score_relations(triples[:, [0, 2]])[rows, triples[:, 1]],
        scorer.score_triples(triples, "tail"),
        atol=1e-4,
        rtol=1e-4,
    )


@pytest.mark.parametrize("inverse", [False, True])
def test_small_batches_change_nothing(monkeypatch, inverse):
    scorer = scorer_of("DistMult", inverse)
    pairs = torch.cartesian_prod(torch.arange(5), torch.arange(6))
    triples = torch.cartesian_prod(torch.arange(3), torch.arange(4), torch.arange(3))
    whole = [scorer.score_tails(pairs), scorer.score_heads(pairs), scorer.score_relations(pairs)]
    whole += [scorer.score_triples(triples, "head")]
    monkeypatch.setattr(pykeen_scorer, "_TEMPORARY_BYTES", 4 * scorer._width * ENTITIES * 7)
    parts = [scorer.score_tails(pairs), scorer.score_heads(pairs), scorer.score_relations(pairs)]
    parts += [scorer.score_triples(triples, "head")]
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["TransE", "ConvE"])
def test_no_queries(name):
    scorer = scorer_of(name, name == "ConvE")
    assert scorer.score_tails(torch.empty((0, 2), dtype=torch.long)).shape == (0, ENTITIES)
    assert scorer.score_triples(torch.empty((0, 3), dtype=torch.long)).shape == (0,)


def test_evaluation_mode_whatever_the_model_was_in():
    model = scorer_of("ConvE", True, output_channels=4).model.train()
    scorer = PyKEENScorer(model)
    triples = torch.tensor([(0, 3, 5)] * 2)
    first, second = (scorer.score_triples(triples, "head") for _ in range(2))  # dropout is off
    assert torch.equal(first, second)


class TestNaN:
    @pytest.mark.parametrize("places", [[0], [3], [1, 2], [0, 1, 2, 3]])
    def test_counted_wherever_they_are(self, places):
        scores = torch.tensor([1.0, float("inf"), -float("inf"), 0.0])
        scores[places] = float("nan")
        with pytest.raises(KgdashError, match=f"NaN for {len(places)} of 4 scores"):
            refuse_nan(scores.view(2, 2))

    def test_infinities_pass(self):
        scores = torch.tensor([float("inf"), -float("inf"), 3e38, 3e38])
        assert refuse_nan(scores) is scores

    @pytest.mark.parametrize("side", ["head", "relation", "tail"])
    def test_of_every_side(self, side):
        scorer = scorer_of("DistMult")
        with torch.no_grad():
            scorer.model.entity_representations[0]._embeddings.weight[3] = float("nan")
        good = score_rows(scorer_of("DistMult"), side, torch.tensor([[0, 1]]).numpy())
        assert good.shape == (1, RELATIONS if side == "relation" else ENTITIES)
        query = {"head": [[1, 3]], "relation": [[3, 0]], "tail": [[3, 1]]}[side]
        with pytest.raises(KgdashError, match="NaN for"):
            score_rows(scorer, side, torch.tensor(query).numpy())


@pytest.mark.parametrize(
    ("name", "kwargs"), [("ERMLP", {"hidden_dim": 4096}), ("ConvKB", {"num_filters": 512})]
)
def test_few_weights_that_make_wide_layers_are_scored_in_parts(name, kwargs, monkeypatch):
    scorer = scorer_of(name, embedding_dim=4, **kwargs)
    pairs = torch.tensor([(0, 3), (13, 54), (4, 0)])
    whole = scorer.score_tails(pairs), scorer.score_heads(pairs.flip(1))
    most, made = 2**17, []
    monkeypatch.setattr(pykeen_scorer, "_LAYER_BYTES", 4 * most)
    for layer in scorer.model.interaction.modules():
        layer.register_forward_hook(lambda *told: made.append(told[-1].numel()))
    parts = scorer.score_tails(pairs), scorer.score_heads(pairs.flip(1))
    assert max(made) <= most
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other)
    # One candidate of one query at a time, where that alone is too much.
    monkeypatch.setattr(pykeen_scorer, "_LAYER_BYTES", 1)
    torch.testing.assert_close(scorer.score_tails(pairs), whole[0])


def test_slices_of_ntn_are_a_layer_too(monkeypatch):
    scorer = scorer_of("NTN", embedding_dim=2, num_slices=4096)
    pairs, made = torch.tensor([(0, 3)]), []
    whole, score = scorer.score_tails(pairs), scorer.model.interaction.forward

    def forward(h, r, t):
        made.append(t.numel() // 2)
        return score(h, r, t)

    monkeypatch.setattr(scorer.model.interaction, "forward", forward)
    monkeypatch.setattr(pykeen_scorer, "_LAYER_BYTES", 4 * 4096 * 5)
    torch.testing.assert_close(scorer.score_tails(pairs), whole, rtol=1e-4, atol=0)  # long sums
    assert max(made) <= 5


@pytest.mark.parametrize(
    ("name", "inverse", "kwargs", "least"),
    [
        # Each of 14 candidates: filters times numbers; each of 55 relations: a matrix of its core.
        ("ConvKB", False, {"embedding_dim": 64, "num_filters": 256}, 14 * 64 * 256),
        ("TuckER", False, {"embedding_dim": 64, "relation_dim": 1}, 55 * 64 * 64),
        ("NTN", False, {"embedding_dim": 16, "num_slices": 64}, 16 * 16 * 64),
        ("RGCN", False, {"embedding_dim": 200, "interaction": "ConvKB"}, 14 * 200 * 400),
    ],
)
def test_what_a_row_takes_is_reckoned_and_bounds_what_is_scored_at_once(
    name, inverse, kwargs, least, monkeypatch
):
    """The product of two sizes is what a stranger's few weights can make large."""
    scorer = scorer_of(name, inverse, **kwargs)
    score, pairs = scorer.score_tails, torch.tensor([(0, 3), (13, 54), (4, 0)])
    if name == "TuckER":
        score, pairs = scorer.score_relations, torch.tensor([(0, 3), (13, 5), (4, 0)])
    whole, made = score(pairs), []
    (row,) = scorer._rows.values()
    assert 4 * least <= row <= 4 * 8 * least
    monkeypatch.setattr(pykeen_scorer, "_LAYER_BYTES", row // 4)
    method = getattr(scorer.model, pair_method := next(iter(scorer._rows)))

    def told(batch, **chosen):
        made.extend((len(batch), len(candidates)) for candidates in chosen.values())
        return method(batch, **chosen)

    monkeypatch.setattr(scorer.model, pair_method, told)
    torch.testing.assert_close(score(pairs), whole)
    candidates, most = whole.shape[1], whole.shape[1] // 4
    rest = [(1, candidates % most)] if candidates % most else []
    assert made == ([(1, most)] * (candidates // most) + rest) * 3


#: a few weights that make wide layers, with heads scored by themselves, and through inverses
WIDE = [
    ("ConvKB", False, {"num_filters": 64}),
    ("ConvKB", True, {"num_filters": 64, "predict_with_sigmoid": True}),
    ("NTN", False, {"num_slices": 64}),
]


@pytest.mark.parametrize(("name", "inverse", "kwargs"), WIDE)
@pytest.mark.parametrize("side", ["tails", "heads", "relations"])
def test_parts_of_a_row_are_told_and_may_be_the_last(name, inverse, kwargs, side, monkeypatch):
    """One row alone may take minutes: nobody heard of it, and nothing could end it."""
    scorer = scorer_of(name, inverse, embedding_dim=4, **kwargs)
    score = getattr(scorer, f"score_{side}")
    pairs = torch.tensor([(0, 3), (13, 5), (4, 0)])
    pairs = pairs.flip(1) if side == "heads" else pairs
    whole, heard = score(pairs), []
    monkeypatch.setattr(pykeen_scorer, "_LAYER_BYTES", max(scorer._rows.values()) // 4)
    tell = lambda done, total: heard.append(done / total)  # noqa: E731
    torch.testing.assert_close(score(pairs, tell), whole, rtol=1e-4, atol=1e-6)
    assert len(heard) >= 12
    assert heard == sorted(set(heard))
    assert heard[-1] == 1
    calls = []
    scorer.model.interaction.register_forward_hook(lambda *_: calls.append(1))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(pairs, stop)
    assert calls == [1]


def test_rows_and_triples_are_told_call_by_call(monkeypatch):
    scorer = scorer_of("DistMult")
    pairs, triples = torch.tensor([(0, 3)] * 20), torch.tensor([(0, 3, 1)] * 20)
    monkeypatch.setattr(pykeen_scorer, "_TEMPORARY_BYTES", 4 * scorer._width * ENTITIES * 5)
    heard = []
    scorer.score_tails(pairs, lambda done, total: heard.append(done / total))
    assert heard == [0.25, 0.5, 0.75, 1]
    monkeypatch.setattr(pykeen_scorer, "_TEMPORARY_BYTES", 4 * scorer._width * 10)
    scorer.score_triples(triples, progress=lambda done, total: heard.append(done / total))
    assert heard[4:] == [0.5, 1]
