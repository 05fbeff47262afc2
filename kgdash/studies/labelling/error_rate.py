"""How many facts of a graph are wrong, judged by labels of some (numbers.md#28-wrong-facts)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import betabinom

from kgdash.errors import KgdashError
from kgdash.statistics.estimate import percent

#: half the width of an interval that is narrow enough
WANTED = 0.03

#: both parameters of the Beta prior of a share. In every stratum Jeffreys' ½ pulls the sum up where
#: errors are rare: its intervals covered 87 to 95% in simulations, those of ¼ 93 to 96%
_PRIOR = 0.25


@dataclass(frozen=True)
class ErrorRate:
    """The share of wrong facts: posterior mean and credible interval, in [0, 1].

    ``labelled`` of ``facts`` were judged, ``wrong`` of them wrong.
    """

    value: float
    low: float
    high: float
    labelled: int
    wrong: int
    facts: int

    @property
    def is_narrow(self) -> bool:
        """Tell whether the interval is no wider than ±3 points."""
        return self.high - self.low <= 2 * WANTED

    @property
    def text(self) -> str:
        """Say it in a sentence or two."""
        counted = f"{self.wrong:,} of {self.labelled:,} judged facts are wrong"
        if not self.labelled:
            return "No fact of the random order is judged yet: nothing is known of the error rate."
        ends = f"{percent(self.low, 1)} to {percent(self.high, 1)}"
        share = f"{percent(self.value, 1)} of {self.facts:,} ({ends})"
        reached = (
            "±3 points are reached."
            if self.is_narrow
            else f"That is ±{(self.high - self.low) * 50:.1f} points: judge on until ±3."
        )
        return f"{counted}; estimated error rate {share}. {reached}"


def error_rate(
    sizes: Sequence[int], labelled: Sequence[int], wrong: Sequence[int], level: float = 0.95
) -> ErrorRate:
    """Estimate the share of wrong facts from random samples of strata.

    In each stratum the share has the prior Beta(¼, ¼); the number of wrong ones among those
    not judged is then beta-binomial. The numbers of all strata add up: their distributions are
    convolved, without approximation, and the interval cuts equal tails. Its low end takes strata of
    which nothing was found wrong as free of errors: their priors would add up to some.

    :param sizes: facts of each stratum, ≥ 1; ``labelled`` and ``wrong``: of them judged, and wrong
    :param level: of the interval, in (0, 1)
    :raises KgdashError: if the numbers do not fit together
    """
    counts = list(zip(sizes, labelled, wrong, strict=True))
    if not counts or not 0 < level < 1 or not all(0 <= x <= n <= N >= 1 for N, n, x in counts):
        raise KgdashError(
            "error rate: expected strata with no more wrong than labelled facts and no more of "
            f"those than there are, and a level in (0, 1); found {counts} and {level:g}"
        )
    facts, known = sum(sizes), sum(wrong)
    chances = _chances(counts)
    mean = chances @ np.arange(len(chances))
    tail = (1 - level) / 2
    low = np.searchsorted(np.cumsum(_chances([each for each in counts if each[2]])), tail)
    high = np.searchsorted(np.cumsum(chances), 1 - tail)
    value, least, most = (float((known + count) / facts) for count in (mean, low, high))
    return ErrorRate(value, least, most, sum(labelled), known, facts)


def _chances(counts: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """Return the chance of each number of wrong facts among those not judged, 0 first."""
    chances = np.ones(1)
    for size, judged, bad in counts:
        a, b = _PRIOR + bad, _PRIOR + judged - bad
        rest = betabinom.pmf(np.arange(size - judged + 1), size - judged, a, b)
        chances = np.maximum(fftconvolve(chances, rest), 0.0)
    return chances / chances.sum()
