"""The widgets that choose which predictions to judge, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor
from kgdash.progress import Progress
from kgdash.ranking.glossary import explained
from kgdash.runs import Run
from kgdash.runs.call import Call, Reading
from kgdash.studies.audit.of_run import latest_audit
from kgdash.studies.classification.given_negatives import verified_stamp
from kgdash.studies.labelling.facts import FACT_ORDERS
from kgdash.studies.labelling.queue import ORDERS
from kgdash.studies.labelling.sources import JUDGED, predictions_to_judge, table_predictions
from kgdash.studies.rules.predictions import Predictions
from kgdash.studies.rules.selection import RuleSelection
from kgdash.ui.instances.given_rules import read_rule_file, read_verified
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import file_key
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_number

_RULES = (
    "Rules predict triples that are in no split: some are facts that nobody wrote down, others are "
    "wrong. Say which. Every label is kept at once, and Rule predictions compares ReliK on them."
)

#: what may be judged -> what to do, and what it is good for
ABOUT = {
    "Mined rules": _RULES,
    "Rules from a file": _RULES,
    "My own table": "Say which of your triples are true. Every label is kept at once, and Rule "
    "predictions compares ReliK on them.",
    "Facts likely wrong": "Known facts, those first that an audit holds most likely wrong. Say "
    "which are; from the labels follows how many of all facts are wrong.",
}
_SOURCES = tuple(ABOUT)


@dataclass(frozen=True)
class LabellingChoice:
    """What the user chose: predictions with a key of all that they depend on; order, seed, name.

    ``audit``: facts to judge in place of predictions, the most suspicious first.
    """

    key: tuple[Hashable, ...]
    make: Callable[[Progress], Predictions]
    order: str
    seed: int
    by: str
    audit: pd.DataFrame | None = None


def choose_source() -> str:
    """Show what may be judged and return which of `ABOUT` is chosen."""
    with settings():
        return str(choice("Judge", _SOURCES, "label_source"))


def choose_predictions(run: Run, source: str) -> LabellingChoice:
    """Show the widgets and return what they say; ends the page's run while a file is missing.

    :param source: of `choose_source`
    """
    if source == _SOURCES[3]:
        return _facts(run)
    upload = _upload(source) if source != _SOURCES[0] else None
    key, make = _table(run, upload) if upload and source == _SOURCES[2] else _rules(run, upload)
    order, by = _order_and_name(
        ORDERS,
        "Random keeps what you judge a fair sample of the predictions. By reliability (mean ReliK "
        "of the triples that lead to a prediction) finds errors sooner, but what is judged so says "
        "less of how well ReliK separates.",
    )
    seed = _seed()
    return LabellingChoice((*key, seed), make(seed), order, seed, by)


def _facts(run: Run) -> LabellingChoice:
    try:
        audit = latest_audit(run)
    except KgdashError as error:
        st.info(plain(str(error)), icon=":material/fact_check:")
        st.stop()
    order, by = _order_and_name(
        FACT_ORDERS,
        "Random in strata (fifths of the audit's order) tells how many facts of train are wrong; "
        "most suspicious first finds wrong ones soonest.",
    )
    none = Predictions(pd.DataFrame(), pd.DataFrame())
    return LabellingChoice((), lambda _: none, order, _seed(), by, audit)


def _order_and_name(orders: tuple[str, ...], about: str) -> tuple[str, str]:
    with settings():
        order = choice("Order", orders, "order", help=about)
        by = visitor().name or st.text_input(
            "Your name",
            key="label_by",
            max_chars=80,
            placeholder="optional",
            help="Kept with your labels. Undo takes back the latest of this name.",
        )
    return order, by.strip()


def _seed() -> int:
    with more_settings():
        return int(choose_number("Random seed", (0, 10**9), JUDGED.seed, "label_seed"))


_Made = tuple[tuple[Hashable, ...], Callable[[int], Callable[[Progress], Predictions]]]


def _rules(run: Run, upload: tuple[bytes, str] | None) -> _Made:
    with more_settings():
        max_rules, min_pca, per_rule = _numbers()

    def make(seed: int) -> Callable[[Progress], Predictions]:
        selection = RuleSelection(max_rules, min_pca, per_rule=per_rule, seed=seed)
        rules = None if upload is None else read_rule_file(run, selection, *upload)
        return Call(predictions_to_judge, run.graph, selection, rules, read_verified(run))

    chosen = (max_rules, min_pca, per_rule, *verified_stamp(run))
    if upload is None:
        return ("mined", *chosen), make
    return ("rule file", *file_key(upload[1], upload[0]), *chosen), make


def _numbers() -> tuple[int, float, int]:
    most = choose_number("Rules", (1, 200), JUDGED.max_rules, "label_rules")
    min_pca = float(
        st.number_input(
            "Minimum PCA confidence",
            0.0,
            1.0,
            JUDGED.min_pca,
            0.05,
            key="label_pca",
            bind="query-params",
            help=explained(
                "PCA confidence",
                "Mined on the training triples, or of a file; rules with most support come first.",
            ),
        )
    )
    per_rule = choose_number("Predictions per rule", (1, 1000), JUDGED.per_rule, "label_per_rule")
    return most, min_pca, per_rule


def _table(run: Run, upload: tuple[bytes, str]) -> _Made:
    content, name = upload

    def make(_: int) -> Callable[[Progress], Predictions]:
        return Reading(table_predictions, content, run.graph, name)

    return ("table", *file_key(name, content)), make


def _upload(source: str) -> tuple[bytes, str]:
    label, key, types, about = {
        _SOURCES[1]: (
            "Rules of AMIE or AnyBURL",
            "label_rule_file",
            ["txt", "tsv", "csv", "gz"],
            "What AMIE or AnyBURL wrote for this graph, or a table with a column rule.",
        ),
        _SOURCES[2]: (
            "Table of rule instances",
            "label_table",
            ["tsv", "csv", "txt"],
            "As for the page Rule predictions. The labels in it are hidden while you judge.",
        ),
    }[source]
    upload = settings().file_uploader(label, type=types, key=key, help=f"{about} It is not kept.")
    if upload is None:
        st.info("Upload a file to judge its predictions.", icon=":material/upload_file:")
        st.stop()
    return upload.getvalue(), upload.name
