"""A search whose trials take a moment each."""

from kgdash.hpo.space import SearchSpace
from kgdash.hpo.trial import SearchPlan

PLAN = SearchPlan(
    SearchSpace(
        ("TransE",),
        values={
            "model.embedding_dim": [4, 8],
            "training.num_epochs": 1,
            "training.batch_size": 512,
            "negative_sampler.num_negs_per_pos": 1,
        },
    )
)
