"""The widgets of the correlation study, kept in the URL."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from kgdash.charts.correlation import coefficient_label, task_label
from kgdash.graph import DIRECTIONS
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.ranking.metrics import POOLS
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.correlation import COEFFICIENTS
from kgdash.studies.reliability.subgraph_evaluation import KS, SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import default_size
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.subgraphs.form import (
    LARGEST_SEED,
    METHODS,
    choose_evaluated,
    walk_widgets,
)
from kgdash.ui.widgets.choices import choice, choose_number, choose_relik_method, choose_view

VIEWS = ("One run", "Sizes", "Several runs")

#: keys of the page's own: an address can not be given to another page for a key that both have
_BEFORE = "study_"

#: what the task is chosen from, the likeliest first
_TASKS = (
    *("tail_mrr", "relation_mrr", "accuracy", "both_mrr", "head_mrr"),
    *(f"{side}_hits_at_{k}" for k in KS for side in POOLS),
)


@dataclass(frozen=True)
class CorrelationChoice:
    """What the user chose: a view, what to study, and what of it to look at."""

    view: str
    sizes: tuple[int, ...]
    sampling: SubgraphSampling
    evaluation: SubgraphEvaluation
    task: str
    coefficient: str

    @property
    def study(self) -> tuple[tuple[int, ...], SubgraphSampling, SubgraphEvaluation, Bootstrap]:
        """Return the arguments of `correlation_study`, after the run."""
        return self.sizes, self.sampling, self.evaluation, Bootstrap(seed=self.sampling.seed)


def choose_correlation_study(run: Run) -> CorrelationChoice:
    """Show the widgets and return what they say."""
    view = choose_view(VIEWS)
    with settings():
        task = choose_task("Performance")
        count = choose_number(
            "Subgraphs",
            (3, 2000),
            100,
            "subgraphs",
            help="Each around another random entity, as long as there are enough.",
        )
        sizes = _sizes(run) if view == "Sizes" else (_size(run),)
    if not sizes:
        st.info("Choose at least one size.", icon=":material/straighten:")
        st.stop()
    with more_settings():
        method = METHODS[choice("Method", list(METHODS), f"{_BEFORE}method")]
        direction = choice(
            "Direction",
            DIRECTIONS,
            f"{_BEFORE}direction",
        )
        more = walk_widgets(method, _BEFORE)
        if method != "rwr":
            more["seed"] = choose_number("Random seed", (0, LARGEST_SEED), 0, f"{_BEFORE}seed")
        evaluated = choose_evaluated(before=_BEFORE)
        relik = choose_relik_method(f"{_BEFORE}relik_method")
        coefficient = choice(
            "Coefficient",
            {name: coefficient_label(name) for name in COEFFICIENTS},
            "coefficient",
            help="Pearson: of the values, as the paper. Spearman and Kendall: of their order.",
        )
    sampling = SubgraphSampling(int(count), method=method, direction=direction, **more)
    evaluation = SubgraphEvaluation(evaluated, relik, seed=sampling.seed)
    return CorrelationChoice(view, sizes, sampling, evaluation, task, coefficient)


def choose_task(label: str) -> str:
    """Show the tasks that ReliK can be compared with."""
    return str(choice(label, {name: task_label(name) for name in _TASKS}, "task"))


def _size(run: Run) -> int:
    size = choose_number(
        "Entities in each",
        (2, min(run.graph.num_entities, 1000)),
        default_size(run),
        f"{_BEFORE}size",
        help="The paper takes 60 on CoDEx-S, 100 on CoDEx-M and -L, 200 on FB15k-237.",
    )
    return int(size)


def _sizes(run: Run) -> tuple[int, ...]:
    most = run.graph.num_entities
    offered = [
        size for size in (*range(10, 201, 10), 250, 300, 400, 500, 750, 1000) if size <= most
    ]
    chosen = st.multiselect(
        "Entities in each",
        offered or [most],
        default=[size for size in range(20, 141, 20) if size in offered] or [most],
        key="sizes",
        bind="query-params",
        help="All sizes start from the same entities; together they cost what the largest does.",
    )
    return tuple(size for size in offered or [most] if size in chosen)
