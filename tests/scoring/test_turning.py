"""RotatE scores rows and triples by one function, or is refused."""

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.run_directory import read_run, write_run
from kgdash.runs.bundled import DEMO
from kgdash.runs.importing import run_from_arrays
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, fit
from kgdash.scoring.kernel_scorer import KernelScorer
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from kgdash.scoring.turning import check_turning
from tests.support.embeddings import ENTITIES, GRAPH, RELATIONS, all_triples, vectors
from tests.support.pickled_models import make

REFUSAL = r"stretched: RotatE takes relations of modulus 1 .* found moduli from 0\.\d+ to 1\.\d+, "


RELATION_WEIGHTS = "relation_representations.0._embeddings.weight"


def changed(out, change):
    """Write a bundled RotatE again, its relations changed as complex numbers."""
    graph, spec, state, manifest = read_run(DEMO / "umls-rotate")
    weights = torch.view_as_complex(state[RELATION_WEIGHTS].unflatten(-1, (-1, 2)).contiguous())
    values = torch.view_as_real(change(weights)).flatten(-2).contiguous()
    state = {**state, RELATION_WEIGHTS: values}
    return write_run(out, graph, spec, state, manifest["training"], manifest["provenance"])


def test_a_run_whose_relations_stretch_is_refused(tmp_path):
    moduli = torch.linspace(0.5, 1.5, 46 * 50).view(46, 50)
    folder = changed(tmp_path / "stretched", lambda weights: weights * moduli)
    with pytest.raises(KgdashError, match=REFUSAL + 'by which .* "complex_normalize"'):
        load(folder)


def test_rounding_to_half_precision_stretches_nothing(tmp_path):
    halve = lambda weights: torch.view_as_complex(torch.view_as_real(weights).half().float())  # noqa: E731
    run = load(changed(tmp_path / "rounded", halve))
    assert isinstance(run.scorer, KernelScorer)
    assert run.notes == ()


@pytest.mark.parametrize(
    ("name", "inverse", "kwargs"),
    [
        ("RotatE", False, {}),
        ("RotatE", True, {}),
        ("RGCN", False, {"interaction": "RotatE"}),
        ("NodePiece", True, {"interaction": "RotatE"}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refused_are_those_alone_whose_triples_score_otherwise_than_rows(name, inverse, kwargs):
    model = make(name, inverse, **kwargs)
    triples = torch.cartesian_prod(torch.arange(14), torch.arange(5), torch.arange(14))

    def differ():
        scorer = PyKEENScorer(model)
        rows = scorer.score_tails(triples[:, :2]).gather(1, triples[:, 2:])[:, 0]
        return not torch.allclose(rows, scorer.score_triples(triples), rtol=1e-4, atol=1e-4)

    assert differ()
    with pytest.raises(KgdashError, match="here: RotatE takes relations of modulus 1"):
        check_turning(model, "here")
    (relations,) = model.relation_representations
    weights = getattr(relations, "base", relations)._embeddings.weight.data.unflatten(-1, (-1, 2))
    weights /= weights.norm(dim=-1, keepdim=True)
    check_turning(model, "here")
    assert not differ()


def test_other_interactions_may_stretch():
    check_turning(make("ComplEx"), "here")
    check_turning(make("RGCN", interaction="DistMult"), "here")


def test_sums_of_moduli_are_one_function_however_relations_stretch():
    e, r = (vectors(n, 6, seed=3) for n in (len(ENTITIES), len(RELATIONS)))
    scorer = run_from_arrays((ENTITIES, e), (RELATIONS, r), "RotatE-L1", GRAPH).scorer
    triples = torch.from_numpy(all_triples())
    singly = scorer.score_triples(triples)
    heads, tails = scorer.score_heads(triples[:, 1:]), scorer.score_tails(triples[:, :2])
    relations = scorer.score_relations(triples[:, [0, 2]])
    for rows, column in ((heads, 0), (relations, 1), (tails, 2)):
        own = rows.gather(1, triples[:, column : column + 1])[:, 0]
        np.testing.assert_allclose(own, singly, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_training_what_would_be_refused_ends_with_the_first_epoch():
    config = TrainingConfig("RGCN", {"embedding_dim": 4, "interaction": "RotatE"}, epochs=50)
    seen = []
    with pytest.raises(KgdashError, match="train: RotatE takes relations of modulus 1"):
        fit(GRAPH, config, watch=lambda epoch, *_: seen.append(epoch))
    assert not seen
