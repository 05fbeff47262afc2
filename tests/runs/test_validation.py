"""The MRR on validation of a model that is being trained."""

import pytest

from kgdash.graph.datasets import load_dataset
from kgdash.runs.training import TrainingConfig, train
from kgdash.runs.validation import validation_mrr
from kgdash.scoring.build_model import scoring_state


def test_it_is_that_of_the_written_run(tmp_path):
    graph = load_dataset("nations")
    config = TrainingConfig("DistMult", {"embedding_dim": 8}, epochs=2, batch_size=256)
    found = []

    def watch(epoch, loss, model, mrr):
        state = scoring_state(model)
        found.append([validation_mrr(graph, config.spec(), state, n) for n in (None, 199, 50)])

    run = train(graph, config, tmp_path / "run", watch=watch)
    ranks = run.ranks("valid", filter="train+valid")
    whole = (1 / ranks["realistic"]).mean()
    spread = [place * 199 // 50 for place in range(50)]
    some = [row for row in range(len(ranks)) if row % 199 in spread]
    part = (1 / ranks["realistic"].to_numpy()[some]).mean()
    assert found[-1] == pytest.approx([whole, whole, part])
    assert part != pytest.approx(whole)
