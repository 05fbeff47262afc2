"""The choices of the page Which model where, kept in the URL."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import cast

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.ranking.rank_setting import RankSetting, RankType, Side
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.comparison.graph_parts import PARTS
from kgdash.studies.comparison.model_selection import BOOTSTRAP
from kgdash.studies.comparison.part_scores import RELIK_OF
from kgdash.studies.reliability.subgraph_table import default_size
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import (
    choice,
    choose_number,
    choose_rank_type,
    choose_relik_method,
    choose_resolution,
    choose_side,
    choose_split,
)


@dataclass(frozen=True)
class ModelChoice:
    """What the user chose: arguments of `find_parts` and of `part_scores`."""

    kind: str
    resolution: float
    sampling: SubgraphSampling
    setting: RankSetting
    relik_of: str
    relik_method: str

    @property
    def parts(self) -> tuple[str, float, SubgraphSampling]:
        """Return the arguments of `find_parts`."""
        return (self.kind, self.resolution, self.sampling)

    @property
    def scores(self) -> tuple[RankSetting, str, str]:
        """Return the arguments of `part_scores`."""
        return (self.setting, self.relik_of, self.relik_method)

    @property
    def bootstrap(self) -> Bootstrap:
        """Return how intervals are drawn: by the seed of the parts."""
        return replace(BOOTSTRAP, seed=self.sampling.seed)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return what scores depend on besides the runs."""
        return (*self.parts, *self.scores)


def choose_parts(run: Run) -> ModelChoice:
    """Show the widgets and return what they say."""
    with settings():
        kind = choice(
            "Parts of the graph",
            list(PARTS),
            "regions",
            help="Communities: densely connected entities (Louvain); a triple counts where it has "
            "an end. Subgraphs: random walks, as in the correlation study; both ends inside.",
        )
        resolution, count, size, seed = 1.0, 100, default_size(run), 0
        if kind == "communities":
            resolution = choose_resolution()
        if kind == "subgraphs":
            most = min(run.graph.num_entities, 1000)
            count = choose_number("Subgraphs", (2, 2000), count, "subgraphs")
            size = choose_number("Entities in each", (min(2, most), most), size, "study_size")
    with more_settings():
        if kind != "relations":
            seed = choose_number("Random seed", (0, 10**9), 0, "seed")
        split, side, rank_type = choose_split(run.graph), choose_side(), choose_rank_type()
        relik_of = choice(
            "ReliK of",
            RELIK_OF,
            "relik_of",
            help="All known triples of a part, or, quicker on large graphs, only those that are "
            "ranked: ReliK then looks at the very triples that the MRR is of.",
        )
        relik = choose_relik_method()
    sampling = SubgraphSampling(count, size, seed=seed)
    setting = RankSetting(split, None, cast(Side, side), cast(RankType, rank_type))
    return ModelChoice(kind, resolution, sampling, setting, relik_of, relik)
