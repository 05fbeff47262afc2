"""What a protocol that samples negatives would have said of a run, from exact counts.

Defined in numbers.md#30-sampled-protocols.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.engine.protocol_kernels import Draws, Rivals, expect
from kgdash.errors import KgdashError, check_name
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import POOLS
from kgdash.runs import Run
from kgdash.studies.protocols.rivals import count_rivals

#: sides that queries are pooled by
SIDES = ("head", "tail", "both")

#: most negatives that a protocol may draw
_MOST = 10_000


@dataclass(frozen=True)
class Protocol:
    """Which candidates an answer is ranked among.

    ``uniform`` and ``weighted``: how many negatives are drawn, uniformly without replacement, and
    by degree with replacement; ``typed``: only entities of the type, all of them.
    """

    name: str
    uniform: int = 0
    weighted: int = 0
    typed: bool = False

    @property
    def whole(self) -> bool:
        """Tell whether nothing is drawn."""
        return not self.uniform and not self.weighted


EXACT = Protocol("all candidates")
TYPED = Protocol("seen types", typed=True)
OGB = Protocol("500 uniform (OGB)", 500)
DGL_KE = Protocol("1,000 uniform, 1,000 by degree (DGL-KE)", 1000, 1000)


@dataclass(frozen=True)
class ProtocolSetting:
    """Which protocols, and what is said of them.

    ``negatives``: of the protocols that draw so many uniformly, besides OGB's and DGL-KE's;
    ``ks``: of Hits@k; ``side``: of `SIDES`.
    """

    negatives: tuple[int, ...] = (100,)
    ks: tuple[int, ...] = (1, 3, 10)
    split: str = "test"
    filter: str | None = None
    side: str = "both"

    def __post_init__(self) -> None:
        """Check numbers and names.

        :raises KgdashError: if one is out of range or unknown
        """
        check_name("side", self.side, SIDES, "the protocols")
        for name, values, most in (("negatives", self.negatives, _MOST), ("k", self.ks, _MOST)):
            for value in values:
                if not 1 <= value <= most:
                    raise KgdashError(f"expected {name} between 1 and {most:,}; found {value:,}")

    @property
    def protocols(self) -> list[Protocol]:
        """Return all protocols, the exact one first."""
        own = [Protocol(f"{n:,} uniform", n) for n in dict.fromkeys(self.negatives)]
        return [EXACT, *(each for each in own if each.uniform != OGB.uniform), OGB, DGL_KE, TYPED]

    @property
    def metrics(self) -> list[str]:
        """Return the names of metrics, in the order of their rows."""
        return ["mrr", "mr", *(f"hits@{k}" for k in dict.fromkeys(self.ks))]


def protocols(
    run: Run, setting: ProtocolSetting | None = None, progress: Progress = silent
) -> pd.DataFrame:
    """Say what each protocol would give on average, and how much that hangs on the draw.

    :return: one row per protocol and metric: ``protocol``, ``metric`` (str), ``candidates``
        (float64: mean number, the answer counted), ``value`` (expectation over draws), ``sd`` (its
        standard deviation over draws), ``corrected``, ``corrected_sd`` (by Krichene and Rendle's
        estimate of the rank; NaN where nothing is drawn uniformly alone), ``exact``: float64
    :raises KgdashError: as `kgdash.runs.Run.ranks`
    """
    setting = setting or ProtocolSetting()
    first, *reports = phases(progress, [2.0] + [1.0] * len(setting.protocols))
    rivals = count_rivals(run, setting.split, setting.filter, first)
    rivals = rivals[rivals["side"].isin(POOLS[setting.side])]
    ks, parts = np.array(list(dict.fromkeys(setting.ks)), dtype=float), []
    for protocol, report in zip(setting.protocols, reports, strict=True):
        figures = expected(rivals, protocol, ks, report)
        parts.append(figures.assign(protocol=protocol.name, metric=setting.metrics))
    table = pd.concat(parts, ignore_index=True)
    exact = table[table["protocol"] == EXACT.name].set_index("metric")["value"]
    table["exact"] = table["metric"].map(exact)
    columns = ["protocol", "metric", "candidates", "value", "sd", "corrected", "corrected_sd"]
    return table[[*columns, "exact"]]


def expected(
    rivals: pd.DataFrame, protocol: Protocol, ks: np.ndarray, progress: Progress = silent
) -> pd.DataFrame:
    """Compute what a protocol is expected to give.

    :param rivals: of `kgdash.studies.protocols.rivals.count_rivals`
    :param ks: of Hits@k, float64, ``(m,)``
    :return: ``candidates``, ``value``, ``sd``, ``corrected``, ``corrected_sd`` of MRR, MR and each
        Hits@k: 2 + m rows
    """
    way = "_typed" if protocol.typed else ""
    better, tied, everyone = (rivals[f"{what}{way}"] for what in ("better", "tied", "rivals"))
    if protocol.whole:
        rank = (1 + better + tied / 2).to_numpy()
        values = [(1 / rank).mean(), rank.mean(), *((rank <= k).mean() for k in ks)]
        nothing = np.full(len(values), np.nan)
        figures = {"value": values, "sd": 0.0, "corrected": nothing, "corrected_sd": nothing}
        progress(1.0, 1.0)
        return pd.DataFrame({"candidates": 1 + everyone.mean(), **figures})
    columns = ["better", "tied", "rivals"]
    if protocol.weighted:
        columns += [f"{name}_weight" for name in columns]
    distinct, _, _, times = distinct_rows(rivals[columns].to_numpy())
    drawn = np.minimum(distinct[:, 2], protocol.uniform) + protocol.weighted * (distinct[:, 2] > 0)
    sums = np.zeros((2, 2 + len(ks), 2))
    for start in range(0, len(distinct), _PART):
        part = slice(start, start + _PART)
        moments = _moments(distinct[part], protocol, ks)
        mean, square = moments[..., 0], moments[..., 1]
        variance = square - mean**2
        # Where all candidates are drawn there is none: what is left is rounding.
        variance[variance < _ROUNDING * square] = 0.0
        spread = np.stack([mean, variance], axis=-1)
        sums += np.einsum("i,iwmk->wmk", times[part].astype(float), spread)
        progress(min(part.stop, len(distinct)), len(distinct))
    count = times.sum()
    values, deviations = sums[..., 0] / count, np.sqrt(sums[..., 1]) / count
    figures = {"value": values[0], "sd": deviations[0]}
    own = np.full(len(values[0]), np.nan) if protocol.weighted else values[1]
    own_sd = np.full(len(values[0]), np.nan) if protocol.weighted else deviations[1]
    figures |= {"corrected": own, "corrected_sd": own_sd}
    return pd.DataFrame({"candidates": 1 + np.average(drawn, weights=times), **figures})


#: queries whose expectations are computed between two reports of progress
_PART = 512

#: a query's variance below this share of the mean square is none
_ROUNDING = 1e-12


def _moments(counts: np.ndarray, protocol: Protocol, ks: np.ndarray) -> np.ndarray:
    """Return `kgdash.engine.protocol_kernels.expect` of distinct counts, ``(n, 3 or 6)``."""
    shares = np.zeros((2, len(counts)))
    if protocol.weighted:
        whole = np.maximum(counts[:, 5], 1)
        shares = np.stack([counts[:, 3] / whole, counts[:, 4] / whole])
    rivals = Rivals(*(np.ascontiguousarray(counts[:, i]) for i in range(3)), *shares)
    moments = np.empty((len(counts), 2, 2 + len(ks), 2))
    draws = Draws(protocol.uniform, protocol.weighted)
    expect(rivals, draws, ks, not protocol.weighted, moments)
    return moments
