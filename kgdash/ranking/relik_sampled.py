"""ReliK from a sample of the negatives, with an exact finite-population interval.

Defined in numbers.md#4-relik; the sampled estimate and the lower bound are those of Egger et al.,
WWW 2024 (see `kgdash.ranking.relik`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pandas as pd
import torch

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, phases, silent, stretch
from kgdash.ranking.better_interval import better_interval
from kgdash.scoring import ENTITY_SIDES, Scorer
from kgdash.scoring.protocol import refuse_nan

#: triples scored in one call, and anchors whose samples are drawn before they are scored, at most
_BATCH, _ANCHORS = 2**18, 128

#: negatives drawn per side at most, and bytes that each takes until it is scored
_MOST, _BYTES = 1_000_000, 128


class SamplingOptions(TypedDict, total=False):
    """What `Run.relik` takes for its sample; see below."""

    samples: int
    seed: int


@dataclass(frozen=True)
class NegativeSample:
    """Negatives drawn per side, and the seed of the draw."""

    samples: int = 1000
    seed: int = 0


def relik_sampled(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples,
    samples: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Count better negatives in uniform samples of N⁻(h) and N⁻(t), without replacement.

    Defined in numbers.md#4-relik.

    Triples that share an anchor share its sample; with ``samples`` ≥ |N⁻| the sample is everything.

    :param scorer: the model
    :param triples: int64, shape ``(n, 3)``
    :param known: F, the triples that are no negatives
    :param samples: |S| per side, from 1 to a million
    :param seed: of the random generator: same seed, same samples
    :return: one row per triple: ``head, relation, tail`` (ids) and for side in head, tail:
        ``{side}_better`` (sampled negatives other than the triple that score strictly higher),
        ``{side}_sampled`` and ``{side}_population`` (negatives other than the triple itself in the
        sample and in all), ``{side}_drawn`` (|S|), ``{side}_negatives`` (|N⁻|), all int64
    :raises KgdashError: if ``samples`` is out of range, or a score is NaN
    """
    if not 1 <= samples <= _MOST:
        raise KgdashError(f"expected 1 to {_MOST:,} sampled negatives a side; found {samples:,}")
    table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
    sampler = _Sampler(scorer, known, samples, np.random.default_rng(seed))
    for side, report in zip(ENTITY_SIDES, phases(progress, [1.0, 1.0]), strict=True):
        for name, values in sampler.count(triples, side, report).items():
            table[f"{side}_{name}"] = values
    return table


@dataclass(frozen=True)
class _Sampler:
    """Samples of the negatives around anchors; ``rng`` goes on from one to the next."""

    scorer: Scorer
    known: KnownTriples
    samples: int
    rng: np.random.Generator

    def count(self, triples: np.ndarray, side: str, progress: Progress) -> dict[str, np.ndarray]:
        """Count better negatives on one side: the columns of `relik_sampled`."""
        anchors, group = np.unique(triples[:, 0 if side == "head" else 2], return_inverse=True)
        other = triples[:, 2 if side == "head" else 0]
        position = triples[:, 1] * self.scorer.num_entities + other
        is_negative = ~self.known.contains(triples)
        first, progress = phases(progress, [len(triples), len(anchors) * self.samples])
        own = scores_of(self.scorer, triples, "tail" if side == "head" else "head", first)
        result = {
            name: np.zeros(len(triples), dtype=np.int64)
            for name in ("better", "sampled", "population", "drawn", "negatives")
        }
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(len(anchors) + 1))
        each = max(1, min(self.samples, self.scorer.num_entities * self.scorer.num_relations))
        step = min(_ANCHORS, max(1, memory_budget() // (4 * _BYTES * each)))
        for start in range(0, len(anchors), step):
            some = anchors[start : start + step]
            report = stretch(progress, start, start + len(some), len(anchors))
            drawn = self.draw(some, side, report)
            for number, (sample, scores, negatives) in enumerate(drawn, start=start):
                rows = order[bounds[number] : bounds[number + 1]]
                better = len(sample) - np.searchsorted(np.sort(scores), own[rows], side="right")
                drew_itself, beats_itself = _itself(sample, scores, position[rows], own[rows])
                result["better"][rows] = better - beats_itself
                result["sampled"][rows] = len(sample) - drew_itself
                result["drawn"][rows] = len(sample)
                result["negatives"][rows] = negatives
                result["population"][rows] = negatives - is_negative[rows]
            report(1, 1)
        return result

    def draw(
        self, anchors: np.ndarray, side: str, progress: Progress = silent
    ) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """Sample negatives around some anchors and score them in one go.

        :return: per anchor the sorted sample (``relation * |E| + entity``), its scores, and |N⁻|
        """
        size = self.scorer.num_entities * self.scorer.num_relations
        owner, value = self.known.triples_with_entity(anchors, side)
        starts = np.searchsorted(owner, np.arange(len(anchors) + 1))
        drawn, negatives = [], []
        for first, last in itertools.pairwise(starts):
            drawn.append(np.sort(draw_negatives(value[first:last], size, self.samples, self.rng)))
            negatives.append(size - int(last - first))
        lengths = [len(sample) for sample in drawn]
        anchor = np.repeat(anchors, lengths)
        relation, other = np.divmod(np.concatenate(drawn), self.scorer.num_entities)
        columns = (anchor, relation, other) if side == "head" else (other, relation, anchor)
        candidates = "tail" if side == "head" else "head"
        scores = scores_of(self.scorer, np.stack(columns, axis=1), candidates, progress)
        return zip(drawn, np.split(scores, np.cumsum(lengths)[:-1]), negatives, strict=True)


def _itself(
    sample: np.ndarray, scores: np.ndarray, position: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which triples are in their own sample, and which of those seem to beat themselves.

    Rounding differs between batches, so that a triple's two scores may.
    """
    place = np.searchsorted(sample, position)
    drew = place < len(sample)
    drew[drew] = sample[place[drew]] == position[drew]
    beats = drew.copy()
    beats[drew] = scores[place[drew]] > own[drew]
    return drew, beats


def draw_negatives(
    known: np.ndarray, size: int, samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw distinct numbers of ``range(size)`` that are not known, uniformly.

    :param known: sorted, distinct, int64
    :param samples: how many; all of them if there are no more
    :return: int64, shape ``(min(samples, size - len(known)),)``
    """
    left = size - len(known)
    if samples < left:
        drawn = rng.choice(left, samples, replace=False, shuffle=False)
    else:
        drawn = np.arange(left)
    # The j-th unknown number is j plus the known ones below it.
    return drawn + np.searchsorted(known - np.arange(len(known)), drawn, side="right")


def scores_of(
    scorer: Scorer, triples: np.ndarray, side: str, progress: Progress = silent
) -> np.ndarray:
    """Score triples as candidates for a side: float32, ``(n,)``.

    :raises KgdashError: if a score is NaN
    """
    parts = torch.from_numpy(np.ascontiguousarray(triples)).split(_BATCH)
    reports = phases(progress, [float(len(part)) for part in parts])
    found = map(scorer.score_triples, parts, itertools.repeat(side), reports)
    scores = [refuse_nan(each) for each in found]
    return torch.cat(scores).cpu().numpy() if scores else np.zeros(0, dtype=np.float32)


def estimate(counts: pd.DataFrame, method: str = "sampled", level: float = 0.95) -> pd.DataFrame:
    """Turn sampled counts into ReliK with an interval (numbers.md#4-relik).

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
        # Without negatives all of them are sampled: |S| / |N⁻| is taken as 1.
        share = np.where(negatives > 0, drawn / np.maximum(negatives, 1), 1.0)
        paper = share / (1.0 + better)
        terms.append(paper if method == "sampled-paper" else 1.0 / rank)
        fewest, most = better_interval(better, sampled, population, 1 - (1 - level) / 2)
        low.append(1.0 / (1 + most))
        high.append(1.0 / (1 + fewest))
    table["relik"] = 0.5 * (terms[0] + terms[1])
    table["relik_low"] = 0.5 * (low[0] + low[1])
    table["relik_high"] = 0.5 * (high[0] + high[1])
    return table


def relik_or_middle(relik: pd.DataFrame) -> np.ndarray:
    """Return each triple's ReliK or, of sampled ones, the geometric middle of its interval.

    A triple that no sampled negative beats would count as 1, far too high.

    :param relik: of `Run.relik`
    """
    if "relik_low" in relik:
        return np.sqrt(relik["relik_low"].to_numpy() * relik["relik_high"].to_numpy())
    return relik["relik"].to_numpy()
