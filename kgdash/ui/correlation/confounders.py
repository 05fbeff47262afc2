"""What the page What explains ReliK shows: each factor, all together, and what remains."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kgdash.charts.confounder_points import MOST_POINTS, class_boxes, factor_points
from kgdash.charts.confounders import FACTOR_LABELS, factor_forest, partial_forest, share_bars
from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.studies.correlation.confounder_regression import FEWEST, Regression, regression
from kgdash.studies.correlation.confounder_words import remains_in_words
from kgdash.studies.correlation.confounders import CLASSES, COUNTS, class_figures, stored
from kgdash.studies.correlation.confounders_of_subgraphs import subgraph_factors, subgraph_partials
from kgdash.studies.reliability.subgraph_table import default_size
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choice
from kgdash.ui.widgets.markdown import plain
from kgdash.ui.widgets.selection import selected_point
from kgdash.ui.widgets.table import show_table


@dataclass(frozen=True)
class Explained:
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
    return str(choice("Factor", [*COUNTS, *CLASSES], "factor", 240, names=FACTOR_LABELS))


def show_factors(explained: Explained) -> None:
    """Show what ReliK has to do with each factor, and one of them in full."""
    tests = computed(
        "Testing factors",
        (*explained.key, "factor tests"),
        lambda progress: stored(explained.run, "factors", explained.factors, progress=progress),
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("Each factor for itself")
        st.caption(
            f"{explained.triples}; 95 % intervals. Blue: ReliK rises with it, orange: it falls, "
            "grey: p (Holm) ≥ 0.05."
        )
        show_chart(factor_forest(tests), "factor_forest", f"{explained.name}-factors")
    with right:
        _show_factor(explained, explained.factor)
    st.subheader("Tests")
    st.caption(
        "Counts: Spearman's ρ. Classes: Kruskal and Wallis' test, and ε², the share of the ranks' "
        "variance that lies between classes. p (Holm) is corrected for the number of factors. "
        "Triples share entities and relations, so that p-values and intervals flatter."
    )
    shown = tests.assign(factor=tests["factor"].map(FACTOR_LABELS))
    show_table(shown, "factor_tests", f"{explained.name}-factors", tests, p_holm="p (Holm)")


def _show_factor(explained: Explained, factor: str) -> None:
    name = f"{explained.name}-{factor}"
    if factor in CLASSES:
        figures = class_figures(explained.factors, factor)
        st.subheader(f"ReliK by {FACTOR_LABELS[factor]}")
        st.caption("Box: quartiles and median; dashed: mean; whiskers: least and greatest.")
        show_chart(class_boxes(figures), "class_boxes", name)
        show_table(figures, "class_figures", name)
        return
    labelled = explained.run.graph.labelled(explained.factors)
    st.subheader(f"ReliK against the {FACTOR_LABELS[factor]}")
    points = len(labelled) <= MOST_POINTS
    st.caption(
        "Degree and frequency count train triples. Orange: medians. "
        + ("Click a point to see its triple." if points else "Colour: triples in a cell.")
    )
    figure = factor_points(labelled, factor)
    if not points:
        show_chart(figure, "factor_cells", name)
        return
    picked = selected_point(
        show_chart(figure, "factor_points", name, on_select="rerun", selection_mode="points")
    )
    if picked is not None:
        row = labelled.iloc[int(picked)]
        st.markdown(
            f"**{plain(row['head'])}**, {plain(row['relation'])}, **{plain(row['tail'])}**: "
            f"ReliK {row['relik']:.3g}, mean reciprocal rank {row['reciprocal_rank']:.3g}; degree "
            f"of the head {row['head_degree']:,}, of the tail {row['tail_degree']:,}, frequency of "
            f"the relation {row['frequency']:,}."
        )


def show_regression(explained: Explained) -> None:
    """Show the regression of log ReliK on all factors."""
    found = computed(
        "Regression", (*explained.key, "regression"), lambda _: _regression(explained.factors)
    )
    if isinstance(found, str):
        st.info(found, icon=":material/data_thresholding:")
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("Share of each factor")
        st.caption(
            f"All factors together explain {found.r_squared:.1%} of the variance of log ReliK over "
            f"{found.triples:,} triples (adjusted {found.adjusted_r_squared:.1%}). Grey: what a "
            "factor explains alone; blue: what is lost without it."
        )
        show_chart(share_bars(found.shares, found.r_squared), "shares", f"{explained.name}-shares")
    with right:
        st.subheader("Coefficients")
        references = ", ".join(
            f"{FACTOR_LABELS[factor]} {plain(name)}" for factor, name in found.references.items()
        )
        left_out = f" {found.left_out:,} triples of classes with fewer than {FEWEST} left out."
        st.caption(
            "Change of log₁₀ ReliK per standard deviation of log₁₀(1 + count), or against the "
            f"reference ({references}), with HC3 errors. –: follows from the others."
            + left_out
            * bool(found.left_out)
        )
        shown = found.coefficients.assign(factor=found.coefficients["factor"].map(FACTOR_LABELS))
        counts = found.coefficients["factor"] == found.coefficients["term"]
        shown["term"] = shown["term"].where(~counts, "")
        show_table(
            shown,
            "coefficients",
            f"{explained.name}-regression",
            found.coefficients,
            term="class",
            p_holm="p (Holm)",
        )


def _regression(factors: pd.DataFrame) -> Regression | str:
    """Return the regression, or why there is none: a graph may be too small or too uniform."""
    try:
        return regression(factors)
    except KgdashError as error:
        return str(error)


def show_remains(explained: Explained) -> None:
    """Show ReliK against ranks with degree and frequency taken out of both."""
    table = computed(
        "Taking degree out",
        (*explained.key, "partial correlations"),
        lambda progress: stored(explained.run, "partial", explained.factors, progress=progress),
    )
    st.subheader("Over triples")
    st.info(remains_in_words(table, "degree"), icon=":material/filter_alt:")
    st.caption(
        f"ReliK against the reciprocal rank of {explained.triples}. Rank metrics favour entities "
        "of high degree; what is left once log degree is taken out of both, degree can not "
        "explain. Bootstrap 95 % intervals; open where they hold 0."
    )
    show_chart(partial_forest(table), "partials", f"{explained.name}-partial")
    with st.expander("The coefficients as a table"):
        show_table(table, "partial_table", f"{explained.name}-partial", p_holm="p (Holm)")
    st.subheader("Over random subgraphs")
    _show_subgraphs(explained)


def _show_subgraphs(explained: Explained) -> None:
    run = explained.run
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = _whole("Subgraphs", 3, 2000, 100, "subgraphs")
        most = min(run.graph.num_entities, 1000)
        size = _whole("Entities in each", min(2, most), most, default_size(run), "study_size")
        seed = _whole("Random seed", 0, 10**9, 0, "seed")
    choices = (count, size, seed)
    figures = computed(
        "Drawing subgraphs, ranking, and counting negatives",
        (run.digest, "subgraph factors", *choices, explained.relik_method),
        lambda progress: subgraph_factors(
            run, *choices, relik_method=explained.relik_method, progress=progress
        ),
    )
    table = computed(
        "Taking degree out of subgraphs",
        (run.digest, "subgraph partials", *choices, explained.relik_method),
        lambda _: subgraph_partials(figures),
    )
    tail = table[table["task"] == "tail_mrr"]
    st.info(f"Tail MRR: {remains_in_words(tail)}", icon=":material/filter_alt:")
    left_out = int(figures["tail_mrr"].isna().sum())
    st.caption(
        "Mean ReliK against the MRR of the subgraph's test triples, plain and without the mean "
        "log degree of its entities. Random walks, as in the correlation study; they overlap, so "
        f"that intervals flatter. {left_out:,} without a test triple left out."
    )
    show_chart(partial_forest(table), "subgraph_partials", f"{run.name}-subgraph-partial")
    with st.expander("The coefficients of subgraphs as a table"):
        name = f"{run.name}-subgraph-partial"
        show_table(table, "subgraph_partial_table", name, p_holm="p (Holm)")


def _whole(label: str, least: int, most: int, value: int, key: str) -> int:
    found = st.number_input(
        label, least, most, min(max(value, least), most), key=key, bind="query-params", width=150
    )
    return int(found)
