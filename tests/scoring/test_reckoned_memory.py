"""What scoring and training take of memory is reckoned, and refused where it is too much."""

from contextlib import nullcontext

import numpy as np
import pytest
from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop, SymmetricLCWATrainingLoop

from kgdash.errors import KgdashError
from kgdash.scoring import reckoned_memory
from kgdash.scoring.build_model import skeleton
from kgdash.scoring.model_spec import ModelSpec
from kgdash.scoring.reckoned_memory import check_batch, check_made, most_for_training

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
def test_a_batch_is_reckoned(model, loop, rows, negatives, gib):
    """Measured: 1.51 GB of 1.47 of TransE, 1.73 of 1.66 of ConvE."""
    name, width = model
    made = model_of((1_000, 5, width), name, 4_000)
    check_batch(made, (loop, rows, negatives), "here", int(1.25 * gib * GIB))
    with pytest.raises(
        KgdashError, match=rf"here: to train on {rows:,} triples at once, with .* each"
    ):
        check_batch(made, (loop, rows, negatives), "here", int(0.75 * gib * GIB))


def test_what_training_may_take(monkeypatch):
    """As usual runs say: LCWA of 256 rows of FB15k-237 takes 6 GB with DistMult of 200 numbers."""
    free = {"bytes": 64 * GIB}
    monkeypatch.setattr(reckoned_memory, "free_memory", lambda: free["bytes"])
    assert (most_for_training(), most_for_training(is_own=False)) == (64 * GIB, 4 * GIB)
    free["bytes"] = GIB
    assert (most_for_training(), most_for_training(is_own=False)) == (2 * GIB, 4 * GIB)
    free["bytes"] = 0  # where the system does not say
    monkeypatch.setenv("KGDASH_MEMORY", "1G")
    assert (most_for_training(), most_for_training(is_own=False)) == (4 * GIB, 2 * GIB)
    fb15k_237 = model_of((14_541, 237, 200), "DistMult")
    check_batch(fb15k_237, (LCWA, 256, 1), "here", 8 * GIB)


@pytest.mark.parametrize("negatives", [0, -1, "1", 2.0, True])
def test_no_numbers_of_negatives(negatives):
    with pytest.raises(KgdashError, match="here: expected 1 negative or more"):
        check_batch(model_of((10, 5, 4), "TransE"), (SLCWA, 8, negatives), "here", GIB)
