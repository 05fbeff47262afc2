"""The widgets that choose a subgraph, kept in the URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from kgdash.graph import DIRECTIONS
from kgdash.graph.subgraph import Subgraph
from kgdash.ranking.glossary import explained
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.preparation import relik_method
from kgdash.studies.reliability.local_comparison import subgraph_to_show
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_number, choose_one, choose_relik_method
from kgdash.ui.widgets.entity_choice import choose_entity, show_unknown_entity

METHODS = {"Random walk with restart": "rwr", "Neighbourhood": "neighbourhood"}
LARGEST_SEED = 2**31 - 1
EVALUATED = {"test triples": "test", "all triples": "all"}


@dataclass(frozen=True)
class SubgraphChoice:
    """What the user chose: arguments of `Run.subgraph`, and how to compare."""

    arguments: tuple[tuple[str, Any], ...]
    evaluated: str
    relik_method: str


def choose_subgraph(
    run: Run, evaluated_label: str = "Reciprocal ranks of", before: str = ""
) -> SubgraphChoice:
    """Show the widgets and return what they say.

    :param evaluated_label: what the choice between test and all triples is called
    :param before: put before the keys: an address can not be given to another page for a key that
        both have
    """
    graph = run.graph
    with settings():
        entity = choose_entity(graph, "Seed entity", f"{before}entity")
        size = choose_number(
            "Entities",
            (1, min(graph.num_entities, 1000)),
            min(60, graph.num_entities),
            f"{before}size",
            help=f"How many to collect: 1 to {min(graph.num_entities, 1000):,}.",
        )
    with more_settings():
        method_name = choice("Method", list(METHODS), f"{before}method")
        direction = choice("Direction", DIRECTIONS, f"{before}direction")
        extra = walk_widgets(METHODS[method_name], before)
        evaluated = choose_evaluated(evaluated_label, before)
        chosen_method = choose_relik_method(
            f"{before}relik_method",
            "Exact counts every negative; on large graphs an estimate of the mean shows until "
            "it is done. Sampled draws 1,000 negatives per entity and side and gives a 95% "
            "interval; graphs that take hours to count begin with it.",
            relik_method(run),
        )
    show_unknown_entity(f"{before}entity")
    arguments = {
        "entity": entity,
        "method": METHODS[method_name],
        "size": int(size),
        "direction": direction,
        **extra,
    }
    return SubgraphChoice(tuple(arguments.items()), evaluated, chosen_method)


def walked(run: Run, choice: SubgraphChoice) -> Subgraph:
    """Return the subgraph that was chosen; its walk ends with who waits for it.

    Of one with more triples than a page can show, say so and end the page's run.
    """
    found: Subgraph = computed(
        "Walking the graph",
        (run.identity, choice, "subgraph"),
        Call(subgraph_to_show, run, **dict(choice.arguments)),
    )
    return found


def choose_evaluated(label: str = "Reciprocal ranks of", before: str = "") -> str:
    """Show whose ranks can be taken and return "test" or "all".

    :param label: what the choice is called
    :param before: put before the key
    """
    chosen = choose_one(
        label,
        list(EVALUATED),
        f"{before}evaluated",
        "test triples",
        help="Training triples flatter the model.",
    )
    return EVALUATED[str(chosen)]


def walk_widgets(method: str, before: str = "") -> dict[str, Any]:
    """Show what a method needs besides entity, size and direction: arguments of `Run.subgraph`.

    :param method: "rwr" or "neighbourhood"
    :param before: put before the keys
    """
    if method == "neighbourhood":
        hops = choose_number("Hops", (1, 3), 1, f"{before}hops")
        return {"hops": int(hops)}
    restart = st.number_input(
        "Restart probability",
        0.0,
        0.95,
        0.2,
        0.05,
        key=f"{before}restart",
        bind="query-params",
        help=explained("Restart probability"),
    )
    seed = choose_number("Random seed", (0, LARGEST_SEED), 0, f"{before}seed")
    return {"restart": float(restart), "seed": int(seed)}
