"""Why a model gives an answer, on the page Inspect: the doubt, facts, rules, similar entities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.instance_path import path_figure
from kgdash.graph import IDS
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.studies.classification.given_negatives import verified_stamp
from kgdash.studies.explanations.carrying_facts import CarryingFacts
from kgdash.studies.explanations.explanation import Explanation, explain
from kgdash.studies.explanations.verdict import (
    TRAINED,
    carried_text,
    doubts,
    no_rule_text,
    similar_text,
)
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import Inspection
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.run_scale import run_scale
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.inspect_link import pick_triple
from kgdash.ui.widgets.table import show_table

#: groundings of the best rule that are drawn
_DRAWN = 3


def reasons_at_hand(run: Run, triple: InspectedTriple) -> Explanation | None:
    """Return the explanation that was made for a page lately, or None."""
    found: Explanation | None = memory().get(_key(run, triple))
    return found


def show_explanation(found: Inspection) -> None:
    """Show why the model gives a whole triple; what may be wrong with it comes first."""
    run, triple = found.run, found.triple
    was_there = reasons_at_hand(run, triple) is not None
    why = computed("Looking for reasons", _key(run, triple), Call(explain, run, triple))
    if not was_there and reasons_at_hand(run, triple) is not None:
        st.rerun()  # the card above names the strongest reason
    if said := doubts(why):
        st.warning("  \n".join(map(plain, said)), icon=":material/warning:")
    elif why.judged == "train":
        st.caption(TRAINED)
    st.subheader("Facts that carry it")
    for column, each in zip(st.columns(2, gap="large"), why.carried, strict=False):
        with column:
            _show_facts(why, each)
    st.subheader("Rules that lead to it")
    _show_rules(why)
    st.subheader("Similar entities with this relation")
    _show_similar(why)


def _key(run: Run, triple: InspectedTriple) -> tuple[object, ...]:
    return (run.identity, "why", triple, *verified_stamp(run))


def _show_facts(why: Explanation, each: CarryingFacts) -> None:
    st.markdown(plain(carried_text(why, each)))
    if not each.carries:
        return
    named = why.run.graph.with_names(pd.DataFrame(each.facts, columns=IDS))
    key = f"carrying_{each.side}_{'_'.join(map(str, why.triple.parts))}"
    pick_triple(why.run.graph, each.facts, named[IDS], key, "facts that carry a prediction")


def _show_rules(why: Explanation) -> None:
    rules = why.rules
    if rules.maximum is None or rules.noisy_or is None:
        st.caption(no_rule_text(why))
        return
    st.caption(
        f"{len(rules.table):,} of {rules.mined:,} rules of the relation, the most confident "
        f"first: {number(rules.maximum)} alone, {number(rules.noisy_or)} together as if they were "
        "independent (noisy-or)."
    )
    columns = ["reading", "pca_confidence", "support", "paths"]
    name, heading = f"{why.run.name}-rules-of-a-triple", "PCA confidence"
    show_table(rules.table[columns], "leading_rules", name, pca_confidence=heading)
    drawn = rules.paths[(rules.paths["place"] == 0) & (rules.paths["grounding"] < _DRAWN)]
    count = int(rules.table["paths"].iloc[0])
    some = f"{_DRAWN} of its {count:,} groundings" if count > _DRAWN else "its groundings"
    st.caption(f"The best rule, by {some} in train:")
    show_chart(_paths(why, drawn), "rule_paths", f"{why.run.name}-rule-of-a-triple")


def _paths(why: Explanation, body: pd.DataFrame) -> object:
    """Draw groundings of a rule's body with the triple that they lead to."""
    run = why.run
    head = pd.DataFrame(why.triple.row, columns=IDS).assign(is_answer_triple=True, grounding=0)
    rows = pd.concat([body.assign(is_answer_triple=False), head], ignore_index=True)
    ids = rows[IDS].to_numpy(np.int64)
    drawn = rows.assign(
        predicted_side="tail",
        relik=run.relik(triples=ids)["relik"].to_numpy(),
        split=run.graph.split_of(ids),
    )
    label = {"unknown": None, "false": False}.get(why.judged, True)
    labels = run.graph.entity_labels, run.graph.relation_labels
    return path_figure(drawn, *labels, label, run_scale(run))


def _show_similar(why: Explanation) -> None:
    graph = why.run.graph
    st.caption(plain(similar_text(why)))
    if why.similar is None or why.similar.empty:
        return
    rows = why.similar["entity"].to_numpy()
    tails = np.array([tails[0] for tails in why.similar["tails"]], dtype=np.int64)
    ids = np.stack([rows, np.full(len(rows), why.triple.relation), tails], axis=1)
    table = pd.DataFrame(
        {
            "entity": [graph.entity_labels[entity] for entity in rows],
            "distance": why.similar["distance"].to_numpy(),
            "tails": [
                ", ".join(graph.entity_labels[tail] for tail in each)
                for each in why.similar["tails"]
            ],
            "facts": why.similar["facts"].to_numpy(),
        }
    )
    key = f"similar_{'_'.join(map(str, why.triple.parts))}"
    pick_triple(graph, ids, table, key, "similar entities with the relation")
