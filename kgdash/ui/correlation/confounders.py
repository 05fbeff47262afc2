"""What the page Confounders of ReliK shows: each factor, and what remains without them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from kgdash.charts.confounder_points import MOST_POINTS, class_boxes, factor_points
from kgdash.charts.confounders import FACTOR_LABELS, factor_forest, partial_forest
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.confounder_verdict import describe_partials, factor_verdict
from kgdash.studies.correlation.confounders import (
    CLASSES,
    cached_tests,
    class_table,
)
from kgdash.studies.correlation.subgraph_confounders import subgraph_factors, subgraph_partials
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import default_size
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.choices import choice, choose_number
from kgdash.ui.widgets.inspect_link import IDS, offer_inspection
from kgdash.ui.widgets.table import show_table

_P_VALUES = {"p_permutation": "p (permutation)", "p_holm": "p (Holm)"}
_MEASURES = {"spearman": "Spearman's ρ", "epsilon squared": "ε²"}


@dataclass(frozen=True)
class ConfounderView:
    """A run, what was chosen, and the table of `triple_factors`."""

    run: Run
    split: str
    factor: str
    relik_method: str
    key: tuple[Hashable, ...]
    factors: pd.DataFrame

    @property
    def name(self) -> str:
        """Return the first part of the names of files."""
        return f"{self.run.name}-{self.split}-relik"

    @property
    def triples(self) -> str:
        """Return how many triples of which split there are, as a text."""
        return f"{len(self.factors):,} {self.split} triples"


def choose_factor() -> str:
    """Show the factors that ReliK may be shown against."""
    return str(choice("Factor", FACTOR_LABELS, "factor"))


def show_verdict(view: ConfounderView, slot: Any) -> None:
    """Say what degree leaves of ReliK, and which factor ReliK goes with.

    :param slot: of `st.empty`
    """
    said = f"{describe_partials(_partials(view))} {factor_verdict(_tests(view), FACTOR_LABELS)}"
    with slot.container(gap=None):
        st.markdown(said)
        st.caption(
            "Held beside ReliK dealt anew among entities and relations, whose triples are alike; "
            "the intervals take these as independent."
        )


def _tests(view: ConfounderView) -> pd.DataFrame:
    return computed(
        "Testing factors",
        (*view.key, "factor tests"),
        Call(cached_tests, view.run, "factors", view.factors),
    )


def _partials(view: ConfounderView) -> pd.DataFrame:
    return computed(
        "Taking degree out",
        (*view.key, "partial correlations"),
        Call(cached_tests, view.run, "partial", view.factors),
    )


def show_factors(view: ConfounderView) -> None:
    """Show what ReliK has to do with each factor, and one of them in full."""
    tests = _tests(view)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.header("Each factor for itself")
        st.caption(
            f"{view.triples}; 95% intervals. Blue: ReliK rises with it, orange: it falls, "
            "grey: not told from chance."
        )
        show_chart(factor_forest(tests), "factor_forest", f"{view.name}-factors")
    with right:
        _show_factor(view, view.factor)
    st.header("Tests")
    st.caption(
        "Counts: Spearman's ρ. Classes: Kruskal and Wallis' test, and ε², the share of the ranks' "
        "variance that lies between classes. p: of independent triples; p (permutation): of ReliK "
        "dealt anew; p (Holm): the latter, corrected for the number of factors. Behind: by how "
        "much |ρ| is less than the greatest, by the same resamples and deals."
    )
    shown = tests.assign(
        factor=tests["factor"].map(FACTOR_LABELS), measure=tests["measure"].map(_MEASURES)
    )
    show_table(shown, "factor_tests", f"{view.name}-factors", tests, **_P_VALUES)


def _show_factor(view: ConfounderView, factor: str) -> None:
    name = f"{view.name}-{factor}"
    if factor in CLASSES:
        classes = class_table(view.factors, factor)
        st.header(f"ReliK by {FACTOR_LABELS[factor]}")
        st.caption("Box: quartiles and median; dashed: mean; whiskers: least and greatest.")
        show_chart(class_boxes(classes), "class_boxes", name)
        show_table(classes, "class_figures", name)
        return
    labelled = view.run.graph.with_names(view.factors)
    st.header(f"ReliK against the {FACTOR_LABELS[factor]}")
    points = len(labelled) <= MOST_POINTS
    st.caption(
        "Degree and frequency count train triples. Orange: medians. "
        + ("Click a point to see its triple." if points else "Colour: triples in a cell.")
    )
    figure = factor_points(labelled, factor)
    if not points:
        show_chart(figure, "factor_cells", name)
        return
    picked = clicked_point(figure, "factor_points", name)
    if picked is not None:
        row = labelled.iloc[int(picked)]
        st.markdown(
            f"**{plain(row['head'])}**, {plain(row['relation'])}, **{plain(row['tail'])}**: "
            f"ReliK {row['relik']:.3g}, mean reciprocal rank {row['reciprocal_rank']:.3g}; degree "
            f"of the head {row['head_degree']:,}, of the tail {row['tail_degree']:,}, frequency of "
            f"the relation {row['frequency']:,}."
        )
        ids = view.factors[IDS].iloc[int(picked)].tolist()
        offer_inspection(view.run.graph, ids, "inspect_factor_point")


def show_partials(view: ConfounderView) -> None:
    """Show ReliK against ranks with degree and frequency taken out of both."""
    table = _partials(view)
    st.header("Over triples")
    st.caption(
        f"ReliK against the reciprocal rank of {view.triples}. Rank metrics favour entities "
        "of high degree; what is left once log degree is taken out of both, a straight line of it "
        "can not explain. Bootstrap 95% intervals; open where not told from chance."
    )
    show_chart(partial_forest(table), "partials", f"{view.name}-partial")
    with st.expander("The coefficients as a table"):
        show_table(table, "partial_table", f"{view.name}-partial", **_P_VALUES)
    st.header("Over random subgraphs")
    _show_subgraphs(view)


def _show_subgraphs(view: ConfounderView) -> None:
    run = view.run
    with settings():
        count = choose_number("Subgraphs", (3, 2000), 100, "subgraphs")
        most = min(run.graph.num_entities, 1000)
        size = choose_number(
            "Entities in each", (min(2, most), most), default_size(run), "study_size"
        )
        seed = choose_number("Random seed", (0, 10**9), 0, "seed")
    sampling = SubgraphSampling(count, size, seed=seed)
    factors, dealt = computed(
        "Drawing subgraphs, ranking, and counting negatives",
        (run.identity, "subgraph factors", sampling, view.relik_method),
        Call(subgraph_factors, run, sampling, SubgraphEvaluation(relik_method=view.relik_method)),
    )
    table = computed(
        "Taking degree out of subgraphs",
        (run.identity, "subgraph partials", sampling, view.relik_method),
        Call(subgraph_partials, factors, dealt, bootstrap=Bootstrap(seed=seed)),
    )
    tail = table[table["task"] == "tail_mrr"]
    st.markdown(f"Tail MRR: {describe_partials(tail)}")
    left_out = int(factors["tail_mrr"].isna().sum())
    st.caption(
        "Mean ReliK against the MRR of the subgraph's test triples, plain and without the mean "
        "log degree of its entities. Random walks, as in the correlation study; they overlap, so "
        f"that intervals flatter, but not p (permutation). {left_out:,} without a test triple "
        "left out."
    )
    show_chart(partial_forest(table), "subgraph_partials", f"{run.name}-subgraph-partial")
    with st.expander("The coefficients of subgraphs as a table"):
        name = f"{run.name}-subgraph-partial"
        show_table(table, "subgraph_partial_table", name, **_P_VALUES)
