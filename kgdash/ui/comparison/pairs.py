"""Views of the page Compare runs that set two runs against each other."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.charts.run_pairs import community_forest, pair_forest, rank_density, win_bars
from kgdash.graph.communities import find_communities
from kgdash.graph.entity_search import relation_texts
from kgdash.ranking.glossary import explained
from kgdash.runs.call import Call
from kgdash.statistics.estimate import percent
from kgdash.statistics.paired_tests import EXACT, RESAMPLES, paired_tests
from kgdash.studies.comparison.community_differences import (
    community_differences,
    entity_differences,
)
from kgdash.studies.comparison.comparison import pair_of, reciprocal_ranks
from kgdash.studies.comparison.comparison_verdict import (
    comparison_verdict,
    shared_tests,
    with_shared,
)
from kgdash.studies.comparison.run_pairs import (
    rank_grid,
    rank_pairs,
    relation_sign_tests,
    triple_differences,
)
from kgdash.ui.comparison.form import Compared, choose_pair
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_number, choose_one
from kgdash.ui.widgets.inspect_link import IDS, show_triples
from kgdash.ui.widgets.table import choose_row, show_table

#: rows of long tables on the page; the files have all
_SHOWN = 1000

_HEADINGS = {
    "wins": "A better",
    "losses": "B better",
    "mrr_a": "MRR A",
    "mrr_b": "MRR B",
    "reciprocal_rank_a": "1/rank A",
    "reciprocal_rank_b": "1/rank B",
    "small": "size",
}

_RESOLUTIONS = (0.5, 1.0, 2.0, 4.0)


def show_verdict(compared: Compared) -> None:
    """Say which run is best, and which may be as good."""
    tests = _tests(compared)
    named = tests.assign(a=tests["a"].map(plain), b=tests["b"].map(plain))
    st.markdown(comparison_verdict(named))


def _tests(compared: Compared) -> pd.DataFrame:
    values = reciprocal_ranks(compared.ranks, compared.side, compared.rank_type)
    tests: pd.DataFrame = computed(
        "Testing all pairs of runs",
        (*compared.key, "tests", compared.side, compared.rank_type),
        Call(paired_tests, values, list(compared.ranks)),
    )
    shared = computed(
        "Testing all pairs of runs",
        (*compared.key, "shared tests", compared.side, compared.rank_type),
        Call(shared_tests, compared.ranks, compared.side, compared.rank_type),
    )
    return with_shared(tests, shared)


def show_tests(compared: Compared) -> None:
    """Show the paired tests of all pairs, and how the ranks of two runs go together."""
    tests = _tests(compared)
    st.header("Is the difference more than chance?")
    st.caption(
        f"Reciprocal ranks of the same {tests['triples'].iloc[0]:,} triples; "
        f"{compared.sides.lower()}, a triple's ranks kept together. Bars: 95% interval of a "
        "paired bootstrap that allows for what no triple showed. p: permutation "
        f"test that swaps the two runs triple by triple ({RESAMPLES:,} draws each; all swaps where "
        f"at most {EXACT} triples differ), by Holm's correction over all pairs; p (alike): all "
        "triples of a head, a relation or a tail at once. Coloured where both are below 5% and the "
        "interval leaves 0 out: blue where the first run is better."
    )
    show_chart(pair_forest(tests), "forest", f"{compared.name}-pairs")
    show_table(tests, "tests", f"{compared.name}-tests", **_test_columns())
    _show_ranks(compared)


def _test_columns() -> dict[str, Any]:
    headings = {
        "effect_size": "effect size",
        "p_permutation": "p",
        "p_holm": "p (Holm)",
        "p_shared": "p (alike)",
        "p_wilcoxon": "p (Wilcoxon)",
    }
    return {
        **{"mean_a": "MRR of a", "mean_b": "MRR of b"},
        **{"wins": "a better", "ties": "equal", "losses": "b better"},
        **{
            column: st.column_config.NumberColumn(text, format="%.3g", help=explained(text))
            for column, text in headings.items()
        },
    }


def show_relations(compared: Compared) -> None:
    """Show who wins in which relation."""
    a, b = choose_pair(compared)
    table = computed(
        "Counting wins per relation",
        (*compared.key, "wins", a, b, compared.rank_type),
        Call(relation_sign_tests, pair_of(compared.ranks, a, b), compared.rank_type),
    )
    order = choose_one(
        "Order",
        ["most triples", "A wins most", "B wins most"],
        "relation_order",
        label_visibility="collapsed",
    )
    rows = table[table["side"] == compared.side]
    column, rising = {
        "most triples": ("triples", False),
        "A wins most": ("difference", False),
        "B wins most": ("difference", True),
    }[str(order)]
    rows = rows.sort_values(column, ascending=rising, kind="stable")
    st.header("Wins, ties and losses per relation")
    st.caption(
        f"{compared.sides}: triples that A ranks better, equally, worse than B"
        f"{', by the mean of the two reciprocal ranks' * (compared.side == 'both')}. p < 0.05: a "
        "sign test, by Holm's correction over the relations."
    )
    labels = relation_texts(compared.graph)
    show_chart(win_bars(rows, labels, a, b), "wins", f"{a}-{b}-relations")
    shown = rows.drop(columns="side").assign(relation=[labels[r] for r in rows["relation"]])
    named = table.assign(relation=[compared.graph.relations[r] for r in table["relation"]])
    show_table(
        shown,
        "relations",
        f"{a}-{b}-{compared.split}-relations",
        named,
        **{"wins": "A better", "ties": "equal", "losses": "B better"},
        **{"mrr_a": "MRR A", "mrr_b": "MRR B"},
        p_sign="p (sign test)",
        p_holm="p (Holm)",
    )


def show_communities(compared: Compared) -> None:
    """Show where in the graph A wins and B loses."""
    a, b = choose_pair(compared)
    resolution = st.selectbox(
        "Resolution",
        _RESOLUTIONS,
        index=1,
        key="resolution",
        bind="query-params",
        width=140,
        help=explained("Resolution"),
    )
    if resolution not in _RESOLUTIONS:  # by hand
        resolution = _RESOLUTIONS[1]
    graph, of_side = compared.graph, (compared.side, compared.rank_type)
    communities = computed(
        "Looking for communities",
        (graph.identity, "communities", resolution),
        Call(find_communities, graph, resolution),
    )
    pair = pair_of(compared.ranks, a, b)
    table = computed(
        "Differences per community",
        (*compared.key, "communities", a, b, *of_side, resolution),
        Call(community_differences, pair, graph, communities, *of_side),
    )
    st.header("Communities where A wins and B loses")
    st.caption(
        f"{compared.sides}. A triple counts in the community of either end. Bars: 95% "
        f"interval; coloured where it leaves 0 out: blue where {plain(a)} is "
        f"better, orange where {plain(b)} is. Select a row to open the neighbourhood of the most "
        "central entity; of entities below likewise."
    )
    show_chart(community_forest(table, a, b), "communities", f"{a}-{b}-communities")
    row = _show_long(table, "community_table", f"{a}-{b}-{compared.split}-communities", 0)
    if row is not None:
        _open(str(table["central"].iloc[row]))
    st.header("Entities where A wins and B loses")
    with st.container(width=140):
        fewest = choose_number("Fewest triples", (1, len(graph.known())), 10, "fewest")
    entities = computed(
        "Differences per entity",
        (*compared.key, "entities", a, b, *of_side),
        Call(entity_differences, pair, *of_side),
    )
    entities = entities[entities["triples"] >= fewest]
    shown = entities.assign(
        entity=[graph.entity_labels[e] for e in entities["entity"]],
        community=communities[entities["entity"]],
    )
    st.caption(f"{len(entities):,} entities are an end of at least {fewest:,} triples.")
    row = _show_long(shown, "entities", f"{a}-{b}-{compared.split}-entities", _SHOWN)
    if row is not None:
        _open(graph.entities[int(_ends(entities, _SHOWN)["entity"].iloc[row])])


def _open(entity: str) -> None:
    """Leave for the neighbourhood of an entity, under the run of the sidebar."""
    open_local("neighbourhood", entity=entity, size=60, hops=1)


def _show_ranks(compared: Compared) -> None:
    st.header("Rank against rank")
    a, b = choose_pair(compared)
    of_side = (compared.side, compared.rank_type)
    pair = pair_of(compared.ranks, a, b)
    pairs = rank_pairs(pair, *of_side)
    total = int(pairs["count"].sum())
    with st.container(horizontal=True):
        for label, hit in (
            (f"{plain(a)} better", pairs["rank_a"] < pairs["rank_b"]),
            ("equal", pairs["rank_a"] == pairs["rank_b"]),
            (f"{plain(b)} better", pairs["rank_a"] > pairs["rank_b"]),
        ):
            count = int(pairs.loc[hit, "count"].sum())
            st.metric(f"{label}: {percent(count / total, 1)}", f"{count:,}", border=True)
    st.caption(f"{total:,} ranks; {compared.sides.lower()}. Below the dashed line A is better.")
    grid = rank_grid(pairs, compared.graph.num_entities)
    show_chart(rank_density(grid, a, b), "density", f"{a}-{b}-{compared.split}-ranks")
    st.header("Triples")
    st.caption("From those that A ranks better to those that B does. Select a row to inspect it.")
    found, graph = triple_differences(pair, *of_side), compared.graph
    name = f"{a}-{b}-{compared.split}-triples"
    shown = _ends_of(found, _SHOWN)
    show_triples(
        graph,
        shown[IDS].to_numpy(),
        graph.with_names(shown),
        "triples",
        name,
        graph.with_names(found),
        **_HEADINGS,
    )


def _show_long(table: pd.DataFrame, key: str, name: str, most: int) -> int | None:
    """Show a table that is sorted by difference: its first and last rows, if there are many.

    :return: which of the rows shown is selected
    """
    shown = _ends_of(table, most)
    if "small" in shown:
        shown = shown.assign(small=["small" if small else "" for small in shown["small"]])
    return choose_row(shown, key, name, table, **_HEADINGS)


def _ends_of(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the first and the last rows, and say so, if there are more than ``most`` (0: all)."""
    if 0 < most < len(table):
        st.caption(f"The first and last {most // 2:,} of {len(table):,}; the file has all.")
    return _ends(table, most)


def _ends(table: pd.DataFrame, most: int) -> pd.DataFrame:
    half = most // 2
    return pd.concat([table[:half], table[-half:]]) if 0 < most < len(table) else table
