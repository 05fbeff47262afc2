"""How probable any triples are as answers of their queries, by what was fitted on validation.

Defined in numbers.md#23-probabilities.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.ranks import check_sides
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import Softmax, answer_queries, softmax
from kgdash.studies.probability.calibration import Calibration, fit_calibration, fold_of


def probabilities(
    run: Run,
    triples: np.ndarray,
    filter: str,
    sides: Sequence[str] = ("head", "tail"),
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return `kgdash.runs.Run.probabilities` of triples.

    Those of the validation split are judged by fits on the other four of its five folds.

    :param triples: int64, ``(n, 3)``, n ≥ 1
    :param filter: of `kgdash.graph.FILTERS`
    :raises KgdashError: as there
    """
    check_sides(sides)
    if "relation" in sides:
        raise KgdashError("probabilities are of heads and tails; the side relation has none")
    valid = run.graph.split("valid")
    shown = run.graph.index(valid).contains(triples)
    fold = np.full(len(triples), -1)
    fold[shown] = _folds_of_shown(triples[shown], valid)
    wanted = np.unique(fold)
    fits = phases(progress, [1.0] * (len(wanted) + 1))
    run.ranks(triples=triples, filter=filter, sides=sides)  # refuses NaN
    asked = {queries.side: queries for queries in answer_queries(run, triples, filter)}
    parts = {}
    for number, report in zip(wanted, fits, strict=False):
        fitted = fit_calibration(run, int(number) if number >= 0 else None, report)
        for side in sides:
            chosen = fold == number
            (found,) = softmax(asked[side].some(chosen), [fitted.beta_of(asked[side].some(chosen))])
            parts[side, number] = _rows(triples[chosen], side, fitted, found).set_index(
                np.flatnonzero(chosen)
            )
    progress(1.0, 1.0)
    tables = [pd.concat([parts[side, number] for number in wanted]).sort_index() for side in sides]
    return pd.concat(tables, ignore_index=True)


def _folds_of_shown(triples: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return the fold of each validation triple."""
    place = {tuple(row): fold for row, fold in zip(valid.tolist(), fold_of(valid), strict=True)}
    return np.array([place[tuple(row)] for row in triples.tolist()], dtype=np.int64)


def _rows(triples: np.ndarray, side: str, fitted: Calibration, found: Softmax) -> pd.DataFrame:
    return pd.DataFrame(triples, columns=IDS).assign(
        side=side,
        confidence=np.clip(found.confidence, 0.0, 1.0),
        softmax=np.exp(np.minimum(found.log_true, 0.0)),
        probability=fitted.isotonic(found.log_true),
    )
