"""Choices that several pages share, kept in the URL under the same keys."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kgdash.graph import FILTERS, SPLITS, KnowledgeGraph, default_filter
from kgdash.metric_guide import MetricInfo, metric_guide
from kgdash.ranking import RANK_TYPES


def choice(
    label: str,
    options: list[str],
    key: str,
    width: int,
    default: str | None = None,
    names: dict[str, str] | None = None,
    help: str | None = None,
) -> Any:
    """Show a choice of one of several, kept in the URL.

    :param default: the first option if not given
    :param names: how options are shown, where not as they are
    """
    return st.selectbox(
        label,
        options,
        index=options.index(default) if default else 0,
        format_func=lambda option: (names or {}).get(option, option),
        key=key,
        bind="query-params",
        width=width,
        help=help,
    )


def choose_split(graph: KnowledgeGraph, width: int = 110) -> str:
    """Show the splits that hold triples; test, or the last there is, at first."""
    splits = [s for s in SPLITS if len(graph.splits[s])]
    return choice("Split", splits, "split", width, splits[-1])


def choose_filter(split: str, width: int = 220) -> str:
    """Show the filters; the one that fits the split at first."""
    return choice(
        "Known triples filtered out",
        list(FILTERS),
        f"filter_{split}",
        width,
        default_filter(split),
        {"none": "none (raw ranks)"},
        help="Candidates that would make a known triple are removed before ranking. Use "
        "train+valid for model selection, so that test does not leak.",
    )


def choose_rank_type(width: int = 150) -> str:
    """Show the rank types, realistic at first."""
    return choice(
        "Rank type",
        list(RANK_TYPES),
        "rank_type",
        width,
        "realistic",
        help="How equal scores count: optimistic puts the true answer first among its equals, "
        "pessimistic last, realistic in the middle.",
    )


def choose_metric(help: str | None = None) -> MetricInfo:
    """Show the metrics; the mean reciprocal rank at first."""
    guide = metric_guide()
    key = choice(
        "Metric",
        [key for key in guide if key != "count"],
        "metric",
        290,
        "inverse_harmonic_mean_rank",
        {key: f"{info.label} {info.arrow}" for key, info in guide.items()},
        help,
    )
    return guide[key]


def choose_side(width: int = 110) -> str:
    """Show the sides of ranks of entities, both at first."""
    return choice("Side", ["head", "tail", "both"], "side", width, "both")
