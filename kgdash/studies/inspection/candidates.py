"""All candidates of one side of a triple: their scores, their ranks, which are known facts.

Defined in numbers.md#1-ranks.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kgdash.graph import FILTERS, SPLITS
from kgdash.graph.known_triples import SIDES
from kgdash.runs import Run
from kgdash.scoring import score_rows
from kgdash.statistics.bins import bin_edges
from kgdash.studies.inspection.inspected_triple import InspectedTriple

#: bins of the histogram of scores
BINS = 40


@dataclass(frozen=True)
class Rank:
    """A candidate's rank: optimistic, realistic, pessimistic, and N, itself included."""

    optimistic: int
    realistic: float
    pessimistic: int
    candidates: int


@dataclass(frozen=True)
class SideCandidates:
    """The candidates of a side, by id: entities, or relations on the side "relation".

    ``answer``: the inspected triple's own, None where the side is open. ``scores``: float,
    ``(n,)``, the row that the model gives. ``split``: int64, ``(n,)``, the number in `SPLITS` of
    the first split that holds the candidate's triple, -1 for none. ``filtered``: bool, ``(n,)``:
    known by the filter.
    """

    side: str
    answer: int | None
    scores: np.ndarray
    split: np.ndarray
    filtered: np.ndarray

    def rank(self, candidate: int, raw: bool = False) -> Rank:
        """Rank a candidate's triple as `Run.ranks` does.

        :param raw: among all candidates; else without the other ones that are known
        """
        optimistic, equal, candidates = (int(c[0]) for c in self._counts([candidate], raw))
        return Rank(optimistic, optimistic + equal / 2, optimistic + equal, candidates)

    def score(self, candidate: int) -> float:
        """Return a candidate's score."""
        return float(self.scores[candidate])

    def known_in(self, candidate: int) -> str | None:
        """Return the first split that holds a candidate's triple, or None."""
        number = int(self.split[candidate])
        return SPLITS[number] if number >= 0 else None

    def top(self, k: int) -> pd.DataFrame:
        """Return the k best candidates, known facts among them, best first, equal ones by id.

        :return: ``id`` (int64), ``score`` (float), ``raw_rank``, ``filtered_rank`` (float64:
            realistic, each as `Run.ranks` gives it to the candidate's triple), ``known`` (str: the
            first split that holds it; None for none), ``answer`` (bool: the inspected triple's)
        """
        ids = np.argsort(-self.scores, kind="stable")[: max(k, 0)]
        return self.rows(ids)

    def rows(self, ids: np.ndarray) -> pd.DataFrame:
        """Describe candidates, as `top` does, in the given order."""
        ranks = {}
        for name in ("raw", "filtered"):
            optimistic, equal, _ = self._counts(ids, name == "raw")
            ranks[f"{name}_rank"] = optimistic + equal / 2
        return pd.DataFrame(
            {
                "id": np.asarray(ids, dtype=np.int64),
                "score": self.scores[ids],
                **ranks,
                "known": pd.Series([self.known_in(i) for i in ids], dtype=object),
                "answer": np.asarray(ids) == (-1 if self.answer is None else self.answer),
            }
        )

    def histogram(self, bins: int = BINS) -> pd.DataFrame:
        """Count the candidates' scores between the least and the greatest finite one.

        :return: ``left``, ``right`` (float64), ``candidates``, ``known`` (int64: the facts among
            them); no rows where no score is finite
        """
        finite = np.isfinite(self.scores)
        values = self.scores[finite].astype(np.float64)
        if not len(values):
            return pd.DataFrame(columns=["left", "right", "candidates", "known"])
        edges = bin_edges(values, bins)
        counts, _ = np.histogram(values, edges)
        known, _ = np.histogram(values[self.split[finite] >= 0], edges)
        return pd.DataFrame(
            {"left": edges[:-1], "right": edges[1:], "candidates": counts, "known": known}
        )

    def _counts(self, ids: np.ndarray | list[int], raw: bool) -> tuple[np.ndarray, ...]:
        """Return optimistic ranks, equal ones and numbers of candidates: int64, ``(k,)`` each."""
        own = self.scores[ids]
        kept = self._sorted if raw else self._sorted_unknown
        inside = np.ones(len(own), dtype=bool) if raw else ~self.filtered[ids]
        above = len(kept) - np.searchsorted(kept, own, "right")
        equal = len(kept) - np.searchsorted(kept, own, "left") - above - inside
        return above + 1, equal, len(kept) + ~inside

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.sort(self.scores)

    @cached_property
    def _sorted_unknown(self) -> np.ndarray:
        return np.sort(self.scores[~self.filtered])


def side_candidates(run: Run, triple: InspectedTriple, side: str, filter: str) -> SideCandidates:
    """Score all candidates of a side.

    :param side: "head", "relation" or "tail"; of an open triple the open one
    :param filter: of `FILTERS`
    :raises KgdashError: if a score is NaN
    """
    query, at = SIDES[side]
    row, graph = triple.row, run.graph
    scores = score_rows(run.scorer, side, row[:, query])[0].cpu().numpy()
    split = np.full(len(scores), -1)
    answers = graph.known().known_answers(row, side)[1]
    facts = np.repeat(row, len(answers), axis=0)
    facts[:, at] = answers
    split[answers] = [SPLITS.index(name) for name in graph.split_of(facts)]
    filtered = np.zeros(len(scores), dtype=bool)
    filtered[graph.known(FILTERS[filter]).known_answers(row, side)[1]] = True
    return SideCandidates(side, triple.parts[at], scores, split, filtered)
