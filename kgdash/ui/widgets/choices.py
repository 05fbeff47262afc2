"""Choices that several pages share, kept in the URL under the same keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import FILTERS, SPLITS, KnowledgeGraph, default_filter
from kgdash.graph.entity_search import told_apart
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.glossary import explained
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import find_metric, metric_records
from kgdash.ui.runtime.sidebar import note_setting

_RELIK = {"exact": "exact", "sampled, with interval": "sampled"}


def choice(
    label: str,
    options: Sequence[str] | Mapping[str, str],
    key: str,
    default: str | None = None,
    help: str | None = None,
) -> Any:
    """Show a choice of one of several, kept in the URL; a message by hand chooses none but these.

    :param options: or options with the text that shows each
    :param default: the first option if not given
    :param help: shown on hovering, after what the glossary says of the label
    """
    texts = told_apart(options) if isinstance(options, Mapping) else {}
    first = default or next(iter(options))
    chosen = st.selectbox(
        label,
        list(options),
        index=list(options).index(first),
        format_func=lambda option: texts.get(option, option),
        key=key,
        bind="query-params",
        help=explained(label, help),
    )
    return chosen if chosen in options else first


def choose_one(
    label: str,
    options: Sequence[str],
    key: str,
    default: str | None = None,
    help: str | None = None,
    **more: Any,
) -> str:
    """Show options side by side, one of them always chosen, kept in the URL.

    :param default: the first option if not given
    :param help: as of `choice`
    :param more: of `st.segmented_control`
    """
    drop_empty(key)
    first = default or options[0]
    chosen = st.segmented_control(
        label,
        options,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        help=explained(label, help),
        wrap=True,
        **more,
    )
    return str(chosen if chosen in options else first)


def group_name(by: str) -> str:
    """Return what a grouping of queries is called in a choice."""
    return {"relik": "ReliK"}.get(by, by.capitalize())


def choose_number(
    label: str, bounds: tuple[int, int], value: int, key: str, help: str | None = None
) -> int:
    """Show a whole number, kept in the URL.

    :param bounds: the least and the greatest that there may be; the help says them. Of what has
        too few for the least, the least alone
    :param value: at first; the nearest within the bounds
    """
    _drop_from_address(key, _is_infinite)  # Streamlit can make no whole number of it
    least, most = bounds[0], max(bounds)
    first = min(max(value, least), most)
    about = explained(label, f"{help or ''} From {least:,} to {most:,}.".strip())
    return int(st.number_input(label, least, most, first, key=key, bind="query-params", help=about))


def drop_empty(key: str) -> None:
    """Take an empty value out of the address: Streamlit would choose nothing."""
    _drop_from_address(key, lambda text: text == "")


def _drop_from_address(key: str, is_wrong: Callable[[str], bool]) -> None:
    """Take a value that Streamlit mistakes out of the address.

    The page begins anew then, as Streamlit keeps the address that it began with.
    """
    new = key not in st.session_state and key in st.query_params
    if new and is_wrong(st.query_params[key]):
        del st.query_params[key]
        st.rerun()


def _is_infinite(text: str) -> bool:
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def choose_split(graph: KnowledgeGraph) -> str:
    """Show the splits that hold triples; test, or the last there is, at first."""
    splits = [s for s in SPLITS if len(graph.splits[s])]
    split = str(choice("Split", splits, "split", splits[-1]))
    note_setting("split", split)
    return split


def choose_filter(split: str) -> str:
    """Show the filters; the one that fits the split at first."""
    chosen = choice(
        "Known triples filtered out",
        {name: "none (raw ranks)" if name == "none" else name for name in FILTERS},
        f"filter_{split}",
        default_filter(split),
    )
    note_setting("filter", chosen)
    return str(chosen)


def choose_rank_type() -> str:
    """Show the rank types, realistic at first."""
    return choice("Rank type", list(RANK_TYPES), "rank_type", "realistic")


def choose_metric(
    help: str | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> Metric:
    """Show metrics; the mean reciprocal rank at first. An address may name it as people do.

    :param metrics: of `kgdash.ranking.metric_lookup.metric_records`; none: all but the count
    """
    metrics = metrics or {k: metric for k, metric in metric_records().items() if k != "count"}
    _resolve_address(metrics)
    key = choice(
        "Metric",
        {key: metric.title for key, metric in metrics.items()},
        "metric",
        "inverse_harmonic_mean_rank",
        help,
    )
    return metrics[key]


def _resolve_address(metrics: Mapping[str, Metric]) -> None:
    """Turn ``?metric=mrr`` or ``?metric=hits@10`` into the choice that it names."""
    if "metric" in st.session_state or "metric" not in st.query_params:
        return
    try:
        key = find_metric(st.query_params["metric"]).key
    except KgdashError:
        return
    if key in metrics:
        st.session_state["metric"] = key
        st.rerun()


def choose_side() -> str:
    """Show the sides of ranks of entities, both at first."""
    return choice("Side", ["head", "tail", "both"], "side", "both")


def choose_view(views: Sequence[str]) -> str:
    """Show a page's views, side by side under its title; the first at first."""
    view = choose_one("View", views, "view", label_visibility="collapsed")
    return str(view)


def choose_relik_method(
    key: str = "relik_method",
    help: str = "Exact counts every negative. Sampled draws 1,000 negatives per entity and side.",
    default: str = "exact",
) -> str:
    """Show how ReliK can be computed and return a method of `Run.relik`.

    :param default: the method at first
    """
    first = next(text for text, method in _RELIK.items() if method == default)
    chosen = choose_one("ReliK", list(_RELIK), key, first, help=help)
    return _RELIK[str(chosen)]


def choose_resolution() -> float:
    """Show the resolution of communities; 1 at first."""
    resolution = st.number_input(
        "Resolution",
        0.1,
        20.0,
        1.0,
        0.5,
        key="resolution",
        bind="query-params",
        help=explained("Resolution"),
    )
    return float(resolution)
