"""What a metric of ranks is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.statistics.bootstrap import FEWEST


def _ranks(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return ranks


def _ones(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return np.ones(len(ranks))


def _same(mean: np.ndarray) -> np.ndarray:
    return mean


@dataclass(frozen=True)
class RatioMetric:
    """A metric as ``transform(Σ numerator / Σ denominator)`` over ranks.

    ``numerator`` and ``denominator`` take ranks and numbers of candidates, both ``(n,)``;
    ``transform`` takes the ratio. It is monotone, so that it carries intervals over. ``fewest``
    triples have an interval: more where a few large ranks decide. ``bounds`` are those of a single
    rank's ratio, where it has some: intervals allow for values there that no triple showed.
    """

    numerator: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ranks
    denominator: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ones
    transform: Callable[[np.ndarray], np.ndarray] = _same
    fewest: int = FEWEST
    bounds: tuple[float, float] | None = None

    def value(self, ranks: np.ndarray, candidates: np.ndarray) -> float:
        """Return the metric of ranks and their numbers of candidates, ``(n,)`` each."""
        above, below = self.numerator(ranks, candidates), self.denominator(ranks, candidates)
        return float(self.transform(np.sum(above) / np.sum(below)))


@dataclass(frozen=True)
class Metric:
    """A metric of ranks r, each among N candidates.

    ``key`` is PyKEEN's, ``synonyms`` are what else it answers to (`find_metric`), ``label`` and
    ``short`` what it is called on pages and in tables of papers. ``values`` are those that it can
    take; ``increasing``: higher is better. ``adjusted_by`` are the keys of what adjusts it for
    chance, the index and the z-score last. ``ratio`` is its form where it is a function of a
    ratio of sums; ``source`` the paper that defines it.
    """

    key: str
    label: str
    formula: str
    values: pd.Interval
    increasing: bool
    use: str
    synonyms: tuple[str, ...] = ()
    short: str = ""
    depends_on_num_entities: bool = True
    adjusted_by: tuple[str, ...] = ()
    ratio: RatioMetric | None = None
    source: str = ""

    @property
    def arrow(self) -> str:
        """Return ↑ if higher is better, ↓ if lower is, nothing if neither is."""
        if self.key == "count":
            return ""
        return "↑" if self.increasing else "↓"

    @property
    def title(self) -> str:
        """Return the label with its arrow."""
        return f"{self.label} {self.arrow}".rstrip()

    @property
    def value_range(self) -> str:
        """Return the interval of its values as people write it: "(0, 1]"."""
        left = "[" if self.values.closed_left else "("
        right = "]" if self.values.closed_right else ")"
        text = f"{left}{self.values.left:g}, {self.values.right:g}{right}"
        return text.replace("-", "−").replace("inf", "∞")
