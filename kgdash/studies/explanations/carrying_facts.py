"""The facts that carry a prediction: without them, its rank among the candidates falls.

Defined in numbers.md#27-why-this-answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS
from kgdash.graph.known_triples import SIDES
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.scoring.entity_vectors import own_columns
from kgdash.scoring.pykeen_forms import PyKEENForm
from kgdash.studies.explanations.affine_maps import maps_kept
from kgdash.studies.explanations.entity_loss import EntityLoss, facts_around
from kgdash.studies.explanations.refit import EntityRefit
from kgdash.studies.inspection.candidates import SideCandidates

#: facts that are tried, and facts of a set at most
CANDIDATES, MOST = 20, 4

#: a set is large enough once the rank is so many times worse
ENOUGH = 10

#: numbers in a vector, in all curvatures of its loss, and in all facts' slopes, up to which it is
#: refitted
_WIDEST, _CURVATURES, _SLOPES = 2**12, 2**27, 2**24

#: gigabytes that a refit may take; bytes of a fact and number of a vector, and squares of vectors
#: that are there at once, in float32, besides each query's maps
_GIGABYTES, _OF_FACT, _SQUARES = 1.5, 60, 10

#: facts carry a prediction if its rank is so many times worse without them
CARRIED = 2

#: a refit that changes the rank by a larger factor does not reproduce the prediction
REPRODUCED = 2

#: what stored results depend on besides run and triple; the version changes with the refit
_SETTINGS = {
    "settings": [CANDIDATES, MOST, ENOUGH, REPRODUCED],
    "version of the refit": 3,
}


@dataclass(frozen=True)
class CarryingFacts:
    """What refitting one end of a triple says of the other end's rank.

    ``side``: whose candidates are ranked; the entity that was refitted is at the other end.
    ``rank``: the model's, filtered and realistic; ``rank_before``: after the refit to all facts of
    the entity, ``rank_after``: to all but ``facts``, int64 ids, ``(k, 3)``. Without ``facts`` (k =
    0) ``missing`` says why; NaN ranks are those that were not found. ``influences``: float64,
    ``(n,)``, by how much leaving out each of the entity's ``own`` facts, ``(n, 3)``, lowers the
    score to first order.
    """

    side: str
    entity: int
    rank: float
    rank_before: float = float("nan")
    rank_after: float = float("nan")
    facts: np.ndarray = field(default_factory=lambda: np.empty((0, 3), np.int64))
    own: np.ndarray = field(default_factory=lambda: np.empty((0, 3), np.int64))
    influences: np.ndarray = field(default_factory=lambda: np.empty(0))
    missing: str = ""

    @property
    def carries(self) -> bool:
        """Tell whether the rank is `CARRIED` times worse without the facts."""
        return self.rank_after >= CARRIED * self.rank_before

    @property
    def effect(self) -> float:
        """Return log(rank without the facts) − log(rank with them)."""
        return float(np.log(self.rank_after) - np.log(self.rank_before))


def affine_form(run: Run) -> PyKEENForm | None:
    """Return the form of a run's model, if an entity of it can be refitted in linear time."""
    form = run.scorer.form
    return form if isinstance(form, PyKEENForm) and form.affine else None


def carrying_facts(
    run: Run,
    triple: np.ndarray,
    side: str,
    candidates: SideCandidates,
    progress: Progress = silent,
) -> CarryingFacts:
    """Find the smallest set of an entity's facts without which a prediction is lost.

    What took long is kept on disk.

    :param triple: int64 ids, ``(3,)``
    :param side: whose candidates are ranked: "tail" refits the head, "head" the tail
    :param candidates: of that side
    :param progress: called with (done, total); may raise to cancel
    """
    at = SIDES[side][1]
    entity, answer = int(triple[2 - at]), int(triple[at])
    own_rank = candidates.rank(answer)
    found = CarryingFacts(side, entity, own_rank.realistic)
    form, label = affine_form(run), run.graph.entity_labels[entity]
    if form is None:
        return replace(found, missing=f"{run.spec.name} has no refit in linear time")
    vectors = form.entities[0].cpu().numpy()
    if run.spec.name == "CP" and len(own_columns(vectors)) < vectors.shape[1]:
        return replace(found, missing="some of its vectors' numbers are constant or repeated")
    if entity == answer:
        return replace(found, missing="head and tail are the same entity")
    if own_rank.pessimistic - own_rank.optimistic == own_rank.candidates - 1:
        return replace(found, missing="all candidates have the same score")
    facts = facts_around(run.graph, entity)
    others = np.flatnonzero((facts != triple).any(axis=1))
    if not len(others):
        return replace(found, missing=f"{label} has no training fact besides")
    # A matrix for each query that names the entity: small weights could ask for terabytes.
    if much := _too_much(form, entity, facts):
        return replace(found, missing=much)
    said = [0.0, 1.0]

    def report(done: float, total: float) -> None:
        said[:] = done, total
        progress(done, total)

    loss = EntityLoss(form, entity, facts, lambda: progress(*said))
    table = cached_table(
        {"kind": "why", "side": side, **_SETTINGS, **run.table_key(triple[None])},
        lambda: _table(
            _Search(EntityRefit(loss), triple, side, candidates).run(found, others, report)
        ),
        run.table_about("why", triple[None], sides=side),
        progress,
    )
    return _from_table(found, table)


def _too_much(form: PyKEENForm, entity: int, facts: np.ndarray) -> str:
    """Say why a refit of an entity to its facts would take too much; "" if it does not."""
    named = np.stack([facts[:, 0] == entity, facts[:, 1]], axis=1)
    width, queries = form.entities[0].shape[1], len(distinct_rows(named).rows)
    if width > _WIDEST or queries * width**2 > _CURVATURES:
        return f"{width:,} numbers in {queries:,} kinds of queries are too many to refit"
    if len(facts) * width > _SLOPES:
        return f"{width:,} numbers and {len(facts):,} facts are too many to refit"
    squares = queries * maps_kept(form) + _SQUARES
    gigabytes = (4 * squares * width**2 + _OF_FACT * len(facts) * width) / 1e9
    if gigabytes > _GIGABYTES:
        return (
            f"{width:,} numbers in {queries:,} kinds of queries and {len(facts):,} facts are too "
            f"many to refit: they take {gigabytes:.1f} GB, and at most {_GIGABYTES} are taken"
        )
    return ""


def _table(found: CarryingFacts) -> pd.DataFrame:
    """Lay out what a search found, to be stored: a row per fact of the entity.

    ``place``: in the set, -1 outside. What is said of the whole stands in every row.
    """
    place = {tuple(fact): number for number, fact in enumerate(found.facts.tolist())}
    influences = found.influences if len(found.influences) else np.nan
    return pd.DataFrame(found.own, columns=IDS).assign(
        influence=influences,
        place=[place.get(tuple(fact), -1) for fact in found.own.tolist()],
        rank_before=found.rank_before,
        rank_after=found.rank_after,
        missing=found.missing,
    )


def _from_table(found: CarryingFacts, table: pd.DataFrame) -> CarryingFacts:
    chosen = table[table["place"] >= 0].sort_values("place")
    influences = table["influence"].to_numpy(np.float64)
    first = table.iloc[0]
    return replace(
        found,
        own=table[IDS].to_numpy(np.int64),
        influences=influences[:0] if np.isnan(influences).all() else influences,
        facts=chosen[IDS].to_numpy(np.int64),
        rank_before=float(first["rank_before"]),
        rank_after=float(first["rank_after"]),
        missing=str(first["missing"]),
    )


@dataclass(frozen=True)
class _Search:
    """A greedy search: influence proposes a fact, anew after each refit, which gives the rank."""

    refit: EntityRefit
    triple: np.ndarray
    side: str
    candidates: SideCandidates

    def run(self, found: CarryingFacts, others: np.ndarray, progress: Progress) -> CarryingFacts:
        """Search among some of the entity's facts, by their positions."""
        loss = self.refit.loss
        before = self._rank(self.refit.whole)
        found = replace(found, rank_before=before, own=loss.facts)
        progress(1, MOST + 1)
        if abs(np.log(before) - np.log(found.rank)) > np.log(REPRODUCED) + 1e-12:
            return replace(found, missing="the refit does not reproduce the prediction")
        influences = self._influences(self.refit.whole)
        found = replace(found, influences=influences)
        order = others[np.argsort(-influences[others], kind="stable")][:CANDIDATES]
        best: tuple[Sequence[int], float] = ((), before)
        for facts, after in self._growing(order, influences):
            progress(1 + len(facts), MOST + 1)
            if after > best[1]:
                best = facts, after
            if after >= ENOUGH * before:
                break
        progress(1, 1)
        if not best[0]:
            return replace(found, missing="no few facts make a difference to its rank")
        return replace(found, rank_after=best[1], facts=loss.facts[list(best[0])])

    @property
    def _answer(self) -> int:
        return int(self.triple[SIDES[self.side][1]])

    def _growing(
        self, tried: np.ndarray, influences: np.ndarray
    ) -> Iterator[tuple[list[int], float]]:
        """Yield ever larger sets of facts, and the rank without them."""
        chosen: list[int] = []
        x = self.refit.whole
        for _ in range(min(MOST, len(tried))):
            if chosen:
                influences = self._influences(x, chosen)
            rest = np.setdiff1d(tried, chosen)
            fact = int(rest[np.argmax(influences[rest])])
            if influences[fact] <= 0:
                return
            chosen = [*chosen, fact]
            x = self.refit.without(chosen)
            yield chosen, self._rank(x)

    def _influences(self, x: np.ndarray, without: Sequence[int] = ()) -> np.ndarray:
        slope = self.refit.loss.slope(self.side, int(self.triple[1]), self._answer, x)
        return self.refit.influences(slope, x, without)

    def _rank(self, x: np.ndarray) -> float:
        """Return the answer's filtered realistic rank."""
        scores = self.refit.loss.scores(self.side, int(self.triple[1]), x)
        own, rivals = scores[self._answer], ~self.candidates.filtered
        rivals[self._answer] = False
        others = scores[rivals]
        return float(1 + (others > own).sum() + (others == own).sum() / 2)
