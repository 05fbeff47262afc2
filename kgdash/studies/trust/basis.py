"""What a run's trust cards rest on, counted once for all of them.

Defined in numbers.md#26-the-trust-card.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.engine.sweep_kernels import Placed, gather_places
from kgdash.errors import KgdashError
from kgdash.files.table_cache import cached_table, table_note
from kgdash.graph import FILTERS, IDS, default_filter
from kgdash.graph.communities import communities_fit, find_communities
from kgdash.health.sweep import asked_by
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.statistics.estimate import Estimate
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.statistics.proportions import clopper_pearson, exact_p
from kgdash.studies.probability.answer_queries import AnswerQueries, softmax
from kgdash.studies.probability.answer_sets import AnswerSetSetting, answer_sets
from kgdash.studies.probability.calibration import FITTED, Calibration, fit_calibration
from kgdash.studies.probability.conformal import expected_coverage
from kgdash.studies.probability.query_groups import Queries
from kgdash.studies.probability.set_tables import are_stored

#: share of queries whose set may miss the true answer, and what puts an answer in: by "adaptive",
#: the set of a query can leave out the one answer that the model is sure of
EPSILON, SCORE = 0.1, "softmax"

#: raise when the meaning of a stored table changes
_VERSION = 1

#: scores of validation and test queries that are computed at once where they are not prepared
_FEW_SCORES = 2**24

#: number of the row of all test queries
_ALL = -1


@dataclass(frozen=True)
class Placing:
    """What places answers: ``most`` is the greatest nonconformity that a set allows."""

    fitted: Calibration
    most: float

    def place(self, queries: AnswerQueries, progress: Progress = silent) -> pd.DataFrame:
        """Place the answers of triples among the candidates of their queries.

        :return: one row per triple: ``score``, ``rank`` (realistic), ``probability`` (in [0, 1]),
            ``in_set`` (bool), ``set_size``, ``ties``, ``candidates`` (int64: with the same score,
            and all, the answer among both)
        :raises KgdashError: if a score is NaN or infinite
        """
        first, second = phases(progress, [1.0, 1.0])
        (found,) = softmax(queries, [self.fitted.beta_of(queries)], first)
        rows, order = len(queries.asked.anchors), np.argsort(queries.asked.row, kind="stable")
        least = (found.normaliser - self.most) / found.beta  # −log p ≤ most, said of the score
        placed = Placed(
            np.searchsorted(queries.asked.row[order], np.arange(rows + 1)),
            found.own[order],
            least[order],
            np.zeros((len(order), 4), dtype=np.int64),
        )

        def gather(_: None, tile: np.ndarray, row: int) -> None:
            gather_places(tile, row, placed)

        queries.visit(gather, lambda: None, second)
        rivals, above, equal, inside = placed.counts[np.argsort(order)].T
        wanted = queries.scorer.num_entities - queries.asked.left_out()
        if (rivals != wanted[queries.asked.row]).any():
            raise KgdashError("the model gives NaN scores; kgdash health says whose they are")
        in_set = found.own >= least
        return pd.DataFrame(
            {
                "score": found.own,
                "rank": above + equal / 2 + 1,
                "probability": self.fitted.isotonic(found.log_true),
                "in_set": in_set,
                "set_size": inside + in_set,
                "ties": equal + 1,
                "candidates": rivals + 1,
            }
        )


@dataclass(frozen=True)
class Basis:
    """What cards rest on.

    ``coverage``: one row per community with test queries, where these fit into memory, and one, -1,
    of all: ``community``, ``queries``, ``covered`` (int64).
    """

    run: Run
    placing: Placing
    coverage: pd.DataFrame

    def coverage_of(self, communities: np.ndarray | None, entity: int | None) -> Estimate:
        """Return the coverage measured where an entity is, with its Clopper–Pearson interval.

        :param communities: of `find_communities`; None, as the entity, for the whole graph
        """
        at = _ALL if communities is None or entity is None else int(communities[entity])
        rows = self.coverage[self.coverage["community"] == at]
        queries, covered = (int(rows[column].sum()) for column in ("queries", "covered"))
        if not queries:
            return Estimate(np.nan, np.nan, np.nan, 0)
        low, high = clopper_pearson(covered, queries)
        return Estimate(covered / queries, float(low), float(high), queries)

    def misses(self, here: Estimate) -> bool:
        """Tell whether sets of a region miss the truth more often than promised, by `exact_p`.

        Two queries count as one, of validation and of the region: those of a triple depend on each
        other.

        :param here: of `coverage_of`, n ≥ 2
        """
        known = len(self.run.graph.splits["valid"])
        (share,) = expected_coverage(np.array([2 * known]), EPSILON)
        p = exact_p(here.value * here.n / 2, here.n / 2, share, known)
        return bool(here.value < 1 - EPSILON and p <= LEVEL)


def card_basis(run: Run, progress: Progress = silent) -> Basis:
    """Count what a run's cards rest on; kept on disk, in two small tables.

    :raises KgdashError: without validation or test triples; if a score is NaN or infinite
    """
    first, second = phases(progress, [1.0, 2.0])
    for split, what in (("valid", "fit probabilities on"), ("test", "measure coverage on")):
        if not len(run.graph.splits[split]):
            raise KgdashError(f"graph {run.graph.name} has no {split} triples to {what}")
    fitted = fit_calibration(run, progress=first)
    test = run.graph.split("test")
    about = run.table_about("calibration", test, filter=default_filter("test"), method="trust card")
    table = cached_table(_key(run), lambda: _coverage(run, second), about, second)
    placing = Placing(fitted, float(table["most"].iloc[0]))
    return Basis(run, placing, table.drop(columns="most"))


def questions(run: Run, triples: np.ndarray, side: str, filter: str) -> AnswerQueries:
    """List the queries of triples that may be no facts: none counts as known for the others.

    :param triples: int64, ``(n, 3)``, n ≥ 1
    :param side: the open one, "head" or "tail"
    :param filter: of `kgdash.graph.FILTERS`: whose answers are no candidates
    """
    known = None if filter == "none" else run.graph.known(FILTERS[filter])
    return AnswerQueries(run.scorer, triples, asked_by(triples, known, side))


def is_at_hand(run: Run) -> bool:
    """Tell whether cards need not wait: it is prepared, or the graph is small."""
    queries = 2 * sum(len(run.graph.splits[split]) for split in ("valid", "test"))
    few = queries * run.graph.num_entities <= _FEW_SCORES
    return few or bool(table_note(_key(run))) or are_stored(run, ("none", EPSILON))


def _key(run: Run) -> dict[str, object]:
    about = {"kind": "trust", "trust": _VERSION, "epsilon": EPSILON, "score": SCORE}
    return about | FITTED | run.table_key(run.graph.splits["test"])


def _coverage(run: Run, progress: Progress) -> pd.DataFrame:
    first, second = phases(progress, [1.0, 2.0] if communities_fit(run.graph) else [1.0, 0.0])
    found = answer_sets(run, AnswerSetSetting(EPSILON, SCORE), first)
    triples = found.queries[: len(found.queries) // len(ENTITY_SIDES)][IDS].to_numpy()
    anchors = Queries.of(triples).anchor
    rows = pd.DataFrame({"community": _ALL, "covered": found.queries["covered"].to_numpy(np.int64)})
    if communities_fit(run.graph):
        of = find_communities(run.graph, progress=second)[anchors]
        rows = pd.concat([rows.assign(community=of), rows])
    table = rows.groupby("community")["covered"].agg(queries="size", covered="sum").reset_index()
    return table.assign(most=float(found.thresholds["most"].iloc[0]))
