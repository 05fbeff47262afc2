"""Do runs that rank equally well give the same answers?

Defined in numbers.md#25-agreement-of-runs. Zhu et al., "Predictive multiplicity of knowledge graph
embeddings in link prediction", Findings of EMNLP 2024; Marx, Calmon and Ustun, "Predictive
multiplicity in classification", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS, IDS, SPLITS, default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import mean_reciprocal_rank
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.agreement.top_answers import top_answers
from kgdash.studies.agreement.votes import VOTING, Ballots
from kgdash.studies.comparison.comparison import compared_ranks, distinct_names
from kgdash.studies.probability.answer_queries import answer_queries

#: triples whose queries are asked of all runs before the next
_BLOCK = 4096

#: raise when the meaning of a stored table changes
_VERSION = 1

#: runs rank about equally well whose MRR is within this part of the best
EQUALLY_WELL = 0.05


@dataclass(frozen=True)
class AgreementSetting:
    """What is compared.

    ``k`` in [1, 100]: an answer up to this rank is a hit; ``margin`` in [0, 1]: by which part of
    the best MRR a run may fall short; ``split``; ``filter``: as in `Run.ranks`.

    :raises KgdashError: if one of them is none
    """

    k: int = 1
    margin: float = EQUALLY_WELL
    split: str = "test"
    filter: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= VOTING:
            raise KgdashError(f"expected a k from 1 to {VOTING}; found {self.k}")
        if not 0 <= self.margin <= 1:
            raise KgdashError(f"expected a margin from 0 to 1; found {self.margin:g}")
        check_name("split", self.split, SPLITS, "kgdash")
        check_name("filter", self.filter_used, FILTERS, "kgdash")

    @property
    def filter_used(self) -> str:
        """Name the filter, the default one where none was chosen."""
        return self.filter or default_filter(self.split)


@dataclass(frozen=True)
class Agreement:
    """What competing runs make of the same queries.

    ``overview``: one row per run that was given: ``run`` (str), ``mrr`` (realistic, both sides),
    ``competes`` (bool: within the margin of the best). ``runs``: those that compete, by name, the
    first given first. ``hits``: whether each run's realistic rank is ≤ k: bool, ``(2n, runs)``.
    ``queries``: one row per side and triple, all heads first: `kgdash.graph.IDS`, ``side``,
    ``hits`` (int64: runs), ``conflict`` (bool: some hit, some do not), ``overlap`` (in [0, 1]; NaN
    where no run has an answer up to rank k), ``vote_rank`` (of all runs' vote; inf where none has
    the true answer among its first 100), ``vote_conflict`` (in [0, 1]; NaN for fewer than four
    runs).
    """

    runs: dict[str, Run]
    setting: AgreementSetting
    overview: pd.DataFrame
    hits: np.ndarray
    queries: pd.DataFrame

    @property
    def best(self) -> str:
        """Return the name of the run with the highest MRR."""
        return str(self.overview.loc[self.overview["mrr"].idxmax(), "run"])

    @property
    def left_out(self) -> list[str]:
        """Return the names of the runs that do not compete."""
        return self.overview.loc[~self.overview["competes"], "run"].tolist()

    def differs(self) -> np.ndarray:
        """Tell where a run's hit is not that of the best run: bool, ``(2n, runs)``."""
        return self.hits != self.hits[:, [list(self.runs).index(self.best)]]


def agreement(
    runs: Sequence[Run], setting: AgreementSetting | None = None, progress: Progress = silent
) -> Agreement:
    """Compare the answers of runs whose MRR is within a margin of the best; kept on disk.

    :param runs: 2 to 8 on one graph
    :raises KgdashError: as `check_comparable` and `Run.ranks`; if only one run is within the margin
    """
    setting = setting or AgreementSetting()
    first, second = phases(progress, [1.0, 3.0])
    filter = setting.filter_used
    ranks = compared_ranks(runs, setting.split, filter, first)
    mrr = [mean_reciprocal_rank(table, ENTITY_SIDES) for table in ranks.values()]
    competes = np.array(mrr) >= (1 - setting.margin) * max(mrr)
    overview = pd.DataFrame({"run": list(ranks), "mrr": mrr, "competes": competes})
    chosen = {
        name: run
        for name, run, kept in zip(distinct_names(runs), runs, competes, strict=True)
        if kept
    }
    _check_enough(overview, setting)
    table = _answers(list(chosen.values()), setting, second)
    places = [ranks[name]["realistic"].to_numpy() for name in chosen]
    hits = np.stack(places, axis=1) <= setting.k
    count = hits.sum(axis=1)
    queries = next(iter(ranks.values()))[[*IDS, "side"]].assign(
        hits=count,
        conflict=(count > 0) & (count < len(chosen)),
        **{column: table[column].to_numpy() for column in table},
    )
    return Agreement(chosen, setting, overview, hits, queries)


def _check_enough(overview: pd.DataFrame, setting: AgreementSetting) -> None:
    if overview["competes"].sum() > 1:
        return
    best = overview.loc[overview["mrr"].idxmax()]
    others = overview[overview["run"] != best["run"]].sort_values("mrr", ascending=False)
    listed = ", ".join(f"{row['run']} {row['mrr']:.3f}" for row in others.to_dict("records"))
    raise KgdashError(
        f"expected two runs or more that rank about equally well; found no other within "
        f"{100 * setting.margin:g}% of the MRR of {best['run']}, {best['mrr']:.3f}: {listed}. "
        "Train it with other seeds, or widen the margin"
    )


def _answers(runs: list[Run], setting: AgreementSetting, progress: Progress) -> pd.DataFrame:
    """Return overlap and votes of each query, all heads first."""
    graph = runs[0].graph
    triples = graph.split(setting.split)
    key = {"kind": "agreement", "agreement": _VERSION, "k": setting.k, "voting": VOTING}
    key |= {"filter": setting.filter_used, "runs": [run.digest for run in runs]}
    about = {"kind": "comparison", "run": ", ".join(run.name for run in runs), "graph": graph.name}
    about |= {"graph_digest": graph.digest, "method": "agreement", "filter": setting.filter_used}

    def compute() -> pd.DataFrame:
        reports = phases(progress, [1.0] * len(ENTITY_SIDES))
        sides = [
            _of_side(runs, triples, setting, side, report)
            for side, report in zip(ENTITY_SIDES, reports, strict=True)
        ]
        return pd.concat(sides, ignore_index=True)

    return cached_table(
        key | runs[0].table_key(triples), compute, {**about, "triples": len(triples)}, progress
    )


def _of_side(
    runs: list[Run], triples: np.ndarray, setting: AgreementSetting, side: str, progress: Progress
) -> pd.DataFrame:
    anchor, answer = (0, 2) if side == "tail" else (2, 0)
    # Triples of one query come together: they share its row of scores.
    order = np.lexsort((triples[:, anchor], triples[:, 1]))
    starts = range(0, len(triples), _BLOCK)
    reports = iter(phases(progress, [1.0] * (len(starts) * len(runs))))
    every = tuple(range(len(runs)))
    parts = []
    for start in starts:
        rows = triples[order[start : start + _BLOCK]]
        lists = []
        for run in runs:
            (queries,) = answer_queries(run, rows, setting.filter_used, [side])
            lists.append(top_answers(queries, VOTING, next(reports)))
        ballots = Ballots(lists, rows[:, answer], runs[0].graph.num_entities)
        parts.append(
            pd.DataFrame(
                {
                    "overlap": ballots.overlap(setting.k),
                    "vote_rank": ballots.vote_rank(every),
                    "vote_conflict": ballots.vote_conflict(setting.k),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    return table.iloc[np.argsort(order)].reset_index(drop=True)


def pairwise(hits: np.ndarray) -> np.ndarray:
    """Return the share of pairs of runs of which one hits and the other does not: ``(2n,)``."""
    pairs = combinations(range(hits.shape[1]), 2)
    return np.mean([hits[:, a] != hits[:, b] for a, b in pairs], axis=0)


def as_plain(setting: AgreementSetting) -> dict[str, object]:
    """Return a setting as plain data, the filter that is used included."""
    return asdict(setting) | {"filter": setting.filter_used}
