"""What a run is asked that stands in rows that runs may not import: doors to `kgdash.studies`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

from kgdash.accessors import ACCESSORS
from kgdash.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

    from kgdash.reports.run_plots import RunPlots
    from kgdash.studies.explanations.explanation import Explanation
    from kgdash.studies.probability.answer_sets import AnswerSets


class DiscoveryOptions(TypedDict, total=False):
    """See `kgdash.studies.discovery.discovery.DiscoverySetting`."""

    types: str
    per_relation: int | None
    relations: tuple[str, ...]
    known: tuple[str, ...]
    loops: bool


class ProtocolOptions(TypedDict, total=False):
    """See `kgdash.studies.protocols.protocols.ProtocolSetting`."""

    negatives: tuple[int, ...]
    ks: tuple[int, ...]
    split: str
    filter: str | None


class Questions:
    """What `kgdash.runs.run.Run` answers through `kgdash.accessors`."""

    @property
    def plot(self) -> RunPlots:
        """Return what draws the run's charts: ``run.plot.ranks()``."""
        plots: RunPlots = ACCESSORS["plot"](self)
        return plots

    def why(self, head: str, relation: str, tail: str, progress: Progress = silent) -> Explanation:
        """Explain a triple, known or not, by numbers.md#27-why-this-answer.

        :param head: a name or label; ``relation``, ``tail`` likewise
        :return: rules that lead there, facts that carry it, similar entities; ``about()`` gives
            plain data
        :raises KgdashError: on an unknown or ambiguous name
        """
        found: Explanation = ACCESSORS["why"](self)(head, relation, tail, progress)
        return found

    def answer_sets(
        self,
        epsilon: float = 0.1,
        score: str = "softmax",
        groups: str = "none",
        progress: Progress = silent,
    ) -> AnswerSets:
        """Make sets of answers on test that hold the true one as often as promised.

        By numbers.md#24-answer-sets. ``result.by_groups("relation")`` says where they do not.

        :param epsilon: share of queries whose set may miss the true answer, in (0, 1)
        :param score: what orders candidates: "rank", "softmax" or "adaptive"
        :param groups: "none": one threshold for all; or one for each "side", "relation",
            "community", or decile of the "degree" or "relik" of the entity that a query names
        :param progress: called with (done, total); may raise to cancel
        :raises KgdashError: on an unknown choice; without held-out triples; on NaN or infinity
        """
        found: AnswerSets = ACCESSORS["answer_sets"](self)(epsilon, score, groups, progress)
        return found

    def protocols(
        self, side: str = "both", progress: Progress = silent, **options: Unpack[ProtocolOptions]
    ) -> pd.DataFrame:
        """Say what evaluations with sampled negatives would have said of the run.

        By numbers.md#30-sampled-protocols, from the exact ranks of the test split.

        :param side: "head", "tail" or "both"
        :param progress: called with (done, total); may raise to cancel
        :param options: ``negatives`` ((100,)), drawn uniformly, beside OGB's and DGL-KE's
            protocols; ``ks`` ((1, 3, 10)) of Hits@k; ``split`` ("test"); ``filter`` (by the split)
        :return: one row per protocol and metric: ``protocol``, ``metric``, ``candidates``,
            ``value``, ``sd`` (over draws), ``corrected``, ``corrected_sd``, ``exact``
        :raises KgdashError: as `kgdash.runs.Run.ranks`, and on numbers out of range
        """
        found: pd.DataFrame = ACCESSORS["protocols"](self)({"side": side, **options}, progress)
        return found

    def discover(
        self,
        k: int = 1000,
        by: str = "probability",
        progress: Progress = silent,
        **options: Unpack[DiscoveryOptions],
    ) -> pd.DataFrame:
        """Find the best of all triples that nobody recorded, by numbers.md#29-new-facts.

        :param k: how many, ≥ 1
        :param by: "probability" (the smaller of both sides') or "score"
        :param progress: called with (done, total); may raise to cancel
        :param options: ``types`` ("any"; "seen": ends that the relation has on that side);
            ``per_relation`` (any number), most of one relation; ``relations`` (all), names of the
            only ones; ``known`` (all three), splits whose triples are no candidates; ``loops``
            (True), whether triples of an entity with itself are
        :return: best first: ``head, relation, tail`` (int64 ids), ``score``; by probability also
            ``softmax`` and ``probability``, float64 in [0, 1]
        :raises KgdashError: on an unknown choice or relation, or NaN scores; by probability also on
            infinite ones, and without validation triples
        """
        found: pd.DataFrame = ACCESSORS["discover"](self)({"k": k, "by": by, **options}, progress)
        return found
