"""Triple classification beside ReliK in a part of the graph of one's choice.

Defined in numbers.md#7-triple-classification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from kgdash.graph.subgraph import Subgraph
from kgdash.progress import Progress, silent
from kgdash.studies.classification.classification import Classification
from kgdash.studies.classification.scores import confusion, figure_table
from kgdash.studies.reliability.subgraph_classification import judge_subgraph


@dataclass(frozen=True)
class LocalJudgement:
    """What classification and ReliK say of a subgraph.

    ``triples``: of `judge_subgraph`. ``figures``: ``figure``
    (those of classification, then "relik": the mean over the known triples inside), ``value``,
    ``low``, ``high`` (float64; bootstrap, NaN for ReliK), ``count`` (int64: triples behind it).
    """

    subgraph: Subgraph
    evaluated: str
    triples: pd.DataFrame
    figures: pd.DataFrame

    def value(self, figure: str) -> tuple[float, int]:
        """Return a figure and the number of triples behind it."""
        row = self.figures.set_index("figure").loc[figure]
        return float(row["value"]), int(row["count"])

    def summary(self) -> dict[str, Any]:
        """Lay it out as JSON can hold it, with names."""
        return {
            **self.subgraph.named(),
            "evaluated": self.evaluated,
            "figures": self.figures.to_dict("records"),
            "confusion": confusion(self.triples),
            "triples": self.subgraph.graph.labelled(self.triples).to_dict("records"),
        }


def judge_part(
    found: Classification,
    subgraph: Subgraph,
    evaluated: str = "test",
    corrupt: str = "inside",
    relik_method: str = "exact",
    progress: Progress = silent,
) -> LocalJudgement:
    """Judge the triples inside a subgraph by thresholds that there are, beside their mean ReliK.

    Negatives are corruptions whatever ``found`` took: given ones hardly ever lie inside a subgraph.

    :param found: gives run, thresholds, seed and level
    :param subgraph: of the run's graph
    :param evaluated: "test" or "all": the true triples that are judged
    :param corrupt: "inside" or "anywhere": who may replace an end
    :param relik_method: of `Run.relik`
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown choice, or NaN scores
    """
    judged = judge_subgraph(found.run, subgraph, found.fitted, evaluated, corrupt, found.seed)
    figures = figure_table(judged, True, found.level, found.seed)
    figures["count"] = len(judged)
    rows, relik = subgraph.triples(), float("nan")
    if len(rows):
        table = found.run.relik(triples=rows, method=relik_method, progress=progress)
        relik = float(table["relik"].mean())
    nothing = float("nan")
    figures.loc[len(figures)] = ["relik", relik, nothing, nothing, len(rows)]
    return LocalJudgement(subgraph, evaluated, judged, figures)
