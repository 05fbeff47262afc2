"""Scores → table of each triple's own score and of how its rivals' scores spread."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.engine.sweep_kernels import Extremes, gather_extremes
from kgdash.errors import check_name
from kgdash.graph import IDS
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.sweep import asked_by, sweep
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import ENTITY_SIDES, Scorer


def score_spread(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples | None,
    sides: Sequence[str] = ENTITY_SIDES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Describe the scores that each triple's rank compares: all of them, none sampled.

    Defined in numbers.md#12-score-health.

    A rival is a candidate that is left by the filter, other than the true answer. Scores may be
    NaN or infinite: they are counted.

    :param triples: int64, shape ``(n, 3)``: ids of head, relation, tail
    :param known: triples removed from the candidates (the true one never is), or None for raw
    :param sides: any of "head" (?, r, t) and "tail" (h, r, ?)
    :return: one row per side and triple, as `rank_triples` orders them: ``head,
        relation, tail`` (int64 ids), ``side`` (str), ``score`` (float64: of the true answer),
        ``candidates`` (int64: the rivals and the true answer); of the rivals: ``lowest``,
        ``highest``, ``mean`` (float64, of the finite scores; NaN if there are none),
        ``at_lowest``, ``at_highest`` (int64: how many have exactly that score), ``finite``,
        ``plus_infinite``, ``minus_infinite``, ``nan`` (int64: how many scores are)
    :raises KgdashError: on an unknown side
    """
    for side in sides:
        check_name("side", side, ENTITY_SIDES, "the spread of scores")
    reports = phases(progress, [1.0] * len(sides))
    return pd.concat(
        [
            _of_side(scorer, triples, known, side, report)
            for side, report in zip(sides, reports, strict=True)
        ],
        ignore_index=True,
    )


def _of_side(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples | None, side: str, progress: Progress
) -> pd.DataFrame:
    asked = asked_by(triples, known, side)
    found = Extremes.of_nothing(len(asked.anchors))

    def visit(extremes: Extremes, scores: np.ndarray, first: int) -> None:
        gather_extremes(scores, first, extremes)

    # A row belongs to one thread, so that all may write to the same arrays.
    _, own = sweep(scorer, asked, visit, lambda: found, progress)
    rivals = scorer.num_entities - asked.left_out()
    some = found.finite > 0
    columns = {
        "candidates": rivals + 1,
        "lowest": np.where(some, found.low + 0.0, np.nan),  # no zero of another sign
        "highest": np.where(some, found.high + 0.0, np.nan),
        "mean": np.where(some, found.total / np.maximum(found.finite, 1), np.nan),
        "at_lowest": found.at_low,
        "at_highest": found.at_high,
        "finite": found.finite,
        "plus_infinite": found.plus,
        "minus_infinite": found.minus,
        "nan": rivals - found.finite - found.plus - found.minus,
    }
    table = pd.DataFrame(triples, columns=IDS)
    table["side"] = side
    table["score"] = own.astype(np.float64) + 0.0
    return table.assign(**{name: values[asked.row] for name, values in columns.items()})
