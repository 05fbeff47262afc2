"""Triples that people found to be false: shipped with a run's dataset, or a user's files.

Defined in numbers.md#11-instances-true-and-false.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph.triple_files import read_graph_triples
from kgdash.runs import Run
from kgdash.studies.classification.given_negatives import find_negatives, read_negatives

#: what counts as false, where no file is named
KINDS = ("closed-world", "verified")


def verified_negatives(run: Run) -> np.ndarray | None:
    """Return the negatives in the run's dataset folder, or None if it has none.

    :return: int64 ids, shape ``(n, 3)``
    :raises KgdashError: if the files are there but can not be used
    """
    files = find_negatives(run)
    if files is None:
        return None
    given = read_negatives(files, run.graph)
    return np.concatenate([given.valid, given.test])


def negatives_by_name(run: Run, names: Iterable[str]) -> np.ndarray | None:
    """Return the negatives that "closed-world" (None), "verified" or paths of files stand for.

    :param names: one of `KINDS` alone, or files of head, relation, tail
    :raises KgdashError: if the dataset has no verified ones, or a file can not be used
    """
    names = list(names)
    if names in ([], ["closed-world"]):
        return None
    if names == ["verified"]:
        found = verified_negatives(run)
        if found is None:
            raise KgdashError(
                f"the dataset of run {run.name} ships no verified negatives (a folder with "
                "valid_negatives and test_negatives); name a file of false triples, or take "
                "closed-world"
            )
        return found
    for name in names:
        if name in KINDS or not Path(name).is_file():
            raise KgdashError(
                f"expected {' or '.join(KINDS)}, or files of false triples; found {name!r}"
            )
    return np.concatenate([read_graph_triples(Path(name), run.graph) for name in names])
