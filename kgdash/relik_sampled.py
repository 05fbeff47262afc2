"""ReliK from a sample of the negatives, with an exact finite-population interval (§4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.known import KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import ENTITY_SIDES, Scorer
from kgdash.scoring.protocol import refuse_nan

#: triples scored in one call
_BATCH = 2**18


def relik_sampled(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples,
    samples: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Count better negatives in uniform samples of N⁻(h) and N⁻(t), without replacement (§4).

    Triples that share an anchor share its sample; with ``samples`` ≥ |N⁻| the sample is everything.

    :param scorer: the model
    :param triples: int64, shape ``(n, 3)``
    :param known: F, the triples that are no negatives
    :param samples: |S| per side, ≥ 1
    :param seed: of the random generator: same seed, same samples
    :return: one row per triple: ``head, relation, tail`` (ids) and for side in head, tail:
        ``{side}_better`` (sampled negatives other than the triple that score strictly higher),
        ``{side}_sampled`` and ``{side}_population`` (negatives other than the triple itself in the
        sample and in all), ``{side}_drawn`` (|S|), ``{side}_negatives`` (|N⁻|), all int64
    :raises KgdashError: if ``samples`` is less than 1, or a score is NaN
    """
    if samples < 1:
        raise KgdashError(f"expected at least 1 sampled negative per side; found {samples}")
    table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
    rng = np.random.default_rng(seed)
    for side, report in zip(ENTITY_SIDES, phases(progress, [1.0, 1.0]), strict=True):
        columns = _sample_side(scorer, triples, known, side, samples, rng, report)
        for name, values in columns.items():
            table[f"{side}_{name}"] = values
    return table


def _sample_side(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples,
    side: str,
    samples: int,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, np.ndarray]:
    anchors, group = np.unique(triples[:, 0 if side == "head" else 2], return_inverse=True)
    other = triples[:, 2 if side == "head" else 0]
    position = triples[:, 1] * scorer.num_entities + other
    is_negative = ~known.contains(triples)
    candidates = "tail" if side == "head" else "head"
    own = _scores(scorer, triples, candidates)
    size = scorer.num_entities * scorer.num_relations
    result = {
        name: np.zeros(len(triples), dtype=np.int64)
        for name in ("better", "sampled", "population", "drawn", "negatives")
    }
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(anchors) + 1))
    for number, anchor in enumerate(anchors):
        rows = order[bounds[number] : bounds[number + 1]]
        known_here = known.around(np.array([anchor]), side)[1]
        sample = np.sort(draw_negatives(known_here, size, samples, rng))
        scores = _scores(scorer, _around(anchor, sample, side, scorer), candidates)
        better = len(sample) - np.searchsorted(np.sort(scores), own[rows], side="right")
        place = np.minimum(np.searchsorted(sample, position[rows]), len(sample) - 1)
        drew_itself = sample[place] == position[rows]
        # Rounding in another batch could make a triple seem to beat itself.
        result["better"][rows] = better - (drew_itself & (scores[place] > own[rows]))
        result["sampled"][rows] = len(sample) - drew_itself
        result["drawn"][rows] = len(sample)
        result["negatives"][rows] = size - len(known_here)
        result["population"][rows] = size - len(known_here) - is_negative[rows]
        progress(number + 1, len(anchors))
    return result


def draw_negatives(
    known: np.ndarray, size: int, samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw distinct numbers of ``range(size)`` that are not known, uniformly.

    :param known: sorted, distinct, int64
    :param samples: how many; all of them if there are no more
    :return: int64, shape ``(min(samples, size - len(known)),)``
    """
    left = size - len(known)
    drawn = (
        np.arange(left)
        if samples >= left
        else rng.choice(left, samples, replace=False, shuffle=False)
    )
    # The j-th unknown number is j plus the known ones below it.
    return drawn + np.searchsorted(known - np.arange(len(known)), drawn, side="right")


def _around(anchor: int, sample: np.ndarray, side: str, scorer: Scorer) -> np.ndarray:
    relation, other = np.divmod(sample, scorer.num_entities)
    anchors = np.full(len(sample), anchor)
    columns = (anchors, relation, other) if side == "head" else (other, relation, anchors)
    return np.stack(columns, axis=1)


def _scores(scorer: Scorer, triples: np.ndarray, side: str) -> np.ndarray:
    parts = torch.from_numpy(np.ascontiguousarray(triples)).split(_BATCH)
    scores = [refuse_nan(scorer.score_triples(part, side)) for part in parts]
    return torch.cat(scores).cpu().numpy() if scores else np.zeros(0, dtype=np.float32)


def estimate(counts: pd.DataFrame, method: str = "sampled", level: float = 0.95) -> pd.DataFrame:
    """Turn sampled counts into ReliK with an interval (§4).

    - "sampled": rank ≈ 1 + better · population / sample (the corrected estimate),
    - "sampled-paper": the paper's ½ Σ |S| / (rank_S · |N⁻|), whose ceiling is |S| / |N⁻|,
    - "lower-bound": all unsampled negatives taken as better, rank = rank_S + |N⁻| − |S|.

    :param counts: a table of `relik_sampled`
    :param level: probability that the interval of a triple's ReliK covers the exact value, at least
        (each side's interval has ``1 − (1 − level) / 2``)
    :return: ``head, relation, tail``, ``head_rank``, ``tail_rank`` (float64 estimates; for
        "lower-bound" upper bounds), ``relik``, ``relik_low``, ``relik_high`` (float64)
    """
    table = counts[["head", "relation", "tail"]].copy()
    terms, low, high = [], [], []
    for side in ENTITY_SIDES:
        better, sampled, population, drawn, negatives = (
            counts[f"{side}_{name}"].to_numpy()
            for name in ("better", "sampled", "population", "drawn", "negatives")
        )
        if method == "lower-bound":
            rank = 1.0 + better + population - sampled
        else:
            rank = 1.0 + better * (population / np.maximum(sampled, 1))
        table[f"{side}_rank"] = rank
        paper = drawn / ((1.0 + better) * np.maximum(negatives, 1))
        terms.append(paper if method == "sampled-paper" else 1.0 / rank)
        fewest, most = better_interval(better, sampled, population, 1 - (1 - level) / 2)
        low.append(1.0 / (1 + most))
        high.append(1.0 / (1 + fewest))
    table["relik"] = 0.5 * (terms[0] + terms[1])
    table["relik_low"] = 0.5 * (low[0] + low[1])
    table["relik_high"] = 0.5 * (high[0] + high[1])
    return table


def better_interval(
    better: np.ndarray, sampled: np.ndarray, population: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the number of better negatives in the whole population (§4).

    The sampled number is hypergeometric; as in Clopper and Pearson's interval, the bounds are the
    smallest and largest numbers under which it would not be in a tail of (1 − level) / 2.

    :param better: better negatives in the sample, int64, ``(n,)``
    :param sampled: sample sizes
    :param population: population sizes
    :param level: at least this coverage, in (0, 1)
    :return: lowest and highest number, int64, ``(n,)`` each
    """
    tail = (1 - level) / 2
    lowest = _first(
        lambda k: stats.hypergeom.sf(better - 1, population, k, sampled) > tail,
        better,
        population - sampled + better,
    )
    highest = _first(
        lambda k: stats.hypergeom.cdf(better, population, k + 1, sampled) <= tail,
        better,
        population - sampled + better,
    )
    return lowest, highest


def _first(
    holds: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Find the least number in [low, high] from which a monotone condition holds (high if none)."""
    low, high = low.astype(np.int64), high.astype(np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        fine = np.asarray(holds(middle), dtype=bool)
        high = np.where((low < high) & fine, middle, high)
        low = np.where((low < high) & ~fine, middle + 1, low)
    return low
