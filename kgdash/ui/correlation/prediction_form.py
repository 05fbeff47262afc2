"""The widgets of the page Expected performance, kept in the URL."""

from __future__ import annotations

from dataclasses import dataclass

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.runs import Run
from kgdash.studies.correlation.prediction_intervals import FEWEST
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.ui.correlation.study_form import choose_task
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.subgraphs.form import SubgraphChoice, choose_subgraph
from kgdash.ui.widgets.choices import choice, choose_number

_LEVELS = ["50%", "80%", "90%", "95%"]


@dataclass(frozen=True)
class PredictionChoice:
    """What the user chose: the subgraph, and arguments of `predict_performance_of_run`."""

    subgraph: SubgraphChoice
    task: str
    sampling: SubgraphSampling
    level: float

    @property
    def evaluation(self) -> SubgraphEvaluation:
        """Return what is computed of subgraphs, as of the user's."""
        return SubgraphEvaluation(self.subgraph.evaluated, self.subgraph.relik_method)


def choose_prediction(run: Run) -> PredictionChoice:
    """Show the widgets and return what they say."""
    subgraph = choose_subgraph(run, before="here_")
    with settings():
        task = choose_task("Expected")
    with more_settings():
        count = choose_number(
            "Learnt from subgraphs",
            (2 * FEWEST, 2000),
            100,
            "subgraphs",
            help="Each around another random entity, picked in the way chosen above: a prediction "
            "holds for subgraphs like those learnt from.",
        )
        level = choice("Level", _LEVELS, "level", "90%")
    # Subgraphs to learn from are picked as the user's is.
    way = {name: value for name, value in subgraph.arguments if name != "entity"}
    sampling = SubgraphSampling(count=int(count), **way)
    return PredictionChoice(subgraph, task, sampling, int(level.removesuffix("%")) / 100)
