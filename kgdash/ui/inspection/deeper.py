"""What lies beneath the first screen of Inspect: what beats a triple, its ends, its neighbours."""

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.charts.inspection import plane_figure
from kgdash.files.regular import file_stamp
from kgdash.progress import duration_text
from kgdash.ranking.relik import relik_of_ranks
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.library import named_stamps
from kgdash.runs.preparation import least_hours
from kgdash.runs.saved_groupings import groupings_file
from kgdash.scoring import ENTITY_SIDES
from kgdash.scoring.entity_vectors import entity_vectors
from kgdash.statistics.estimate import number
from kgdash.studies.inspection.better_negatives import BetterNegatives
from kgdash.studies.inspection.ends import facts_of_entity, facts_with_relik
from kgdash.studies.inspection.entity_roles import types_of_run
from kgdash.studies.inspection.geometry import lay_plane, marked_points, nearest_entities
from kgdash.studies.inspection.inspection import Inspection, K, takes_a_moment, what_beats
from kgdash.studies.inspection.other_runs import (
    runs_on_same_graph,
    same_triple,
    with_others,
)
from kgdash.studies.inspection.verdict import count_text
from kgdash.ui.inspection.explanation import show_explanation
from kgdash.ui.inspection.first_screen import show_candidate_rows
from kgdash.ui.inspection.large_runs import not_wanted, want
from kgdash.ui.runtime.asked import is_asked
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.loaded_runs import sound_runs
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.inspect_link import IDS, pick_triple
from kgdash.ui.widgets.table import number_columns, show_table, written

#: facts of an end whose ReliK is taken, and rows of short lists
_FACTS, _FEW = 50, 8

#: runs that the triple is looked up in at most: as many as stay loaded
_RUNS = 8

#: run whose larger other runs the visitor wants asked
_WANTED = "other_runs_wanted"


def show_what_beats(found: Inspection) -> None:
    """Show the negatives that score higher, around each end: the highest, and of what kind."""
    run, triple = found.run, found.triple
    if not found.better and not _is_wanted(found):
        return
    better = computed(
        "Looking for negatives that score higher",
        (run.identity, "what beats", triple),
        Call(what_beats, found),
    )
    if found.relik is not None and found.relik.interval is not None:
        exact = relik_of_ranks(*(better[side].count + 1 for side in ENTITY_SIDES))
        st.caption(f"By all negatives, ReliK is {number(exact)}.")
    saved = groupings_file(run)
    stamp = (str(saved), *file_stamp(saved))
    types, source = computed(
        "Sorting entities", (run.identity, "types of entities", *stamp), lambda _: types_of_run(run)
    )
    called = "most frequent role" if source == "roles" else f"types “{source}”"
    for column, side in zip(st.columns(2, gap="large"), ENTITY_SIDES, strict=True):
        with column:
            _show_better(found, better[side], types, called)


def _is_wanted(found: Inspection) -> bool:
    """Tell whether looking for negatives takes but a moment, or somebody asked for it."""
    hours = least_hours(found.run, len(ENTITY_SIDES))
    return takes_a_moment(found.run) or is_asked(
        (found.run.identity, found.triple),
        "Counting all negatives that score higher, and listing the best, takes "
        f"{duration_text(3600 * hours)} of a core or more.",
        "Count them",
    )


def _show_better(found: Inspection, better: BetterNegatives, types: Any, called: str) -> None:
    graph, side = found.run.graph, better.side
    other = "tail" if side == "head" else "head"
    st.markdown(
        f"**{count_text(better.count)} of {count_text(better.negatives)} negatives with this "
        f"{side} score higher**"
    )
    if not better.count:
        st.caption("Nothing beats it here.")
        return
    ids = better.best[IDS].to_numpy()
    key = "_".join(map(str, found.triple.parts))
    pick_triple(
        graph,
        ids,
        graph.with_names(better.best)[[other, "score", "relation"]],
        f"better_{side}_{key}",
        f"negatives with this {side} that score higher",
    )
    left, right = st.columns(2)
    relations = better.relations().head(_FEW)
    with left:
        _short(graph.with_names(relations), "By relation", f"better_relations_{side}")
    with right:
        heading = f"By {called} of the {other}"
        _short(better.types(types).head(_FEW), heading, f"better_types_{side}")


def _short(table: pd.DataFrame, heading: str, key: str) -> None:
    """Show how many of each kind there are: the count first, as names may be long."""
    st.caption(plain(heading))
    shown = table[["count", *table.columns.drop(["count", "share"])]]
    config = number_columns(shown)
    config["count"] = st.column_config.NumberColumn("count", format="localized", width=70)
    st.dataframe(written(shown), hide_index=True, column_config=config, row_height=28, key=key)


def show_ends(found: Inspection) -> None:
    """Show what is known of head and tail: degree, relations, the ReliK of facts."""
    ends = {side: getattr(found.triple, side) for side in ENTITY_SIDES}
    given = {side: entity for side, entity in ends.items() if entity is not None}
    for column, (side, entity) in zip(st.columns(2, gap="large"), given.items(), strict=False):
        with column:
            _show_end(found.run, side, entity)


def _show_end(run: Run, side: str, entity: int) -> None:
    graph = run.graph
    facts = facts_of_entity(graph, entity)
    splits = ", ".join(f"{count:,} in {split}" for split, count in facts.by_split.items())
    st.markdown(f"**{plain(graph.entity_labels[entity])}**, the {side}")
    st.caption(f"{facts.degree:,} known triples: {splits}.")
    relations = graph.with_names(facts.relations()).head(_FEW)
    st.dataframe(
        written(relations),
        hide_index=True,
        column_config=number_columns(relations),
        key=f"end_{side}",
    )
    table = computed(
        "ReliK of its facts",
        (run.identity, "facts of", entity, _FACTS),
        Call(facts_with_relik, run, facts, _FACTS),
    )
    if table.empty:
        return
    some = "" if len(table) == facts.degree else " (an even choice)"
    st.caption(
        f"Mean ReliK {number(table['relik'].mean())} of {len(table):,} of its facts{some}, the "
        "least reliable first:"
    )
    named = graph.with_names(table)
    tails, heads = ("→ " + named["tail"]).tolist(), ("← " + named["head"]).tolist()
    outgoing = (table["head"] == entity).tolist()
    other = [tail if out else head for out, tail, head in zip(outgoing, tails, heads, strict=True)]
    pick_triple(
        graph,
        table[IDS].to_numpy(),
        named.assign(other=other)[["other", "relik", "relation", "split"]],
        f"facts_{side}_{entity}",
        f"facts of {graph.entity_labels[entity]}",
        other="to or from",
        relik="ReliK",
    )


def show_other_runs(found: Inspection) -> None:
    """Show score, ranks and ReliK of the same triple in other runs of the same graph."""
    run = found.run
    key = (run.identity, "runs on same graph", named_stamps())
    names = computed(
        "Looking for runs", key, lambda report: runs_on_same_graph(run, progress=report)
    )
    if not names:
        st.caption("No other run of this graph is bundled, or lies in a folder beside this one.")
        return
    waiting = not_wanted(run, names[:_RUNS], _WANTED)
    others = sound_runs(
        (name for name in names[:_RUNS] if name not in waiting),
        beside=[run],
        say=lambda error: st.caption(plain(str(error))),
    )
    runs = with_others(run, others)
    table = computed(
        "Scoring in other runs",
        (tuple(each.identity for each in runs.values()), "same triple", found.triple, found.filter),
        Call(same_triple, runs, found.triple, found.filter),
    )
    left_out = [name for name in names if name not in (*others, *waiting)]
    st.caption(
        "Scores of different models are on different scales; ranks and ReliK compare."
        + f" Not looked up, for want of room or as damaged: {', '.join(map(plain, left_out))}."
        * bool(left_out)
    )
    show_table(
        table.sort_values("relik", ascending=False, kind="stable"), "other_runs", f"{run.name}-runs"
    )
    if waiting:
        st.button(
            f"Score in {len(waiting)} larger run{'s' * (len(waiting) != 1)}, too",
            icon=":material/calculate:",
            on_click=want,
            args=(_WANTED, run.identity),
            key="larger_runs",
        )


def show_geometry(found: Inspection) -> None:
    """Show the entities nearest to head and tail, and where all lie in a plane."""
    run, triple = found.run, found.triple
    vectors = computed(
        "Reading vectors", (run.identity, "vectors"), Call(entity_vectors, run.scorer)
    )
    if vectors is None:
        st.caption(f"{run.spec.name} has no entity vectors that could be compared.")
        return
    plane = computed("Laying the plane", (run.identity, "geometry"), Call(lay_plane, run))
    groups = [(side, [getattr(triple, side)]) for side in ENTITY_SIDES]
    groups = [(side, ids) for side, ids in groups if ids[0] is not None]
    nearest = {side: nearest_entities(vectors, ids[0], K) for side, ids in groups}
    for column, (side, table) in zip(st.columns(2, gap="large"), nearest.items(), strict=False):
        with column:
            st.markdown(f"**Nearest to the {side}**, by {vectors.distance} distance")
            _show_nearest(found, side, table)
    best = [
        ("candidate", found.sides[side].top(K)["id"].tolist())
        for side in ENTITY_SIDES
        if side in found.sides and side == (triple.open_side or "tail")
    ]
    close = [("nearest", table["id"].tolist()) for table in nearest.values()]
    show_chart(
        plane_figure(
            plane.points[plane.background],
            marked_points(plane, [*groups, *best, *close]),
            run.graph.entity_labels,
            plane.explained,
        ),
        "plane",
        f"{run.name}-plane",
        scroll_zoom=True,
    )


def _show_nearest(found: Inspection, side: str, table: pd.DataFrame) -> None:
    if side not in found.sides:
        named = table.assign(entity=[found.run.graph.entity_labels[i] for i in table["id"]])
        st.dataframe(named[["entity", "distance"]], hide_index=True, key=f"nearest_{side}")
        return
    rows = found.sides[side].rows(table["id"].to_numpy()).assign(distance=table["distance"])
    show_candidate_rows(found, found.sides[side], rows, f"nearest_{side}")


#: views beneath the first screen, by what they are called
VIEWS = {
    "What beats it": show_what_beats,
    "Why": show_explanation,
    "Both ends": show_ends,
    "Other runs": show_other_runs,
    "Geometry": show_geometry,
}

#: those that an open triple has too
OPEN_VIEWS = ("Both ends", "Geometry")
