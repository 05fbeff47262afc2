"""Files of rules and false triples that a visitor hands in, or that lie beside the dataset."""

from __future__ import annotations

import numpy as np

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.runs.call import Reading
from kgdash.studies.classification.given_negatives import (
    find_negatives,
    read_negatives,
    verified_stamp,
)
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.rule_table import Rules
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_rules
from kgdash.ui.runtime.computed import computed, refuse
from kgdash.ui.runtime.result_cache import file_key


def read_rule_file(run: Run, selection: RuleSelection, content: bytes, name: str) -> Rules:
    """Read the rules of an upload with enough support and confidence; a refusal ends the page."""
    file = file_key(name, content)
    return computed(
        "Reading rules",
        (run.identity, "rule file", *file, selection.min_pca, selection.min_support),
        Reading(find_rules, run.graph, selection, RuleFile(content, name)),
    )


def read_verified(run: Run) -> np.ndarray | None:
    """Read the false triples in the run's dataset folder; None if it has none.

    :return: int64 ids, shape ``(n, 3)``
    """
    try:
        files = find_negatives(run)
    except KgdashError as error:
        refuse(error)
    if files is None:
        return None
    given = computed(
        "Reading false triples",
        (run.identity, "negatives", *verified_stamp(run)),
        Reading(read_negatives, files, run.graph),
    )
    return np.concatenate([given.valid, given.test])
