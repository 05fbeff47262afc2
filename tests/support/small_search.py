"""Searches whose trials take a moment each, and changes to their files."""

import sqlite3
from contextlib import closing
from pathlib import Path

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


SMALL = {
    "model.embedding_dim": [4, 8],
    "training.num_epochs": 2,
    "training.batch_size": 64,
    "negative_sampler.num_negs_per_pos": 1,
}


def space(*models, **options):
    values = {**SMALL, **options.pop("values", {})}
    return SearchSpace(models or ("TransE",), values=values, **options)


def plan(*models, **options):
    keys = ("sampler", "check_every", "patience", "prune")
    how = {key: options.pop(key) for key in keys if key in options}
    return SearchPlan(space(*models, **options), **how)


def altered(path: Path, *statements: str) -> Path:
    """Change the file of a search by SQL, as a stranger may."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path
