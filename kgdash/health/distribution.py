"""Scores → histogram of true answers against their rivals, and the values that many share.

Both are counted over all scores. A value that makes up a hundredth of the scores is found by its
bits: scores are counted by their first digits, then, in cells that hold so many, by the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.engine.sweep_kernels import DigitTree, gather_bins, gather_digits, gather_first_digits
from kgdash.engine.tasks import Asked
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.sweep import all_scores, asked_by, sweep
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import Scorer
from kgdash.statistics.bins import bin_edges

#: a single value is told from this share of a side's rivals on
FREQUENT = 0.01

BINS = 60

#: bits of a digit, but the last
_DIGIT = 11

#: odd: multiplied by it, modulo 2^bits, bits are mixed one to one (Knuth's multiplicative hashing)
_FACTORS = {32: 0x9E3779B1, 64: 0x9E3779B97F4A7C15}


def score_distribution(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples | None,
    spread: pd.DataFrame,
    bins: int = BINS,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Count all finite scores of true answers and of their rivals into common bins.

    A rival's score counts once for each triple that it is a rival of: a row of the ranks compares
    one true score with ``candidates - 1`` others. Bins reach from the least to the greatest finite
    score of both kinds and sides, as `numpy.histogram` cuts them.

    :param triples: int64, shape ``(n, 3)``
    :param known: as given to `kgdash.health.spread.score_spread`
    :param spread: what that returned
    :param bins: ≥ 1
    :return: per side of ``spread``, and "both" where it has head and tail: rows with ``what``
        "bin", one per bin in order, and rows with ``what`` "value", one per single value that makes
        up at least a hundredth of the rivals' scores on a side, the most frequent first. Columns:
        ``side``, ``what`` (str), ``left``, ``right`` (float64: the bin's edges; for a value both
        are it), ``true``, ``candidates`` (int64: scores of true answers, of rivals)
    """
    asked = {side: asked_by(triples, known, side) for side in spread["side"].unique()}
    rivals = {side: int((rows["candidates"] - 1).sum()) for side, rows in spread.groupby("side")}
    edges = score_bins(spread, bins)
    tree = _Digits.of(_bits(scorer, asked))
    least = {side: max(1.0, FREQUENT * count) for side, count in rivals.items()}
    counted: dict[str, np.ndarray] = {}
    first, *more = phases(progress, [1.0] + [0.1] * (len(tree.shifts) - 1))
    for side, queries, report in _with_reports(asked, first):
        counted[side], tree.counts[side] = _bins(scorer, queries, edges, tree, report)
    for level, report in enumerate(more):
        if not tree.grow(level, least):
            break
        for side, queries, own_report in _with_reports(asked, report):
            tree.counts[side] = _digits(scorer, queries, tree, own_report)
    else:
        tree.grow(len(more), least)
    progress(1, 1)
    parts = []
    for side in asked:
        own = spread.loc[spread["side"] == side, "score"].to_numpy()
        true = np.histogram(own[np.isfinite(own)], edges)[0]
        parts.append(_rows(side, "bin", edges[:-1], edges[1:], true, counted[side]))
        values, counts = tree.values(side)
        true = (own[None, :] == values[:, None]).sum(axis=1)
        parts.append(_rows(side, "value", values, values, true, counts))
    return _with_both(pd.concat(parts, ignore_index=True))


def score_bins(spread: pd.DataFrame, bins: int = BINS) -> np.ndarray:
    """Cut the range of all finite scores into bins of one width: float64, ``(bins + 1,)``."""
    ends = spread[["lowest", "highest", "score"]].to_numpy()
    return bin_edges(ends[np.isfinite(ends)], bins)


@dataclass
class _Digits:
    """A tree of the digits of frequent scores.

    ``children``: int64, ``(nodes, 2048)``, -1 for none; ``counts``: by side, in its shape;
    ``prefixes``: of the nodes of the last level, the digits that lead there.
    """

    bits: int
    shifts: np.ndarray
    masks: np.ndarray
    children: np.ndarray
    counts: dict[str, np.ndarray]
    prefixes: dict[int, int]
    found: list[tuple[int, int, int]]

    @classmethod
    def of(cls, bits: int) -> _Digits:
        """Start with the first digit of words of so many bits."""
        shifts = [*range(bits - _DIGIT, 0, -_DIGIT), 0]
        widths = [before - shift for before, shift in zip([bits, *shifts], shifts, strict=False)]
        masks = [2**width - 1 for width in widths]
        children = np.full((1, 2**_DIGIT), -1, dtype=np.int64)
        return cls(
            bits,
            np.array(shifts, dtype=np.uint64),
            np.array(masks, dtype=np.uint64),
            children,
            {},
            {0: 0},
            [],
        )

    def grow(self, level: int, least: dict[str, float]) -> bool:
        """Follow the digits that some side has often enough; tell whether there is more to count.

        :param level: of the digit that was counted last
        :param least: by side, how often
        """
        often = np.any([self.counts[side] >= least[side] for side in least], axis=0)
        last = level == len(self.shifts) - 1
        new: dict[int, int] = {}
        for node, digit in np.argwhere(often).tolist():
            if node not in self.prefixes:
                continue
            prefix = self.prefixes[node] | digit << int(self.shifts[level])
            if last:
                self.found.append((prefix, node, digit))
            else:
                self.children[node, digit] = len(self.children) + len(new)
                new[len(self.children) + len(new)] = prefix
        self.prefixes = new
        more = np.full((len(new), 2**_DIGIT), -1, dtype=np.int64)
        self.children = np.concatenate([self.children, more])
        return bool(new)

    def values(self, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values that were found, float64, and how often a side has each."""
        back = pow(_FACTORS[self.bits], -1, 2**self.bits)
        words = [prefix * back % 2**self.bits for prefix, _, _ in self.found]
        values = np.array(words, dtype=f"u{self.bits // 8}").view(f"f{self.bits // 8}")
        counts = [self.counts[side][node, digit] for _, node, digit in self.found]
        return values.astype(np.float64), np.array(counts, dtype=np.int64)


def _bits(scorer: Scorer, asked: dict[str, Asked]) -> int:
    """Return the bits of one of the model's scores."""
    side, queries = next(iter(asked.items()))
    _, one = next(all_scores(scorer, side, queries.anchors[:1], queries.relations[:1]))
    return 8 * one.dtype.itemsize


def _with_reports(
    asked: dict[str, Asked], progress: Progress
) -> Iterator[tuple[str, Asked, Progress]]:
    reports = phases(progress, [float(len(queries.anchors)) for queries in asked.values()])
    for (side, queries), report in zip(asked.items(), reports, strict=True):
        yield side, queries, report


def _bins(
    scorer: Scorer, asked: Asked, edges: np.ndarray, tree: _Digits, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Count scores by bins, int64 ``(bins,)``, and by their first digit, ``(1, 2048)``."""
    weights = np.bincount(asked.row, minlength=len(asked.anchors))
    word = np.dtype(f"u{tree.bits // 8}").type
    factor, shift = word(_FACTORS[tree.bits]), word(tree.shifts[0])

    def visit(state: tuple[np.ndarray, np.ndarray], scores: np.ndarray, first: int) -> None:
        gather_bins(scores, first, weights, edges, state[0])
        gather_first_digits(scores, scores.view(word), first, weights, factor, shift, state[1])

    def nothing() -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((4, len(edges)), np.int64), np.zeros(2**_DIGIT + 1, np.int64)

    states, _ = sweep(scorer, asked, visit, nothing, progress)
    in_bins, in_digits = (np.sum(parts, axis=0) for parts in zip(*states, strict=True))
    return in_bins.sum(axis=0)[:-1], in_digits[None, :-1]


def _digits(scorer: Scorer, asked: Asked, tree: _Digits, progress: Progress) -> np.ndarray:
    """Count scores by the tree's digits: int64, ``(nodes, 2048)``."""
    weights = np.bincount(asked.row, minlength=len(asked.anchors))
    word = np.dtype(f"u{tree.bits // 8}")
    factor = np.uint64(_FACTORS[tree.bits])
    digits = DigitTree(factor, tree.shifts, tree.masks, tree.children)

    def visit(counts: np.ndarray, scores: np.ndarray, first: int) -> None:
        gather_digits(scores, scores.view(word), first, weights, digits, counts)

    states, _ = sweep(
        scorer, asked, visit, lambda: np.zeros(tree.children.shape, np.int64), progress
    )
    return np.sum(states, axis=0)


def _rows(
    side: str,
    what: str,
    left: np.ndarray,
    right: np.ndarray,
    true: np.ndarray,
    candidates: np.ndarray,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "side": side,
            "what": what,
            "left": left,
            "right": right,
            "true": true,
            "candidates": candidates,
        }
    )


def _with_both(table: pd.DataFrame) -> pd.DataFrame:
    """Add the sums of head and tail; order the values by frequency."""
    parts = [table]
    if {"head", "tail"} <= set(table["side"]):
        keys = ["what", "left", "right"]
        pooled = table.groupby(keys, as_index=False)[["true", "candidates"]].sum()
        parts.append(pooled.assign(side="both")[table.columns])
    whole = pd.concat(parts, ignore_index=True)
    is_bin = whole["what"] == "bin"
    place = np.where(is_bin, whole["left"].rank(), -whole["candidates"])
    side = whole["side"].map({name: i for i, name in enumerate(whole["side"].unique())})
    order = np.lexsort((place, ~is_bin, side))
    return whole.iloc[order].reset_index(drop=True)
