"""PyKEEN's models in the engine's form: the same scores, ranks and metrics as without it."""

from functools import cache

import numpy as np
import pytest
import torch
from pykeen.datasets import Nations
from pykeen.models import ERModel, model_resolver
from pykeen.nn import modules

from kgdash.engine.form import InteractionForm, Panels
from kgdash.engine.microkernels import DOT, L1, L2, L2_SQUARED
from kgdash.engine.turned_kernels import turn_panel
from kgdash.errors import KgdashError
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik_exact import relik_exact
from kgdash.scoring import bilinear_forms, pykeen_forms
from kgdash.scoring.kernel_scorer import KernelScorer, fastest_scorer
from kgdash.scoring.pykeen_forms import form_of
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from tests.support import brute_force
from tests.support.fakes import FakeScorer, array

ENTITIES, RELATIONS, DIMENSION = 14, 55, 12
DATA = {inverse: Nations(create_inverse_triples=inverse) for inverse in (False, True)}
TRAIN, VALID, TEST = (
    part.mapped_triples.numpy()
    for part in (DATA[False].training, DATA[False].validation, DATA[False].testing)
)
FACTS = np.concatenate([TRAIN, VALID, TEST])
CONVE = {"embedding_height": 3, "embedding_width": 4, "output_channels": 4}

#: name → PyKEEN's name, what its class is told, the form's kind
MODELS = {
    "TransE, L1": ("TransE", {"scoring_fct_norm": 1}, L1),
    "TransE, L2": ("TransE", {"scoring_fct_norm": 2}, L2),
    "TransE, L2 squared": ("TransE", {"scoring_fct_norm": 2, "power_norm": True}, L2_SQUARED),
    "TransE, L1 to the first": ("TransE", {"scoring_fct_norm": 1, "power_norm": True}, L1),
    "DistMult": ("DistMult", {}, DOT),
    "ComplEx": ("ComplEx", {}, DOT),
    "RotatE": ("RotatE", {}, L2),
    "PairRE, L1": ("PairRE", {"p": 1}, L1),
    "PairRE, L2": ("PairRE", {"p": 2}, L2),
    "PairRE, L2 squared": ("PairRE", {"p": 2, "power_norm": True}, L2_SQUARED),
    "LineaRE, L1": ("LineaRE", {"p": 1}, L1),
    "LineaRE, L2": ("LineaRE", {"p": 2}, L2),
    "UM, L1": ("UM", {"scoring_fct_norm": 1}, L1),
    "UM, L2 squared": ("UM", {"scoring_fct_norm": 2, "power_norm": True}, L2_SQUARED),
    "SimplE": ("SimplE", {}, DOT),
    "CP": ("CP", {"rank": 2}, DOT),
    "DistMA": ("DistMA", {}, DOT),
    "QuatE": ("QuatE", {}, DOT),
    "HolE": ("HolE", {}, DOT),
    "RESCAL": ("RESCAL", {}, DOT),
    "TuckER": ("TuckER", {"relation_dim": 3}, DOT),
    "TuckER without norms": ("TuckER", {"apply_batch_normalization": False}, DOT),
    "CrossE": ("CrossE", {}, DOT),
    "TransH, L2": ("TransH", {"scoring_fct_norm": 2}, L2),
    "TransH, L1": ("TransH", {"scoring_fct_norm": 1}, L1),
    "TransR, L2": ("TransR", {"scoring_fct_norm": 2, "relation_dim": 5}, L2),
    "TransR, L1": ("TransR", {"scoring_fct_norm": 1}, L1),
    "ConvE": ("ConvE", CONVE, DOT),
    "ConvE without norms": ("ConvE", {**CONVE, "apply_batch_normalization": False}, DOT),
}
#: those of which the kernels know how a relation makes a candidate's vector
TURNED = {"TransE", "DistMult", "ComplEx", "RotatE", "PairRE", "SimplE"}
CASES = [(name, inverse) for name in MODELS for inverse in (False, True)]
cases = pytest.mark.parametrize(
    ("name", "inverse"), CASES, ids=[f"{name}{', inverse' * inverse}" for name, inverse in CASES]
)


def build(name, inverse=False, **kwargs):
    factory = DATA[inverse].training
    if name == "LineaRE":
        shared = {"triples_factory": factory, "interaction": name, "random_seed": 0}
        sizes = {"shape": DIMENSION}
        return ERModel(
            **shared,
            interaction_kwargs=kwargs,
            entity_representations_kwargs=sizes,
            relation_representations_kwargs=[sizes] * 3,
        ).eval()
    return model_resolver.lookup(name)(
        triples_factory=factory, random_seed=0, embedding_dim=DIMENSION, **kwargs
    ).eval()


_BUILT: dict[tuple, KernelScorer] = {}


def scorer_of(name, inverse) -> KernelScorer:
    """Build a model with weights that look trained, and its scorer, once."""
    if (name, inverse) not in _BUILT:
        lookup, kwargs, _ = MODELS[name]
        model = build(lookup, inverse, **kwargs)
        generator = torch.Generator().manual_seed(1)
        for key, value in model.state_dict().items():
            # Batch norms that have seen data, biases that are not zero.
            if key.endswith("running_var"):
                value.uniform_(0.5, 2, generator=generator)
            elif "running_mean" in key or "bias" in key or (lookup == "ConvE" and value.ndim == 2):
                value.normal_(0, 0.5, generator=generator)
            elif lookup == "TransR":
                value.mul_(3)  # so that some projections are cut
        scorer, notes = fastest_scorer(model)
        assert isinstance(scorer, KernelScorer)
        assert notes == ()
        _BUILT[name, inverse] = scorer
    return _BUILT[name, inverse]


@cache
def table_of(scorer) -> FakeScorer:
    """Read all scores of a scorer, row by row."""
    anchors, relations = np.divmod(np.arange(ENTITIES * RELATIONS), RELATIONS)
    pairs = torch.from_numpy(np.stack([anchors, relations], axis=1))
    tails = scorer.score_tails(pairs).view(ENTITIES, RELATIONS, ENTITIES)
    heads = scorer.score_heads(pairs.flip(1)).view(ENTITIES, RELATIONS, ENTITIES)
    return FakeScorer(tails, heads.permute(2, 1, 0).contiguous())


def plainly(fake):
    """Return a fake's scores as a function of plain numbers, which is faster."""
    tables = {"head": fake.heads.tolist(), "tail": fake.tails.tolist()}
    return lambda head, relation, tail, side="tail": tables[side][head][relation][tail]


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5 * float(expected.abs().max()))


@cases
def test_is_recognised(name, inverse):
    form = scorer_of(name, inverse).form
    assert form.kind == MODELS[name][2]
    assert (form.num_entities, form.num_relations) == (ENTITIES, RELATIONS)
    assert form.one_function == (not inverse and "ConvE" not in name)
    assert form.name == MODELS[name][0]
    for side in ("head", "tail"):
        both = (side, torch.tensor([0, 3]), torch.tensor([54, 0]))
        assert form.queries(*both).shape == form.vectors(*both).shape == (2, form.dimension)
    assert all(hasattr(form, part) for part in vars(InteractionForm) if not part.startswith("_"))


@cases
def test_scores_are_pykeens(name, inverse):
    scorer = scorer_of(name, inverse)
    pairs = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(0, RELATIONS, 6))
    triples = torch.from_numpy(TEST[::4])
    with torch.inference_mode():
        tails, heads = scorer.model.predict_t(pairs), scorer.model.predict_h(pairs.flip(1))
        forward = scorer.model.predict_hrt(triples).squeeze(-1)
    close(scorer.score_tails(pairs), tails)
    close(scorer.score_heads(pairs.flip(1)), heads)
    close(scorer.score_triples(triples), forward)
    generic = PyKEENScorer(scorer.model)
    close(scorer.score_triples(triples, "head"), generic.score_triples(triples, "head"))
    relations = scorer.score_relations(triples[:, [0, 2]])
    assert torch.equal(relations, generic.score_relations(triples[:, [0, 2]]))


@cases
def test_the_form_is_told_right(name, inverse):
    """Candidates that are said to be fixed are, and one function is one to the last bit."""
    scorer = scorer_of(name, inverse)
    form, everyone = scorer.form, torch.arange(ENTITIES)
    for side in ("head", "tail"):
        under = [
            form.vectors(side, everyone, torch.full_like(everyone, r)) for r in range(0, 55, 9)
        ]
        same = all(torch.equal(under[0], vectors) for vectors in under)
        assert same == form.is_fixed(side)
        turn = form.turn(side)
        whole = MODELS[name][0] in TURNED or ("LineaRE" in name and (inverse or side == "tail"))
        assert (turn is not None) == (whole and not same)
        if turn is not None:
            for relation, vectors in zip(range(0, 55, 9), under, strict=True):
                out = np.empty((form.dimension, 16), dtype=np.float32)
                panel = Panels.of(turn.entities.numpy()).blocks[0]
                parts = panel, turn.relations[relation], out
                turn_panel(
                    turn.kind, *(np.uintp(part.ctypes.data) for part in parts), form.dimension
                )
                assert np.array_equal(out.T[:ENTITIES], vectors.numpy())
    table = table_of(scorer)
    if form.one_function:
        assert torch.equal(table.heads, table.tails)
    if form.elementwise:
        triples = torch.from_numpy(FACTS[::7])
        for side, scores in (("head", table.heads), ("tail", table.tails)):
            assert torch.equal(scorer.score_triples(triples, side), scores[tuple(triples.T)])


@cases
def test_no_queries(name, inverse):
    scorer = scorer_of(name, inverse)
    nothing = torch.empty((0, 2), dtype=torch.long)
    assert scorer.score_tails(nothing).shape == scorer.score_heads(nothing).shape == (0, ENTITIES)
    triples = torch.empty((0, 3), dtype=torch.long)
    assert scorer.score_triples(triples).shape == scorer.score_triples(triples, "head").shape


@cases
def test_ranks_are_those_of_its_rows(name, inverse):
    scorer = scorer_of(name, inverse)
    score, triples = plainly(table_of(scorer)), TEST[::6]
    for known in ([], FACTS, np.concatenate([TRAIN, VALID])):
        index = KnownTriples(known, ENTITIES, RELATIONS) if len(known) else None
        table = rank_triples(scorer, triples, index)
        found = table[["optimistic", "realistic", "pessimistic", "candidates"]].to_numpy()
        facts = set(map(tuple, known.tolist())) if len(known) else set()
        expected = [
            brute_force.ranks(score, tuple(x), side, facts, ENTITIES, RELATIONS)
            for side in ("head", "tail")
            for x in triples.tolist()
        ]
        assert found.tolist() == [list(row) for row in expected]


@cases
@pytest.mark.parametrize("few", [True, False])
def test_relik_is_that_of_its_rows(name, inverse, few):
    """Few triples are counted side by side, many in one pass if the form has one function."""
    scorer = scorer_of(name, inverse)
    # Known triples, others, repeated ones and self loops.
    triples = np.concatenate([TEST[:3], TEST[:1, ::1] * [1, 1, 0], TEST[2:3]])
    if not few:
        loops = np.arange(ENTITIES)
        triples = np.concatenate([triples, np.stack([loops, loops, loops], axis=1), TEST[::40]])
    table = table_of(scorer)
    facts = array(FACTS)
    counts = relik_exact(scorer, triples, KnownTriples(facts, ENTITIES, RELATIONS))
    hidden = {
        "head": table.tails.numpy().copy(),
        # Around a tail the candidates are heads.
        "tail": table.heads.numpy().copy(),
    }
    for (head, relation, tail), row in zip(
        triples.tolist(), counts.to_dict("records"), strict=True
    ):
        for side, scores in hidden.items():
            own = scores[head, relation, tail]
            others = scores.copy()
            others[tuple(facts.T)] = np.nan
            others[head, relation, tail] = np.nan
            around = others[head] if side == "head" else others[:, :, tail]
            assert row[f"{side}_greater"] == (around > own).sum()
            assert row[f"{side}_equal"] == (around == own).sum()


@pytest.mark.parametrize(("name", "inverse"), [("RGCN", False), ("CompGCN", True)])
def test_passed_messages_are_part_of_the_vectors(name, inverse):
    """These have DistMult's form, over vectors that are made once: so PyKEEN scores too."""
    scorer, notes = fastest_scorer(build(name, inverse))
    assert isinstance(scorer, KernelScorer)
    assert notes == ()
    pairs = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(0, RELATIONS, 11))
    generic = PyKEENScorer(scorer.model)
    close(scorer.score_tails(pairs), generic.score_tails(pairs))
    close(scorer.score_heads(pairs.flip(1)), generic.score_heads(pairs.flip(1)))


class Own(modules.DistMultInteraction):
    """A user's interaction that looks like one of PyKEEN's."""

    def forward(self, h, r, t):
        return -super().forward(h, r, t)


class TestNotRecognised:
    @pytest.mark.parametrize(
        ("name", "kwargs"),
        [
            ("ERMLP", {}),
            ("MuRE", {}),
            ("BoxE", {}),
            ("KG2E", {}),
            ("NTN", {}),
            ("SimplE", {"clamp_score": 20.0}),
            ("TransH", {"scoring_fct_norm": 3}),
            ("TransR", {"scoring_fct_norm": 3}),
            ("TransE", {"scoring_fct_norm": 3}),
            ("PairRE", {"p": 3}),
            ("UM", {"scoring_fct_norm": float("inf")}),
            ("DistMult", {"predict_with_sigmoid": True}),
            ("TransE", {"predict_with_sigmoid": True}),
        ],
    )
    def test_other_models(self, name, kwargs):
        self.check(build(name, **kwargs))

    def check(self, model):
        assert form_of(model) is None
        scorer, notes = fastest_scorer(model)
        assert type(scorer) is PyKEENScorer
        assert notes == ()

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9, -1e9])
    @pytest.mark.parametrize("kind", ["entity", "relation"])
    @pytest.mark.parametrize("name", ["DistMult", "PairRE", "ConvE"])
    def test_weights_that_could_overflow(self, name, kind, value):
        model = build(name, inverse=name == "ConvE", **(CONVE if name == "ConvE" else {}))
        representations = getattr(model, f"{kind}_representations")
        with torch.no_grad():
            representations[-1]._embeddings.weight[2, 0] = value
        if name == "PairRE" and kind == "entity" and abs(value) == 1e9:
            assert form_of(model) is not None  # its entities are normalised
        else:
            self.check(model)

    def test_other_interactions_of_users(self):
        model = build("DistMult")
        assert form_of(model) is not None
        model.interaction = Own()
        self.check(model)

    def test_double_precision(self):
        self.check(build("DistMult").double())

    def test_vectors_of_other_shapes(self):
        shape = {"shape": (3, 4)}
        model = ERModel(
            triples_factory=DATA[False].training,
            interaction="DistMult",
            entity_representations_kwargs=shape,
            relation_representations_kwargs=shape,
            skip_checks=True,
        )
        assert form_of(model) is None


class TestChecked:
    """A form that does not score as PyKEEN is not used, and the user is told."""

    def test_a_wrong_map(self, monkeypatch):
        real = pykeen_forms._distmult

        def wrong(*args):
            return real(*args) | {"left": lambda e, r: e[0] * r[0] * 1.001}

        monkeypatch.setitem(pykeen_forms._RECOGNISED, modules.DistMultInteraction, wrong)
        scorer, (note,) = fastest_scorer(build("DistMult"))
        assert type(scorer) is PyKEENScorer
        assert "DistMult's fast kernel differs" in note
        assert "by 0.001 of the largest" in note

    @pytest.mark.parametrize("side", ["head", "tail"])
    def test_a_side_that_is_wrong(self, monkeypatch, side):
        real = pykeen_forms.PyKEENForm.queries

        def wrong(self, asked, anchors, relations):
            found = real(self, asked, anchors, relations)
            return found.roll(1, dims=1) if asked == side else found

        monkeypatch.setattr(pykeen_forms.PyKEENForm, "queries", wrong)
        scorer, (note,) = fastest_scorer(build("TransE"))
        assert type(scorer) is PyKEENScorer
        assert "TransE" in note

    def test_nan_in_the_layers_between(self):
        model = build("ConvE", inverse=True, **CONVE)
        with torch.no_grad():
            next(p for n, p in model.named_parameters() if "hr1d" in n)[...] = float("nan")
        scorer, (note,) = fastest_scorer(model)
        assert type(scorer) is PyKEENScorer
        assert "differs from PyKEEN's scores by inf" in note


def test_convolutions_that_overflow_are_refused():
    lookup, kwargs, _ = MODELS["ConvE"]
    model = build(lookup, True, **kwargs).eval()
    with torch.no_grad():
        model.interaction.hr1d[0].weight.mul_(1e30)
    scorer, notes = fastest_scorer(model)
    assert isinstance(scorer, PyKEENScorer)
    assert "inf of the largest" in notes[0]
    scorer = KernelScorer(scorer, form_of(model))
    triples = np.array([(0, 0, 1)])
    with pytest.raises(KgdashError, match="query vectors that are NaN, infinite or beyond"):
        rank_triples(scorer, triples, None)


@pytest.mark.parametrize(
    ("name", "bound", "value"),
    [("TuckER", "_FREE_MATRICES", 55 * 12 * 12 - 1), ("HolE", "_WIDEST_CIRCLE", 11)],
)
def test_few_weights_whose_form_takes_much_are_scored_by_rows(name, bound, value, monkeypatch):
    """A core of 512 by 1 by 512 makes a gigabyte of matrices, HolE's products of 65,536 hours."""
    made = model_resolver.lookup(name)(triples_factory=DATA[False].training, embedding_dim=12)
    assert form_of(made.eval()) is not None
    monkeypatch.setattr(bilinear_forms, bound, value)
    assert form_of(made) is None


def test_wide_convolutions_are_made_of_few_pairs_at_once(monkeypatch):
    """24,576 channels of 0.3 MB made layers of 1.6 GB."""
    model = build("ConvE", inverse=True, **CONVE).eval()
    form = form_of(model)
    pairs = np.arange(40) % 14
    expected = form.queries("tail", pairs, pairs)
    given = []
    convolved = model.interaction.hr2d.forward
    monkeypatch.setattr(
        model.interaction.hr2d, "forward", lambda x: (given.append(len(x)), convolved(x))[1]
    )
    width = 4 * model.interaction.shape_info.num_in_features
    monkeypatch.setattr(pykeen_forms, "_LAYER_BYTES", 2 * width * 7)
    found = form_of(model).queries("tail", pairs, pairs)
    assert max(given) == 7
    torch.testing.assert_close(found, expected)


def test_a_server_holds_few_matrices_of_few_weights(monkeypatch, as_visitor):
    """Two tabs that compare nine runs of 0.1 MB each took 4.5 GB."""
    made = model_resolver.lookup("TuckER")(triples_factory=DATA[False].training, embedding_dim=12)
    monkeypatch.setattr(bilinear_forms, "_FREE_SERVED", 55 * 12 * 12 - 1)
    monkeypatch.setattr(bilinear_forms, "_DENSEST_SERVED", 1)
    assert form_of(made.eval()) is not None
    as_visitor(name="ada", folder="a")
    assert form_of(made) is None
    monkeypatch.setattr(bilinear_forms, "_DENSEST_SERVED", 4)
    assert form_of(made) is not None


def test_weights_are_judged_without_a_copy():
    bound = pykeen_forms.within
    for good in ([1.0, -1.9], [0.0]):
        assert bound(2.0, torch.tensor(good), torch.tensor(good, dtype=torch.complex64))
    for bad in ([2.0], [-2.0], [float("nan"), 0.0], [float("inf")], [-float("inf")]):
        assert not bound(2.0, torch.tensor(bad))
        assert not bound(2.0, torch.tensor(bad, dtype=torch.complex64))


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("name", ["HolE", "RESCAL"])
def test_matrices_that_are_known_are_not_made_of_unit_vectors(name, inverse):
    """A vector of 4,096 numbers had HolE add 4,097 vectors 4,096 times, for each relation."""
    form = form_of(build(name, inverse))
    units = torch.eye(form.dimension)
    use = form.left
    for side in ("tail", "head"):
        for relation in (0, 3):
            at = 2 * relation + (side == "head") if inverse else relation
            by = [r[at].expand(len(units), -1) for r in form.relations]
            is_query = side == "tail" or inverse
            matrix, offset = form.role(side, is_query, relation)
            assert torch.equal(matrix, use.made([units], by))
            assert not offset.any()
    object.__setattr__(use, "made", None)
    form.role("tail", True, 0)


def test_a_convolution_in_parts_has_the_same_bits(monkeypatch):
    form = form_of(build("HolE"))
    rng = torch.Generator().manual_seed(0)
    own, by = (torch.randn(7, form.dimension, generator=rng) for _ in range(2))
    whole = form.left([own], [by])
    monkeypatch.setattr(bilinear_forms, "_ROLLED", 2 * form.dimension)
    assert torch.equal(form.left([own], [by]), whole)
    one_by_one = own[:, :1] * by
    for k in range(1, form.dimension):
        one_by_one += own[:, k : k + 1] * by.roll(k, dims=1)
    assert torch.equal(whole, one_by_one)
