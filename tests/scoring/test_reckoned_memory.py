"""What scoring and training take of memory is reckoned, and refused where it is too much."""

from contextlib import nullcontext

import numpy as np
import pytest
from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop, SymmetricLCWATrainingLoop

from kgdash.errors import KgdashError
from kgdash.scoring import reckoned_memory
from kgdash.scoring.build_model import skeleton
from kgdash.scoring.model_spec import ModelSpec
from kgdash.scoring.reckoned_memory import check_batch, check_made

GIB = 2**30
SLCWA, LCWA, BOTH = (
    loop.__name__ for loop in (SLCWATrainingLoop, LCWATrainingLoop, SymmetricLCWATrainingLoop)
)


def model_of(sizes: tuple[int, int, int], name: str, edges: int = 1, **kwargs):
    entities, relations, width = sizes
    spec = ModelSpec(name, {"embedding_dim": width, **kwargs}, name in ("CompGCN", "NodePiece"))
    triples = np.zeros((edges, 3), dtype=np.int64)
    return skeleton(spec, triples, entities, relations, "here")


def outcome(is_opened: bool, words: str):
    return nullcontext() if is_opened else pytest.raises(KgdashError, match=words)


@pytest.mark.parametrize("decomposition", ["BasesDecomposition", "BlockDecomposition"])
@pytest.mark.parametrize(
    ("sizes", "is_served", "is_opened"),
    [
        ((20_000, 900, 32), False, False),  # 4 MB took 5 GB
        ((14_541, 237, 64), False, True),  # FB15k-237
        ((2_000, 500, 64), True, True),
    ],
)
def test_relations_that_take_all_entities(sizes, is_served, is_opened, decomposition, as_visitor):
    made = model_of(sizes, "RGCN", decomposition=decomposition)
    with outcome(is_opened, "here: to score takes .* bytes .* set KGDASH_MEMORY to more"):
        check_made(made, "here")
    as_visitor(name="ada", folder="a")
    with outcome(is_served, "at most: set"):
        check_made(made, "here")


@pytest.mark.parametrize(("edges", "is_opened"), [(272_115, True), (1_200_000, False)])
def test_edges_that_take_vectors(edges, is_opened):
    made = model_of((14_541, 237, 200), "CompGCN", edges)
    with outcome(is_opened, "to score takes 2,8"):
        check_made(made, "here")


def test_vectors_that_are_looked_up_are_the_weights_own():
    check_made(model_of((10, 2_000, 1_000), "RESCAL"), "here")  # 8 GB, which a file would hold


@pytest.mark.parametrize(
    ("model", "loop", "rows", "negatives", "gib"),
    [
        (("TransE", 256), SLCWA, 256, 256, 0.4),
        (("TransE", 256), SLCWA, 256, 16_000, 23),
        (("TransE", 256), LCWA, 256, 1, 0.75),
        (("TransE", 256), LCWA, 4_000, 1, 11.5),
        (("TransE", 256), BOTH, 4_000, 1, 15),
        (("RGCN", 256), LCWA, 4_000, 1, 8),
        (("CompGCN", 256), LCWA, 4_000, 1, 8),
        (("NodePiece", 256), SLCWA, 256, 16_000, 23),
    ],
)
def test_a_batch_may_take_what_is_free(model, loop, rows, negatives, gib, monkeypatch):
    """Measured: 1.51 GB of 1.47 of TransE, 1.73 of 1.66 of ConvE."""
    name, width = model
    made, free = model_of((1_000, 5, width), name, 4_000), {"bytes": int(1.25 * gib * GIB)}
    monkeypatch.setattr(reckoned_memory, "free_memory", lambda: free["bytes"])
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    check_batch(made, (loop, rows, negatives), "here")
    free["bytes"] = int(0.75 * gib * GIB)
    with pytest.raises(
        KgdashError, match=rf"here: to train on {rows:,} triples at once, with .* each"
    ):
        check_batch(made, (loop, rows, negatives), "here")
    monkeypatch.setenv("KGDASH_MEMORY", "1000G")
    check_batch(made, (loop, rows, negatives), "here")


def test_what_a_stranger_wrote_may_take_what_is_free_if_it_is_usual(monkeypatch):
    """LCWA of 256 rows is usual, and takes 6 GB with DistMult of 200 numbers on FB15k-237."""
    monkeypatch.setattr(reckoned_memory, "free_memory", lambda: 64 * GIB)
    fb15k_237 = model_of((14_541, 237, 500), "TransE")
    check_batch(fb15k_237, (LCWA, 256, 1), "here", is_own=False)
    check_batch(fb15k_237, (SLCWA, 256, 256), "here", is_own=False)
    small = model_of((1_000, 5, 256), "TransE")
    check_batch(small, (LCWA, 4_000, 1), "here")
    for loop, rows, negatives in ((LCWA, 4_000, 1), (SLCWA, 256, 16_000)):
        with pytest.raises(KgdashError, match=r"expected 2\.0 at most: take a smaller batch"):
            check_batch(small, (loop, rows, negatives), "here", is_own=False)


def test_where_the_system_does_not_say_what_is_free(monkeypatch):
    made = model_of((1_000, 5, 256), "TransE")
    monkeypatch.setattr(reckoned_memory, "free_memory", lambda: 0)
    check_batch(made, (LCWA, 2_500, 1), "here")
    with pytest.raises(KgdashError, match=r"expected 8\.0 at most"):
        check_batch(made, (LCWA, 4_000, 1), "here")


@pytest.mark.parametrize("negatives", [0, -1, "1", 2.0, True])
def test_no_numbers_of_negatives(negatives):
    with pytest.raises(KgdashError, match="here: expected 1 negative or more"):
        check_batch(model_of((10, 5, 4), "TransE"), (SLCWA, 8, negatives), "here")
