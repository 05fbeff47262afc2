"""What the page Inspect shows at once: the verdict, five figures, candidates and their scores."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.inspection import candidate_histogram
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import SIDES
from kgdash.ranking.glossary import explained
from kgdash.statistics.estimate import number
from kgdash.studies.inspection.candidates import SideCandidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import Inspection, K
from kgdash.studies.inspection.verdict import count_text, verdict
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_one
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.inspect_link import pick_triple

_RANK = (
    "That of this candidate's own triple: filtered, so that facts that rank higher do not count."
)


def show_verdict(found: Inspection) -> None:
    """Say in plain words how the triple ranks, what beats it, and whether it is known."""
    st.markdown(plain(verdict(found)))


def show_figures(found: Inspection) -> None:
    """Show score and three ranks of a whole triple."""
    if found.triple.open_side is not None:
        return
    with st.container(horizontal=True):
        tails = found.sides["tail"]
        score = found.score if found.score is not None else float("nan")
        below = int((tails.scores < score).sum())
        show_card(
            "Score",
            number(score),
            f"above {below:,} of {len(tails.scores):,} tails",
            "Only the order of a model's scores has a meaning, not their size.",
        )
        for side in ("tail", "head", "relation"):
            rank, raw = (found.sides[side].rank(_answer(found, side), r) for r in (False, True))
            show_card(
                f"{side.capitalize()} rank ↓",
                f"{rank.realistic:,g}",
                f"of {count_text(rank.candidates)}; raw {raw.realistic:,g}",
                "Realistic and filtered: other known facts are no candidates. By equal scores "
                f"{rank.optimistic:,} at best, {rank.pessimistic:,} at worst. Raw: with the known "
                "facts.",
            )


def show_candidates(found: Inspection) -> None:
    """Show the best candidates of a side, and where the triple's score lies among all."""
    sides = list(found.sides)
    side = sides[0]
    if len(sides) > 1:
        side = choose_one("Candidates for", sides, "candidates_for", label_visibility="collapsed")
    candidates = found.sides[side]
    left, right = st.columns([3, 2], gap="large")
    with left:
        table = candidates.top(K)
        if candidates.answer is not None and not table["answer"].any():
            table = pd.concat([table, candidates.rows(np.array([candidates.answer]))])
        show_candidate_rows(found, candidates, table, f"candidates_{side}")
    with right:
        own = None if candidates.answer is None else candidates.score(candidates.answer)
        show_chart(
            drawn(candidate_histogram, candidates.histogram(), side, own, 330),
            "candidate_scores",
            f"{found.run.name}-scores-of-{side}s",
        )


def show_candidate_rows(
    found: Inspection, candidates: SideCandidates, rows: pd.DataFrame, key: str
) -> None:
    """Show candidates as a table; a click on one inspects the triple that it makes.

    :param rows: of `SideCandidates.rows`; ``distance``, if there, is shown too
    :param key: of the widget, one per triple
    """
    graph, side, near = found.run.graph, candidates.side, "distance" in rows
    known = [split or "–" for split in rows["known"]]
    shown = pd.DataFrame(
        {
            side: [_label(graph, side, i) for i in rows["id"]],
            **({"distance": rows["distance"]} if near else {}),
            "score": rows["score"],
            "rank": _whole(rows["filtered_rank"]),
            **({} if near else {"raw_rank": _whole(rows["raw_rank"])}),
            "known": [
                f"{split} (this)" if own else split
                for split, own in zip(known, rows["answer"], strict=True)
            ],
        }
    )
    pick_triple(
        graph,
        with_candidates(found.triple, side, rows["id"].tolist()),
        shown,
        f"{key}_{'_'.join(map(str, found.triple.parts))}",
        f"candidates for the {side}",
        rank=st.column_config.NumberColumn(
            "rank", format="localized", help=explained("rank", _RANK)
        ),
    )


def with_candidates(triple: InspectedTriple, side: str, ids: Sequence[int]) -> np.ndarray:
    """Return the triples that candidates of a side make: ids, int64, ``(n, 3)``."""
    rows = np.repeat(triple.row, len(ids), axis=0)
    rows[:, SIDES[side][1]] = ids
    return rows


def _whole(ranks: pd.Series) -> pd.Series:
    """Return ranks as whole numbers where they are all whole: equal scores make halves."""
    return ranks.astype("int64") if (ranks % 1 == 0).all() else ranks


def _label(graph: KnowledgeGraph, side: str, number: int) -> str:
    lookup = graph.relation_lookup if side == "relation" else graph.entity_lookup
    return lookup.distinct_label(number)


def _answer(found: Inspection, side: str) -> int:
    answer = found.sides[side].answer
    assert answer is not None, "the triple is whole"
    return answer
