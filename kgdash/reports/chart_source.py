"""What charts of a run are drawn from: ranks, a subgraph, labelled instances; when asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.progress import Progress, phases, silent
from kgdash.reports.evaluation import Evaluation
from kgdash.runs import Run
from kgdash.studies.classification.accuracy_by_relik import exact_accuracy_by_relik
from kgdash.studies.classification.classification import Classification, classify
from kgdash.studies.instances.instances import ScoredInstances, score_instances
from kgdash.studies.instances.separation import Comparison, compare_measures
from kgdash.studies.overview.overview import Overview, overview
from kgdash.studies.probability.answer_sets import AnswerSets, answer_sets
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.reliability.local_comparison import LocalComparison, compare
from kgdash.studies.reliability.reliability_map import reliability_map
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances


@dataclass(frozen=True)
class ChartSource:
    """Ranks, and the choices of what else there is to draw; what is not given is the pages' choice.

    ``entity`` (name or label) is the seed of a random walk to ``size`` entities, ``seed`` that of
    the walk and of the sampled queries and rule instances. All is computed once, when it is first
    asked for; ``progress`` is called meanwhile, unless the question brings its own.
    """

    evaluation: Evaluation
    entity: str | None = None
    size: int = 60
    seed: int = 0
    progress: Progress = silent
    _kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def run(self) -> Run:
        """Return the run."""
        return self.evaluation.run

    def local(self, progress: Progress | None = None) -> LocalComparison:
        """Return the values of the subgraph around the entity, as the command ``subgraph`` does.

        :raises KgdashError: if no entity was given, or it is unknown
        """
        if self.entity is None:
            raise KgdashError("charts of a subgraph need the entity that it is around (--entity)")
        part = self.run.subgraph(self.entity, size=self.size, seed=self.seed)
        return self._once(
            "local", lambda report: compare(self.run, part, progress=report), progress
        )

    def overview(self, progress: Progress | None = None) -> Overview:
        """Return the answer of the run, with the ReliK of all its known triples."""
        return self._once(
            "overview",
            lambda report: overview(reliability_map(self.run, progress=report)),
            progress,
        )

    def relations(self) -> pd.DataFrame:
        """Return the mean ReliK of each relation, as the command ``reliability`` does."""
        return self._once("relations", lambda _: self.overview().map.by("relation"))

    def classified(self, progress: Progress | None = None) -> Classification:
        """Return the test triples told from corrupted ones, as the command ``classify`` does.

        :raises KgdashError: as `kgdash.studies.classification.classification.classify`
        """
        return self._once(
            "classified", lambda report: classify(self.run, progress=report), progress
        )

    def answer_sets(self, progress: Progress | None = None) -> AnswerSets:
        """Return the answer sets of test queries, as the command ``answer-sets`` does.

        :raises KgdashError: as `kgdash.studies.probability.answer_sets.answer_sets`
        """
        return self._once(
            "answer sets", lambda report: answer_sets(self.run, progress=report), progress
        )

    def accuracy_by_relik(self, progress: Progress | None = None) -> pd.DataFrame:
        """Return how often triples are classified right, by quantiles of their ReliK."""
        found = self.classified()
        return self._once("by relik", lambda step: exact_accuracy_by_relik(found, step), progress)

    def instances(self, kind: str, progress: Progress | None = None) -> ScoredInstances:
        """Return the scored instances of "queries" or "rules", as these commands sample them.

        :raises KgdashError: as `sample_queries` and `find_instances`
        """
        graph = self.run.graph

        def scored(report: Progress) -> ScoredInstances:
            first, second = phases(report, [0.3, 0.7])
            sampled = (
                sample_queries(graph, QuerySampling(seed=self.seed), progress=first)
                if kind == "queries"
                else find_instances(graph, RuleSelection(seed=self.seed), progress=first)
            )
            return score_instances(self.run, sampled, second)

        return self._once(kind, scored, progress)

    def separation(self, kind: str, progress: Progress | None = None) -> Comparison:
        """Return how well ReliK, reciprocal rank and score tell true instances from false ones.

        :raises KgdashError: as `instances`
        """
        table = self.instances(kind, progress).table
        return self._once(
            f"separation of {kind}", lambda _: compare_measures(table, order="separation")
        )

    def _once(
        self, what: str, make: Callable[[Progress], Any], progress: Progress | None = None
    ) -> Any:
        if what not in self._kept:
            self._kept[what] = make(progress or self.progress)
        return self._kept[what]
