"""What charts of a run are drawn from: ranks, a subgraph, labelled instances; when asked."""

from dataclasses import dataclass, field
from functools import cached_property

from kgdash.errors import KgdashError
from kgdash.progress import Progress, silent
from kgdash.reports.evaluation import Evaluation
from kgdash.runs import Run
from kgdash.studies.instances.instances import ScoredInstances, score_instances
from kgdash.studies.overview.overview import Overview, overview
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
    the walk and of the sampled queries and rule instances.
    """

    evaluation: Evaluation
    entity: str | None = None
    size: int = 60
    seed: int = 0
    progress: Progress = silent
    _scored: dict[str, ScoredInstances] = field(default_factory=dict, repr=False, compare=False)

    @property
    def run(self) -> Run:
        """Return the run."""
        return self.evaluation.run

    @cached_property
    def local(self) -> LocalComparison:
        """Return the values of the subgraph around the entity, as the command ``subgraph`` does.

        :raises KgdashError: if no entity was given, or it is unknown
        """
        if self.entity is None:
            raise KgdashError("charts of a subgraph need the entity that it is around (--entity)")
        part = self.run.subgraph(self.entity, size=self.size, seed=self.seed)
        return compare(self.run, part, progress=self.progress)

    @cached_property
    def overview(self) -> Overview:
        """Return the answer of the run, with the ReliK of all its known triples."""
        return overview(reliability_map(self.run, progress=self.progress))

    def instances(self, kind: str) -> ScoredInstances:
        """Return the scored instances of "queries" or "rules", as these commands sample them.

        :raises KgdashError: as `sample_queries` and `find_instances`
        """
        if kind not in self._scored:
            graph = self.run.graph
            sampled = (
                sample_queries(graph, QuerySampling(seed=self.seed))
                if kind == "queries"
                else find_instances(graph, RuleSelection(seed=self.seed))
            )
            self._scored[kind] = score_instances(self.run, sampled, self.progress)
        return self._scored[kind]
