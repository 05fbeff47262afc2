"""What the page Correlation study shows: one run, several sizes, several runs."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.charts.correlation import (
    coefficient_label,
    size_sweep,
    study_scatter,
    task_intervals,
    task_label,
)
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number, p_value
from kgdash.studies.correlation.correlation import regression_band
from kgdash.studies.correlation.models_table import marked, models_table
from kgdash.studies.correlation.study_verdict import study_verdict, sweep_verdict
from kgdash.ui.correlation.study_form import CorrelationChoice
from kgdash.ui.runtime.computed import computed
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.table import download, show_table

_OPENED = "subgraphs_opened_from_the_study"


def show_run(
    run: Run, choice: CorrelationChoice, scores: pd.DataFrame, coefficients: pd.DataFrame
) -> None:
    """Show one task against ReliK, a point per subgraph, and the coefficients of all tasks."""
    row = _row(coefficients, choice)
    of = (choice.task, choice.coefficient, task_label(choice.task))
    st.markdown(study_verdict(coefficients, *of))
    _cards(row, choice)
    left, right = st.columns([3, 2], gap="large")
    name = f"{run.name}-study"
    with left:
        st.header(f"{_capital(task_label(choice.task))} against mean ReliK")
        st.caption(
            "A point is a subgraph and grows with the number of its evaluated triples. Click one "
            "to open it on the page Local reliability."
        )
        log = st.toggle(
            "ReliK on a log axis, and the line fitted there", key="log_relik", bind="query-params"
        )
        band = computed(
            "Fitting",
            (run.identity, "study band", choice, log),
            Call(regression_band, scores, choice.task, log_relik=log),
        )
        picked = clicked_point(
            study_scatter(scores, choice.task, band, _texts(run, scores), log),
            f"study_scatter_{st.session_state.setdefault(_OPENED, 0)}",
            f"{name}-{choice.task}",
        )
    if picked is not None:
        _open(run, choice, scores.iloc[int(picked)])
    with right:
        st.header("All tasks")
        st.caption("With bootstrap 95% intervals; open where p (permutation) > 0.05.")
        show_chart(task_intervals(coefficients, choice.coefficient), "study_tasks", f"{name}-tasks")
    st.header("Correlations")
    st.caption(
        "p: of independent subgraphs; as they overlap, it flatters, and so do the intervals. "
        "p (permutation): how often ReliK dealt anew among entities, or relations, does as "
        "much, of each task alone; p (Holm): the same, corrected for the number of tasks."
    )
    _correlation_table(coefficients, f"{name}-correlations")
    with st.expander("The values of every subgraph"):
        named = scores.assign(seed_entity=[run.graph.entities[e] for e in scores["seed_entity"]])
        show_table(named, "study_subgraphs", f"{name}-subgraphs")


def show_sizes(run: Run, choice: CorrelationChoice, coefficients: pd.DataFrame) -> None:
    """Show how the coefficients change with the size of the subgraphs."""
    st.markdown(_sweep(coefficients, choice, "sizes"))
    tasks = list(coefficients["task"].unique())
    paper = [t for t in ("tail_mrr", "head_mrr", "relation_mrr", "accuracy") if t in tasks]
    chosen = list(dict.fromkeys([*paper, choice.task]))
    st.header(f"{coefficient_label(choice.coefficient)} by size")
    st.caption(
        "Filled markers: p (permutation) ≤ 0.05; open: above. Bars: bootstrap 95% intervals. "
        "The larger the subgraphs, the more of them they share."
    )
    show_chart(
        size_sweep(coefficients, choice.coefficient, [task for task in chosen if task in tasks]),
        "study_sizes",
        f"{run.name}-study-by-size",
    )
    _correlation_table(
        coefficients[coefficients["coefficient"] == choice.coefficient],
        f"{run.name}-study-sizes",
        coefficients,
    )


def show_runs(choice: CorrelationChoice, coefficients: pd.DataFrame) -> None:
    """Show the paper's table: runs × tasks."""
    paper = ["tail_mrr", "relation_mrr", "accuracy", "head_mrr", "both_mrr"]
    tasks = list(dict.fromkeys([*paper, choice.task]))
    st.markdown(_sweep(coefficients, choice, "runs"))
    table = models_table(coefficients, choice.coefficient, tasks, "p_permutation")
    st.header(f"{coefficient_label(choice.coefficient)} of mean ReliK with each task")
    st.caption(
        "° p (permutation) > 0.05; red: negative. The files hold all digits, p-values and "
        "coefficients."
    )
    texts = marked(table)
    columns = {
        name: st.column_config.TextColumn(_capital(task_label(name)), alignment="right")
        for name in texts.columns.drop(["run", "size"])
    }
    st.dataframe(
        texts.drop(columns="size").style.map(_red, subset=list(columns)),
        hide_index=True,
        column_config=columns,
        key="study_models",
    )
    download(coefficients, "study-of-runs")


def _cards(row: pd.Series, choice: CorrelationChoice) -> None:
    label = coefficient_label(choice.coefficient)
    left_out, empty = int(row["left_out"]), int(row["without_triples"])
    with st.container(horizontal=True):
        show_card(
            f"{label}: ReliK, {task_label(choice.task)}",
            number(row["value"]),
            f"95%: {number(row['low'])} to {number(row['high'])}",
        )
        show_card(
            "p-value",
            p_value(row["p_permutation"]),
            f"Holm: {p_value(row['p_holm'])}",
            "How often ReliK dealt anew among entities, or relations, does as much, of this task "
            "alone; by Holm corrected for the number of tasks.",
        )
        show_card(
            "Subgraphs",
            f"{int(row['subgraphs']):,}",
            f"{left_out:,} left out" if left_out else "none left out",
            f"Left out: {empty:,} without any known triple inside, {left_out - empty:,} "
            "without an evaluated one.",
        )


def _sweep(coefficients: pd.DataFrame, choice: CorrelationChoice, of: str) -> str:
    mine = coefficients[coefficients["task"] == choice.task]
    return sweep_verdict(mine, choice.coefficient, task_label(choice.task), of)


def _row(coefficients: pd.DataFrame, choice: CorrelationChoice) -> pd.Series:
    return coefficients[
        (coefficients["task"] == choice.task) & (coefficients["coefficient"] == choice.coefficient)
    ].iloc[0]


def _texts(run: Run, scores: pd.DataFrame) -> list[str]:
    return [
        f"around {run.graph.entity_labels[row.seed_entity]}\n{row.entities} entities, "
        f"{row.triples:,} known triples, {row.evaluated:,} evaluated"
        for row in scores.itertuples()
    ]


def _open(run: Run, choice: CorrelationChoice, row: pd.Series) -> None:
    # Another key has no selection: who comes back would be sent away again.
    st.session_state[_OPENED] += 1
    sampling = choice.sampling
    own = "restart" if sampling.method == "rwr" else "hops"
    walk: dict[str, Any] = {own: getattr(sampling, own)}
    if row["walk_seed"] >= 0:
        walk["seed"] = int(row["walk_seed"])
    open_local(
        sampling.method,
        choice.evaluation.evaluated,
        entity=run.graph.entities[int(row["seed_entity"])],
        size=int(row["size"]),
        direction=sampling.direction,
        **walk,
    )


def _correlation_table(shown: pd.DataFrame, name: str, whole: pd.DataFrame | None = None) -> None:
    table = shown.assign(
        task=[task_label(task) for task in shown["task"]],
        coefficient=[coefficient_label(name) for name in shown["coefficient"]],
    )
    # What the cards say of all rows at once is left to the table's menu.
    alike = ["size", "subgraphs", "left_out", "without_triples"]
    later = dict.fromkeys(column for column in alike if table[column].nunique() == 1)
    show_table(
        table,
        "study_correlations",
        name,
        shown if whole is None else whole,
        p_permutation="p (permutation)",
        p_holm="p (Holm)",
        low="95% low",
        high="95% high",
        **later,
    )


def _red(text: str) -> str:
    return "color: #c8401a" if text.startswith("−") else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
