"""A Run: a knowledge graph, a trained model, and where they come from."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from kgdash.accessors import ACCESSORS
from kgdash.errors import check_name
from kgdash.files.html import facts_html
from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph, default_filter, triple_array
from kgdash.graph.digests import texts_digest, triples_digest
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.graph.restriction import Restriction
from kgdash.graph.subgraph import Subgraph, SubgraphOptions, SubgraphSampling
from kgdash.progress import Progress, silent
from kgdash.ranking.relik import RELIK_METHODS, relik_values
from kgdash.ranking.relik_growing import GrowingReliK, growing_relik
from kgdash.ranking.relik_sampled import NegativeSample, SamplingOptions, estimate, relik_sampled
from kgdash.runs.exact_tables import ExactTables
from kgdash.runs.questions import Questions
from kgdash.runs.sampled_means import WIDTH, SampledFigure, sampled_figure
from kgdash.scoring import Scorer
from kgdash.statistics.estimate import number

if TYPE_CHECKING:
    from kgdash.runs.helpers import Helpers
    from kgdash.scoring.model_spec import ModelSpec

#: raise when the meaning of a stored table changes
_TABLE_VERSION = 2


@dataclass(frozen=True)
class Run(Questions):
    """A trained model on its graph, and the tables that follow from the two.

    ``training`` holds what is known of the training (losses, configuration, evaluation at the
    time), ``provenance`` where the run was loaded from, ``notes`` what a user should know about it
    (triples left out, training data that differs). ``weights_digest`` is a SHA-256 over model
    configuration and weights. ``helpers`` do parts of the counting in this process's stead.
    """

    name: str
    graph: KnowledgeGraph
    scorer: Scorer
    spec: ModelSpec
    weights_digest: str
    training: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    helpers: Helpers | None = field(default=None, compare=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """Return a SHA-256 over graph, configuration and weights: what all tables depend on."""
        return hashlib.sha256((self.graph.digest + self.weights_digest).encode()).hexdigest()

    @cached_property
    def shown_digest(self) -> str:
        """Return a SHA-256 over what people read of it, which no table depends on."""
        told: list[Any] = [self.name, self.graph.shown_digest, self.notes]
        told += [dict(self.training), dict(self.provenance)]
        return texts_digest(told)

    @property
    def identity(self) -> tuple[str, str]:
        """Return what another run has only if its tables are the same, and what people read."""
        return self.digest, self.shown_digest

    @cached_property
    def exact_tables(self) -> ExactTables:
        """The exact ranks and ReliK that were counted."""
        return ExactTables(weakref.ref(self))

    def ranks(
        self,
        split: str = "test",
        triples: np.ndarray | None = None,
        filter: str | None = None,
        sides: Sequence[str] = ("head", "tail"),
        restriction: Restriction | None = None,
        progress: Progress = silent,
    ) -> pd.DataFrame:
        """Rank triples among their candidates.

        Defined in numbers.md#1-ranks; restricted in numbers.md#3-restriction.

        :param split: "train", "valid" or "test"; ignored if ``triples`` are given
        :param triples: int64 ids, shape ``(n, 3)``; facts or not; they count as known too
        :param filter: what counts as known: "train+valid+test", "train+valid", "train+test" or
            "none" (raw ranks); default: train+valid on valid, else all three
        :param sides: any of "head", "tail", "relation"
        :param restriction: only triples of its relations between its entities are ranked, among
            these alone
        :param progress: called with (done, total); may raise to cancel
        :return: one row per side and triple: ``head, relation, tail`` (int64 ids), ``side``,
            ``optimistic``, ``realistic``, ``pessimistic`` ranks (≥ 1), ``candidates`` (int64)
        :raises KgdashError: on an unknown split, filter or side, ids out of range, an empty or
            malformed set of triples, or NaN scores
        """
        restriction = restriction or Restriction()
        filter = filter or default_filter(None if triples is not None else split)
        rows = restriction.of_triples(self._triples(split, triples), self.graph)
        return self.exact_tables.rank(rows, True, filter, sides, restriction.entities, progress)

    def ranks_of_mixed(
        self,
        triples: np.ndarray,
        filter: str | None = None,
        sides: Sequence[str] = ("head", "tail"),
        progress: Progress = silent,
    ) -> pd.DataFrame:
        """Rank a mix of facts and false triples, which must not hide one another.

        None of them counts as known unless the graph says so.
        Parameters, result and errors are as for `ranks`.
        """
        rows = triple_array(triples, self.graph)
        filter = filter or default_filter(None)
        return self.exact_tables.rank(rows, False, filter, sides, None, progress)

    def relik(
        self,
        split: str = "test",
        triples: np.ndarray | None = None,
        method: str = "exact",
        rank_type: str = "optimistic",
        progress: Progress = silent,
        **sampling: Unpack[SamplingOptions],
    ) -> pd.DataFrame:
        """Compute the ReliK of triples, by numbers.md#4-relik.

        :param split: "train", "valid" or "test"; ignored if ``triples`` are given
        :param triples: int64 ids, shape ``(n, 3)``; facts or not
        :param method: "exact"; "sampled" (corrected estimate with a 95% interval),
            "sampled-paper" (the paper's estimate), "lower-bound"
        :param rank_type: how ties count in the exact method: "optimistic" is the paper's
        :param progress: called with (done, total); may raise to cancel
        :param sampling: for the sampled methods: ``samples``, negatives drawn per side (1,000), and
            ``seed`` (0) of the draw
        :return: one row per triple, in order: ``head, relation, tail`` (int64 ids), ``head_rank``,
            ``tail_rank`` (≥ 1), ``relik`` (float64, in (0, 1]); with the sampled methods also
            ``relik_low``, ``relik_high``
        :raises KgdashError: on an unknown split or method, an empty or malformed set of triples, or
            NaN scores
        """
        check_name("method", method, RELIK_METHODS, "ReliK")
        check_name("rank type", rank_type, RANK_TYPES, "ReliK")
        sample = NegativeSample(**sampling)
        rows = self._triples(split, triples)
        if method == "exact":
            return relik_values(self.exact_tables.relik_counts(rows, progress), rank_type)
        known, key = self.graph.known(), {"kind": "relik", **self.table_key(rows)}
        counts = cached_table(
            key | asdict(sample),
            lambda: relik_sampled(self.scorer, rows, known, **asdict(sample), progress=progress),
            self.table_about("relik", rows, method=f"sampled, {sample.samples:,} a side"),
            progress,
        )
        return estimate(counts, method)

    def relik_steps(
        self,
        split: str = "test",
        triples: np.ndarray | None = None,
        progress: Progress = silent,
    ) -> Iterator[GrowingReliK]:
        """Yield the ReliK of triples while it is counted, with an estimate of its mean.

        What is counted already comes alone, exact.

        >>> for step in run.relik_steps():
        ...     print(f"{step.low} to {step.high}, {step.share:.0%} counted")

        :param split: "train", "valid" or "test"; ignored if ``triples`` are given
        :param triples: int64 ids, shape ``(n, 3)``; facts or not
        :param progress: may raise to cancel: what was counted is kept
        :return: ever more of it; the last one is exact
        :raises KgdashError: as `relik`, when the first one is asked for
        """
        rows = self._triples(split, triples)
        for counts, anchors, done in self.exact_tables.relik_steps(rows, progress):
            yield growing_relik(counts, anchors, done)

    def sampled(
        self,
        measure: str = "relik",
        split: str = "test",
        triples: np.ndarray | None = None,
        width: float = WIDTH,
        seed: int = 0,
        progress: Progress = silent,
    ) -> SampledFigure:
        """Estimate a mean over triples from some of them (numbers.md#31-figures-of-samples).

        :param measure: "relik" (exact, optimistic) or "mrr" (realistic, both sides, filtered by all
            splits)
        :param split: "train", "valid" or "test"; ignored if ``triples`` are given
        :param triples: known ones, int64 ids, shape ``(n, 3)``
        :param width: of the mean's 95% interval at most, in (0, 1]: so many are drawn
        :param seed: of the draw, ≥ 0
        :param progress: called with (done, total); may raise to cancel: what was counted is kept
        :return: ``mean`` (``value``, ``low``, ``high``, ``n`` of ``population``), ``triples`` drawn
        :raises KgdashError: as `ranks` and `relik`; on a width out of range or unknown triples
        """
        return sampled_figure(self, measure, self._triples(split, triples), width, seed, progress)

    def probabilities(
        self,
        split: str = "test",
        triples: np.ndarray | None = None,
        sides: Sequence[str] = ("head", "tail"),
        progress: Progress = silent,
    ) -> pd.DataFrame:
        """Return how probable triples are as answers, by numbers.md#23-probabilities.

        :param split: "train", "valid" or "test"; ignored if ``triples`` are given
        :param triples: int64 ids, shape ``(n, 3)``; facts or not
        :param sides: any of "head", "tail"
        :param progress: called with (done, total); may raise to cancel
        :return: one row per side and triple: ``head, relation, tail`` (int64 ids), ``side``,
            ``confidence`` (of the query's first candidate), ``softmax`` (the triple's own p among
            the candidates), ``probability`` (that it is true, by the isotonic map), float64 in
            [0, 1]
        :raises KgdashError: as `ranks`; without validation triples; on infinite scores
        """
        rows = self._triples(split, triples)
        filter = default_filter(None if triples is not None else split)
        found: pd.DataFrame = ACCESSORS["probabilities"](self)(rows, filter, sides, progress)
        return found

    def subgraph(
        self,
        entity: str | int,
        method: str = "rwr",
        size: int = 60,
        **options: Unpack[SubgraphOptions],
    ) -> Subgraph:
        """Pick a part of the graph around an entity, by numbers.md#5-subgraphs.

        :param entity: name, label or id
        :param method: "rwr" (random walk with restart) or "neighbourhood"
        :param size: entities to collect, ≥ 1
        :param options: ``restart`` (0.2), the random walk's probability of returning to the seed,
            in [0, 1); ``seed`` (0) of the random walk; ``hops`` (1) of the neighbourhood: 1, 2 or
            3; ``direction`` ("either"), "outgoing" or "incoming"
        :raises KgdashError: on an unknown entity or method, or a parameter out of range
        """
        number = self.graph.entity_id(entity) if isinstance(entity, str) else int(entity)
        return SubgraphSampling(size=size, method=method, **options).pick(self.graph, number)

    def __repr__(self) -> str:
        """Name run, model and graph."""
        return f"Run {self.name}: {self.spec.name} on {self.graph!r}"

    def _repr_html_(self) -> str:
        kwargs = ", ".join(f"{name} {value}" for name, value in self.spec.kwargs.items())
        facts = {"model": f"{self.spec.name} ({kwargs})", **self._recorded(), **self.graph.about()}
        return facts_html(f"Run {self.name}", facts, self.notes)

    def _recorded(self) -> dict[str, str]:
        """Say what MRR was recorded when the run was trained, if any was."""
        for key, called, by in (
            ("evaluation", "test MRR", "kgdash"),
            ("pykeen_evaluation", "MRR", "PyKEEN, of test unless it evaluated on validation,"),
        ):
            mrr = (self.training.get(key) or {}).get("inverse_harmonic_mean_rank")
            if isinstance(mrr, float):
                return {called: f"{number(mrr)}, recorded by {by} when it was trained"}
        return {}

    def _triples(self, split: str, triples: np.ndarray | None) -> np.ndarray:
        return self.graph.split(split) if triples is None else triple_array(triples, self.graph)

    def table_key(self, rows: np.ndarray | None = None) -> dict[str, Any]:
        """Return what a stored table of some triples, ``(n, 3)``, or all known ones, depends on."""
        triples = self.graph.known_digest if rows is None else triples_digest([rows])
        return {"version": _TABLE_VERSION, "run": self.digest, "triples": triples}

    def table_about(self, kind: str, rows: np.ndarray | None = None, **more: str) -> dict[str, Any]:
        """Return what `list_cache` shall say of a table of some triples, or of all known ones."""
        count = len(self.graph.known() if rows is None else rows)
        about = {"kind": kind, "run": self.name, "run_digest": self.digest}
        about |= {"graph": self.graph.name, "graph_digest": self.graph.digest}
        return about | {"triples": count, **more}
