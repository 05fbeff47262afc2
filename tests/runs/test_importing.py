"""Runs of vectors at hand, scored by a name or a function."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import kgdash
from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.runs.importing import _check_taken
from tests.support.embeddings import ENTITIES, GRAPH, RELATIONS, vectors

E, R = vectors(len(ENTITIES), 4, seed=1), vectors(len(RELATIONS), 4, seed=2)
ENTITY_ROWS, RELATION_ROWS = (ENTITIES, E), (RELATIONS, R)


def distmult(h, r, t):
    return (h * r * t).sum(-1)


def test_a_function_ranks_as_the_interaction_of_its_formula():
    named = kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, "DistMult", GRAPH)
    called = kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, distmult, GRAPH, name="mine")
    assert (called.name, called.spec.name) == ("mine", "distmult")
    for sides in (["head", "tail"], ["relation"]):
        left, right = (run.ranks(sides=sides) for run in (named, called))
        np.testing.assert_array_equal(left["optimistic"], right["optimistic"])
    few = GRAPH.splits["test"][:3]
    assert called.relik(triples=few)["relik"].tolist() == named.relik(triples=few)["relik"].tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_that_are_trained_are_taken(dtype):
    """Parameters of a model, with their gradient and in any precision, are vectors too."""
    weights = [torch.nn.Parameter(torch.from_numpy(values).to(dtype)) for values in (E, R)]
    rows = [(names, w) for names, w in zip((ENTITIES, RELATIONS), weights, strict=True)]
    given = kgdash.run_from_arrays(rows[0], rows[1], "DistMult", GRAPH)
    arrays = [(names, w.detach().float().numpy()) for names, w in rows]
    expected = kgdash.run_from_arrays(arrays[0], arrays[1], "DistMult", GRAPH)
    assert given.ranks()["realistic"].tolist() == expected.ranks()["realistic"].tolist()


def test_names_with_their_rows_are_taken_by_these():
    """A dict in another order than its ids' was a list of names: an MRR of 0.73 was 0.06."""
    rows = {name: row for row, name in reversed([*enumerate(ENTITIES)])}
    given = kgdash.run_from_arrays((rows, E), RELATION_ROWS, "DistMult", GRAPH)
    named = kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, "DistMult", GRAPH)
    assert given.digest == named.digest
    with pytest.raises(KgdashError, match="without gaps"):
        kgdash.run_from_arrays((rows | {ENTITIES[0]: 1}, E), RELATION_ROWS, "DistMult", GRAPH)
    with pytest.raises(KgdashError, match="a set, which has none"):
        kgdash.run_from_arrays((set(ENTITIES), E), RELATION_ROWS, "DistMult", GRAPH)


def test_names_and_rows_of_pandas_are_taken_in_one_order_alone():
    """Names that were sorted with their ids as index, and a frame of named rows, were misread."""
    expected = kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, "DistMult", GRAPH).digest
    names, frame = pd.Series(ENTITIES), pd.DataFrame(E, index=ENTITIES)
    others = names[::-1]
    turned = (others, pd.DataFrame(E)[::-1])
    for good in ((names, E), (ENTITIES, frame), (frame.index, frame), turned):
        assert kgdash.run_from_arrays(good, RELATION_ROWS, "DistMult", GRAPH).digest == expected
    for bad in ((others, E), (ENTITIES, frame[::-1]), (pd.Series(range(len(E)), ENTITIES), E)):
        with pytest.raises(KgdashError, match="entities: the index of a Series or DataFrame"):
            kgdash.run_from_arrays(bad, RELATION_ROWS, "DistMult", GRAPH)


@pytest.mark.parametrize(
    ("interaction", "taken"), [("ComplEx", torch.conj), ("DistMult", lambda x: x.conj().imag)]
)
def test_conjugates_are_taken(interaction, taken):
    """Torch marks conjugates and turns no number: they ended in a traceback."""
    numbers = [vectors(len(names), 4, seed=1) for names in (ENTITIES, RELATIONS)]
    tensors = [taken(torch.view_as_complex(torch.from_numpy(v.reshape(-1, 2, 2)))) for v in numbers]
    given, expected = (
        kgdash.run_from_arrays((ENTITIES, e), (RELATIONS, r), interaction, GRAPH)
        for e, r in (tensors, [np.array(each.tolist()) for each in tensors])
    )
    assert given.digest == expected.digest


def test_masked_vectors_are_refused():
    """What a mask hides was taken as it is: an MRR of 0.16938, filled with zeros 0.16757."""
    masked = np.ma.masked_array(E, mask=E > 1)
    with pytest.raises(KgdashError, match="masked in part"):
        kgdash.run_from_arrays((ENTITIES, masked), RELATION_ROWS, "DistMult", GRAPH)
    kgdash.run_from_arrays((ENTITIES, np.ma.masked_array(E)), RELATION_ROWS, "DistMult", GRAPH)


def test_functions_may_change_what_they_are_given():
    """The run's own vectors were changed: an MRR of 0.17281 in place of 0.17761."""
    plain, changing = (
        kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, score, GRAPH)
        for score in (
            lambda h, r, t: ((h + 1) * (r - 1) * (t * 2)).sum(-1),
            lambda h, r, t: (h.add_(1) * r.sub_(1) * t.mul_(2)).sum(-1),
        )
    )
    for sides in (["head", "tail"], ["relation"]) * 2:
        expected, found = (run.ranks(sides=sides)["realistic"] for run in (plain, changing))
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("form", "of", "norm", "options", "message"),
    [
        ("openke", "ComplEx", None, Options("TransE"), "is of ComplEx: leave out --interaction"),
        ("openke", "ComplEx", None, Options("Analogy"), "unknown interaction 'Analogy'"),
        ("graphvite", "TransE", 1, Options(norm=2), "by norm 2 was asked for; it has 1"),
        ("openke", "TransE", 1, Options("TransE-L2", norm=1), "by norm 2 was asked for; it has 1"),
        ("libkge", "ComplEx", None, Options(norm=1), "by norm 1 was asked for; it has none"),
        ("torchkge", "DistMult", None, Options(unit=False), "have no meaning for DistMult of tor"),
        ("openke", "DistMult", None, Options("DistMult", unit=True), "--unit and --no-unit"),
        ("dglke", "ComplEx", None, Options(layout="interleaved"), "--layout has no meaning"),
        ("arrays", "DistMult", None, Options(layout="interleaved"), "no meaning for DistMult of"),
        ("word2vec", "cosine", None, Options(unit=False), "leave out --no-unit"),
        ("word2vec", "cosine", None, Options(names=Path("n")), "holds its names: leave out"),
        ("graphvite", "TransE", 1, Options(names=Path("n")), "holds its names: leave out"),
        ("ampligraph", "TransE", 1, Options(names=Path("n")), "holds its names: leave out"),
        ("dglke", "DistMult", None, Options("SimplE"), "is of DistMult: leave out --interaction"),
        ("openke", "TransE", 2, Options("TransE", norm=2, unit=False), ""),
        ("openke", "DistMult", None, Options("SimplE"), ""),
        ("arrays", "ComplEx", None, Options("ComplEx", layout="interleaved", unit=True), ""),
    ],
)
def test_options_that_change_nothing_are_refused(form, of, norm, options, message):
    """They were taken without a word, and what was asked for was not done."""
    source = Source("vectors", "vectors", "vectors")
    made = Embedding(of, ENTITIES, RELATIONS, Parts(E, R, norm=norm), source)
    refused = pytest.raises(KgdashError, match=message) if message else nullcontext()
    with refused:
        _check_taken(Path("vectors"), form, options, made)


@pytest.mark.parametrize(
    ("interaction", "options", "message"),
    [
        ("TransE-L1", {"norm": 2}, "TransE-L1 and norm 2 differ; give one"),
        ("TransE", {"norms": 2}, r"does not take norms; it takes core, .*norm"),
        (distmult, {"norm": 2}, "a function does not take norm; it takes drop_unknown, name"),
        (distmult, {"layout": "halves"}, "a function does not take layout"),
    ],
)
def test_options_of_arrays_are_not_passed_by(interaction, options, message):
    """The norm that was given won over that of the name; others did nothing."""
    with pytest.raises(KgdashError, match=message):
        kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, interaction, GRAPH, **options)


@pytest.mark.parametrize("options", [{}, {"norm": None}, {"norm": 2}])
def test_the_norm_of_a_name_is_taken(options):
    run = kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, "TransE-L2", GRAPH, **options)
    assert run.spec.kwargs["scoring_fct_norm"] == 2
    assert not run.notes


@pytest.mark.parametrize(
    ("options", "complexes", "notes"),
    [({}, False, 1), ({"layout": "halves"}, False, 0), ({}, True, 0)],
    ids=["reals", "told", "complex"],
)
def test_the_layout_that_is_taken_unasked_is_noted(options, complexes, notes):
    entities, relations = (E.astype(complex), R.astype(complex)) if complexes else (E, R)
    run = kgdash.run_from_arrays(
        (ENTITIES, entities), (RELATIONS, relations), "ComplEx", GRAPH, **options
    )
    assert ["layout halves" in note for note in run.notes] == [True] * notes


def test_two_functions_of_one_name_share_no_table(monkeypatch):
    from kgdash.files import table_cache

    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1)
    first, second = (
        kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, score, GRAPH)
        for score in (lambda h, r, t: (h * r * t).sum(-1), lambda h, r, t: -(h * r * t).sum(-1))
    )
    assert first.digest != second.digest
    assert first.ranks()["realistic"].tolist() != second.ranks()["realistic"].tolist()


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda h, r, t: h * r * t, r"gave torch.Size\(\[1, 14, 4\]\).*expected one real score"),
        (lambda h, r, t: 1.0, "gave float"),
    ],
)
def test_functions_that_do_not_score_are_refused(score, message):
    with pytest.raises(KgdashError, match=message):
        kgdash.run_from_arrays(ENTITY_ROWS, RELATION_ROWS, score, GRAPH)


def test_a_function_needs_both_and_finite_vectors():
    with pytest.raises(KgdashError, match="takes vectors of relations; found none"):
        kgdash.run_from_arrays(ENTITY_ROWS, None, distmult, GRAPH)
    with pytest.raises(KgdashError, match=r"row 1 .*NaN"):
        kgdash.run_from_arrays((ENTITIES, E * np.nan), RELATION_ROWS, distmult, GRAPH)


def test_vectors_of_any_shape(monkeypatch):
    from kgdash.scoring import callable_scorer

    monkeypatch.setattr(callable_scorer, "memory_budget", lambda: 4096)  # a few rows at a time
    matrices = vectors(len(RELATIONS), 4, 4)
    run = kgdash.run_from_arrays(
        ENTITY_ROWS,
        (RELATIONS, matrices),
        lambda h, r, t: torch.einsum("...i,...ij,...j->...", h, r, t),
        GRAPH,
    )
    flat = (RELATIONS, matrices.reshape(len(RELATIONS), 16))
    rescal = kgdash.run_from_arrays(ENTITY_ROWS, flat, "RESCAL", GRAPH)
    assert run.ranks()["realistic"].tolist() == rescal.ranks()["realistic"].tolist()
