"""The widgets of the page Prognosis, kept in the URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from kgdash.charts.correlation import task_label
from kgdash.ranking.metrics import POOLS
from kgdash.runs import Run
from kgdash.studies.correlation.prediction_curves import CURVES, FEWEST, INTERVALS
from kgdash.studies.reliability.subgraph_evaluation import KS
from kgdash.ui.subgraphs.form import SubgraphChoice, choose_subgraph
from kgdash.ui.widgets.choices import choice

#: the likeliest first
_TASKS = (
    *("tail_mrr", "relation_mrr", "accuracy", "both_mrr", "head_mrr"),
    *(f"{side}_hits_at_{k}" for k in KS for side in POOLS),
)
_CURVES = {"straight line": "linear", "isotonic": "isotonic"}
_INTERVALS = {"CV+": "cv+", "split conformal": "split", "normal theory": "normal"}
_LEVELS = ["50 %", "80 %", "90 %", "95 %"]


@dataclass(frozen=True)
class PrognosisChoice:
    """What the user chose: the subgraph, and arguments of `prognosis_of_run`."""

    subgraph: SubgraphChoice
    arguments: tuple[tuple[str, Any], ...]

    @property
    def named(self) -> dict[str, Any]:
        """Return the arguments of `prognosis_of_run`, for subgraphs picked as the user's is."""
        own = dict(self.subgraph.arguments)
        own.pop("entity")
        ways = {"evaluated": self.subgraph.evaluated, "relik_method": self.subgraph.relik_method}
        return {**own, **ways, **dict(self.arguments)}


def choose_prognosis(run: Run) -> PrognosisChoice:
    """Show the widgets and return what they say."""
    subgraph = choose_subgraph(run, before="here_")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choice(
            "Expected", list(_TASKS), "task", 240, names={name: task_label(name) for name in _TASKS}
        )
        count = st.number_input(
            "Learnt from subgraphs",
            2 * FEWEST,
            2000,
            100,
            key="subgraphs",
            bind="query-params",
            width=180,
            help="Each around another random entity, picked in the way chosen above: a prognosis "
            "holds for subgraphs like those learnt from.",
        )
        curve = choice("Curve", list(_CURVES), "curve", 150, help=_listed(_CURVES, CURVES))
        kind = choice(
            "Interval", list(_INTERVALS), "interval", 170, help=_listed(_INTERVALS, INTERVALS)
        )
        level = choice("Level", _LEVELS, "level", 100, "90 %")
    arguments = {
        "task": task,
        "count": int(count),
        "curve": _CURVES[curve],
        "interval": _INTERVALS[kind],
        "level": int(level.split()[0]) / 100,
    }
    return PrognosisChoice(subgraph, tuple(arguments.items()))


def _listed(names: dict[str, str], about: dict[str, str]) -> str:
    return "  \n".join(f"{name}: {about[key]}" for name, key in names.items())
