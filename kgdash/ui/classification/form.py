"""The widgets of triple classification, kept in the URL."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.runs.call import Reading
from kgdash.studies.classification.classification import ClassificationSetting
from kgdash.studies.classification.given_negatives import (
    GivenNegatives,
    find_negatives,
    read_negatives,
    verified_stamp,
)
from kgdash.ui.runtime.computed import computed, refuse
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_number

_NEGATIVES = {
    "corrupted": "corrupted: any entity",
    "relation": "corrupted: entity of the relation",
    "given": "given: files",
}
_THRESHOLDS = {"global": "one for all", "relation": "one per relation"}


@dataclass(frozen=True)
class ClassificationChoice:
    """What the user chose: arguments of `kgdash.studies.classification.classification.classify`.

    ``key``: all that they depend on.
    """

    setting: ClassificationSetting
    given: GivenNegatives | None
    key: tuple[Hashable, ...]


def choose_classification(run: Run) -> ClassificationChoice:
    """Show the widgets and return what they say; without negatives, end the page's run."""
    with settings():
        negatives = choice(
            "False triples",
            _NEGATIVES,
            "negatives",
            help="Each true triple has one end replaced so that no known triple comes out: by any "
            "entity, or, which is harder, by one that a known triple of the relation has in that "
            "place. Or take false triples from files, such as people verified.",
        )
        thresholds = choice(
            "Thresholds",
            _THRESHOLDS,
            "thresholds",
            help="That with the highest accuracy on validation. Relations without validation "
            "triples share the one for all.",
        )
    with more_settings():
        seed = choose_number("Seed of the corruptions", (0, 10**9), 0, "negatives_seed")
    given, of_files = _given(run) if negatives == "given" else (None, ())
    setting = ClassificationSetting(str(negatives), str(thresholds), int(seed))
    return ClassificationChoice(setting, given, (setting, *of_files))


def _given(run: Run) -> tuple[GivenNegatives, tuple[Hashable, ...]]:
    """Show the uploads and read them, or the files of the run's dataset; else end the run."""
    kinds = {"valid": "validation", "test": "test"}
    uploads = {
        split: settings().file_uploader(
            f"False triples for {kinds[split]}",
            type=["tsv", "txt", "csv", "gz"],
            key=f"{split}_negatives",
            help="Head, relation, tail by name or label, one triple a line; tab-separated, or "
            "comma-separated in a .csv file.",
        )
        for split in kinds
    }
    contents = {split: upload.getvalue() for split, upload in uploads.items() if upload}
    if len(contents) == 2:
        files = {split: Path(upload.name) for split, upload in uploads.items() if upload}
    else:
        try:
            found = find_negatives(run)
        except KgdashError as error:
            refuse(error)
        if found is None or contents:
            st.info(
                "Give two files of false triples: the threshold is chosen on the one and tested "
                "on the other. Runs that name their dataset's folder take those in it.",
                icon=":material/upload_file:",
            )
            st.stop()
        files = dict(found)
        st.caption(f"Taken from the run's dataset: {files['valid'].name}, {files['test'].name}.")
    key: tuple[Hashable, ...] = verified_stamp(run)
    if contents:
        digests = (hashlib.sha256(content).hexdigest() for content in contents.values())
        key = (*map(str, files.values()), *digests)
    given = computed(
        "Reading false triples",
        (run.identity, "negatives", *key),
        Reading(read_negatives, files, run.graph, contents),
    )
    return given, key
