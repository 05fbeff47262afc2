"""One instance: drawn as a path, and its triples beneath."""

from __future__ import annotations

import streamlit as st

from kgdash.charts.instance_path import path_figure
from kgdash.ranking.glossary import explained
from kgdash.runs import Run
from kgdash.studies.instances.instances import IDS, MEASURES, ScoredInstances, instance_triples
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_scale import run_scale
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.inspect_link import show_triples

_BEST, _ALL = "the best", "all"

#: groundings that can be chosen by their numbers
_MOST = 1_000


def show_instance(run: Run, scored: ScoredInstances, instance: int, measure: str) -> None:
    """Show an instance's path and triples.

    :param instance: its number
    :param measure: decides which of several groundings is the best
    """
    about = scored.table.set_index("instance").loc[instance]
    st.markdown(
        f"**{plain(about['question'])} → {plain(about['answer'])}** is "
        f"{'true' if about['label'] else 'false'}"
    )
    rows = scored.triples[scored.triples["instance"] == instance]
    if (count := int(about["groundings"])) > 1:
        chosen = st.selectbox(
            "Grounding",
            [_BEST, _ALL, *range(min(count, _MOST))],
            format_func=lambda c: c if isinstance(c, str) else f"number {c}",
            key=f"grounding_{instance}",
            help=explained("Grounding", f"The first {min(count, _MOST):,} of {count:,} by number."),
            width=160,
        )
        if chosen != _ALL:
            column, only_head = MEASURES[measure]
            weighed = rows[rows["is_answer_triple"]] if only_head else rows
            best = weighed.groupby("grounding")[column].mean().idxmax()
            rows = rows[rows["grounding"] == (best if chosen == _BEST else chosen)]
    drawn = rows.assign(split=run.graph.split_of(rows[["head", "relation", "tail"]].to_numpy()))
    labels = run.graph.entity_labels, run.graph.relation_labels
    show_chart(
        path_figure(drawn, *labels, bool(about["label"]), run_scale(run)),
        f"path_{instance}",
        f"{run.name}-instance-{instance}-path",
    )
    st.caption(
        "The star is the answer; an edge points from head to tail and is dashed where it is no "
        "known fact. Colours are the same in all drawings of the run."
    )
    triples = instance_triples(run.graph, scored.triples, instance)
    every = scored.triples.loc[scored.triples["instance"] == instance, IDS].to_numpy()
    show_triples(
        run.graph,
        every,
        triples,
        f"grounding_{instance}_triples",
        f"{run.name}-instance-{instance}",
    )
