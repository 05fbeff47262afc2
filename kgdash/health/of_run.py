"""The score health of a run: tables kept on disk, and what they say.

Defined in numbers.md#12-score-health.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_relations
from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS, IDS, default_filter
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.checks import Evidence, Finding, find
from kgdash.health.distribution import score_distribution
from kgdash.health.missing import missing_scores
from kgdash.health.spread import score_spread
from kgdash.health.summary import score_summary
from kgdash.health.ties import always_tied, tie_groups, tied_candidates
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import POOLS
from kgdash.runs import Run

HEALTH_SIDES = ("head", "tail", "both")


def _no_rows(**kinds: str) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


_NO_RANKS = _no_rows(
    **dict.fromkeys(IDS, "int64"),
    side="str",
    **dict.fromkeys(["optimistic", "pessimistic", "candidates"], "int64"),
)
_NO_RELATIONS = _no_rows(
    group="str",
    side="str",
    **dict.fromkeys(["count", "triples"], "int64"),
    **dict.fromkeys(["value", "optimistic", "pessimistic", "gap", "tied_share"], "float64"),
    largest_tie="int64",
)
_NOTHING_MISSING = _no_rows(kind="str", id="int64", nan="int64", scores="int64", share="float64")


@dataclass(frozen=True)
class ScoreHealth:
    """The scores of a run's split, described; every score is counted, none sampled.

    ``relations``: the MRR of all relations and sides, of `breakdown`; no rows
    without ranks. ``ranks`` is None where the scores can not be ranked, and ``refusal`` says why;
    ``missing`` then lists whose scores are NaN (`kgdash.health.missing.missing_scores`).
    """

    run: Run
    split: str
    filter: str
    spread: pd.DataFrame
    distribution: pd.DataFrame
    tied_entities: pd.DataFrame
    ranks: pd.DataFrame | None
    relations: pd.DataFrame
    refusal: str
    missing: pd.DataFrame

    def findings(self, side: str = "both") -> list[Finding]:
        """Return what the checks say of "head", "tail" or "both", the worst first.

        :raises KgdashError: on an unknown side
        """
        check_side(side)
        return find(Evidence(self.spread, self.distribution, self.ranks, self.tied_entities), side)

    def summary(self, side: str = "both") -> pd.DataFrame:
        """Return `kgdash.health.checks.score_summary` of a side."""
        return score_summary(self.spread, side)

    def histogram(self, side: str = "both") -> pd.DataFrame:
        """Return a side's bins: ``left, right, true, candidates``, and shares of the finite scores.

        :return: also ``true_share``, ``candidates_share`` (float64; they add up to 1)
        """
        rows = self.distribution
        bins = rows[(rows["side"] == side) & (rows["what"] == "bin")]
        bins = bins[["left", "right", "true", "candidates"]].reset_index(drop=True)
        for column in ("true", "candidates"):
            bins[f"{column}_share"] = bins[column] / max(int(bins[column].sum()), 1)
        return bins

    def tie_groups(self, side: str = "both", count: int = 50) -> pd.DataFrame:
        """Return `kgdash.health.ties.tie_groups` of a side's ranks; no rows without ranks."""
        ranks = _NO_RANKS if self.ranks is None else self.ranks
        return tie_groups(ranks[ranks["side"].isin(POOLS[side])], count)

    def tied_candidates(self, triple: tuple[int, int, int], side: str) -> np.ndarray:
        """Return the ids of the candidates that tie with a true answer of the split."""
        rows = self.run.graph.split(self.split)
        known = known_of(self.run, rows, self.filter)
        return tied_candidates(self.run.scorer, triple, side, known)

    def tied_names(self, triple: tuple[int, int, int], side: str) -> pd.DataFrame:
        """Return `tied_candidates` by ``label`` and ``name``."""
        graph, tied = self.run.graph, self.tied_candidates(triple, side)
        columns = {"label": graph.entity_labels, "name": graph.entities}
        return pd.DataFrame({key: [names[i] for i in tied] for key, names in columns.items()})

    def tables(self, side: str = "both") -> dict[str, pd.DataFrame]:
        """Return everything as tables, with names in place of ids.

        :return: "findings" (columns as the fields of `kgdash.health.checks.Finding`), "summary",
            "histogram", "ties" (`tie_groups`), "relations" (`by_relation`), "entities" that always
            tie (``group``, ``entity``), "missing" (``kind``, ``name``, ``nan``, ``scores``,
            ``share``)
        """
        graph = self.run.graph
        summary = self.summary(side).rename_axis("of").reset_index()
        entities, missing = self.tied_entities, self.missing
        names = {"entity": graph.entity_labels, "relation": graph.relation_labels}
        named = [names[row.kind][row.id] for row in missing.itertuples()]
        return {
            "findings": pd.DataFrame([asdict(finding) for finding in self.findings(side)]),
            "summary": summary,
            "histogram": self.histogram(side),
            "ties": graph.with_names(self.tie_groups(side)),
            "relations": self.by_relation(side),
            "entities": entities.assign(
                entity=[graph.entity_labels[number] for number in entities["entity"]]
            ),
            "missing": missing.assign(name=named)[["kind", "name", "nan", "scores", "share"]],
        }

    def by_relation(self, side: str = "both") -> pd.DataFrame:
        """Return the MRR per relation with gap and ties, the widest gap first.

        :return: rows of ``relations``
        """
        table = self.relations[self.relations["side"] == side].drop(columns="side")
        return table.sort_values("gap", ascending=False, kind="stable", ignore_index=True)


def score_health(
    run: Run, split: str = "test", filter: str | None = None, progress: Progress = silent
) -> ScoreHealth:
    """Look at all scores that the ranks of a split compare.

    Never refuses a model for NaN scores, as ranks do: counts them.

    :raises KgdashError: on an unknown split or filter, or an empty split
    """
    filter_used = filter or default_filter(split)
    check_name("filter", filter_used, FILTERS, "kgdash")
    rows = run.graph.split(split)
    known = known_of(run, rows, filter_used)
    reports = phases(progress, [0.35, 0.4, 0.05, 0.2, 0.1])

    def kept(part: str, number: int, compute: Callable[[Progress], pd.DataFrame]) -> pd.DataFrame:
        # Relations go by label there.
        shown = {"shown": run.graph.shown_digest} if part == "relations" else {}
        report = reports[number]
        return cached_table(
            {"kind": "scores", "part": part, "filter": filter_used, **run.table_key(rows), **shown},
            lambda: compute(report),
            run.table_about("scores", rows, method=part, filter=filter_used),
            report,
        )

    scorer = run.scorer
    spread = kept("spread", 0, lambda report: score_spread(scorer, rows, known, progress=report))
    distribution = kept(
        "distribution",
        1,
        lambda report: score_distribution(scorer, rows, known, spread, progress=report),
    )
    tied = kept("tied entities", 2, lambda report: always_tied(scorer, rows, progress=report))
    ranks, relations, refusal, missing = None, _NO_RELATIONS, "", _NOTHING_MISSING
    try:
        ranks = run.ranks(split, filter=filter_used, progress=reports[3])
        relations = kept("relations", 4, lambda _: _gaps(run, ranks))
    except KgdashError as error:
        refusal = str(error)
        missing = kept("missing", 4, lambda report: missing_scores(scorer, rows, progress=report))
    return ScoreHealth(
        run, split, filter_used, spread, distribution, tied, ranks, relations, refusal, missing
    )


def _gaps(run: Run, ranks: pd.DataFrame) -> pd.DataFrame:
    table = breakdown(add_relations(ranks, run.graph), "relation", level=None)
    return table[list(_NO_RELATIONS)]


def check_side(side: str) -> None:
    """Refuse a side that scores have no values of.

    :raises KgdashError: unless it is "head", "tail" or "both"
    """
    check_name("side", side, HEALTH_SIDES, "the health of scores")


def known_of(run: Run, rows: np.ndarray, filter: str) -> KnownTriples | None:
    """Return the triples that a filter removes from the candidates of a split's triples."""
    return None if filter == "none" else run.graph.known_with(rows, FILTERS[filter])
