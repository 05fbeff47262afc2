"""The widgets of the page OBL2021 that take predictions, and say whose ids they hold."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.knowledge_graph import FILTERS, default_filter
from kgdash.ranking.glossary import explained
from kgdash.runs.call import Reading
from kgdash.studies.obl2021.entity_ids import ID_KINDS, as_written, entity_numbers
from kgdash.studies.obl2021.submission_reading import Submission, read_submissions
from kgdash.studies.obl2021.top_ten import TIES
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.result_cache import file_key
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import choice, choose_number

_FORMAT = """A submission of n triples is one of

| file | holds |
| --- | --- |
| `.npz` | `pred_top10` of shape (2n, 10), tails first, then heads; or `top10_heads` and `top10_tails` of shape (n, 10) |
| `.npy`, `.pt` | the one array of shape (2n, 10); a `.pt` also a dict with the names above |
| two `.npy` or `.pt` files | (n, 10) each, named alike but for `heads` and `tails` |

Whole numbers; column j is the id of the entity ranked j + 1, rows in the order of the triples.
Files are read as numbers only: pickled objects are refused, never run.
"""  # noqa: E501


def choose_ranking(split: str) -> tuple[str, str, int]:
    """Ask what is filtered out and how equal scores are ordered: filter, ties and seed.

    :param split: whose triples are ranked
    """
    filters = list(FILTERS)
    filter_name = st.selectbox(
        "Known triples filtered out",
        filters,
        index=filters.index(default_filter(split)),
        format_func=lambda name: "none (raw)" if name == "none" else name,
        key=f"obl_filter_{split}",
        bind="query-params",
        help=explained("Known triples filtered out"),
    )
    ties = choice(
        "Equal scores",
        TIES,
        "ties",
        help="random: in an order drawn by the seed; ordinal: by ascending id.",
    )
    seed = 0
    if ties == "random":
        seed = choose_number("Random seed", (0, 10**9), 0, "tie_seed")
    return filter_name, ties, int(seed)


def choose_ids(graph: KnowledgeGraph) -> str:
    """Ask whose ids the files hold where entities are named by numbers; else they are the graph's.

    :return: one of `kgdash.studies.obl2021.entity_ids.ID_KINDS`
    """
    try:
        entity_numbers(graph)
    except KgdashError:
        return ID_KINDS[0]
    return st.selectbox(
        "Ids in the files",
        ID_KINDS,
        format_func=lambda kind: "the run's" if kind == "graph" else "the entities' names",
        key="ids",
        bind="query-params",
        help="The run numbers its entities anew; the dataset's own numbers are their names.",
    )


def uploaded_submissions(graph: KnowledgeGraph, count: int, ids: str) -> list[Submission]:
    """Show the uploader and read what is in it; ends the page's run while there is nothing.

    :param count: number of triples
    :param ids: one of `kgdash.studies.obl2021.entity_ids.ID_KINDS`
    """
    with settings(), st.popover("Format of the arrays", width="stretch"):
        st.markdown(_FORMAT)
    uploads = settings().file_uploader(
        "Arrays",
        type=["npz", "npy", "pt", "pth"],
        accept_multiple_files=True,
        key="arrays",
        help="At most 64 MB each, not kept. Several submissions, such as of three training seeds, "
        "are compared.",
    )
    if not uploads:
        st.info("Upload arrays to see what they hit.", icon=":material/upload_file:")
        st.stop()
    files = [(upload.name, upload.getvalue()) for upload in uploads]
    digests = [file_key(name, content) for name, content in files]
    return computed(
        "Reading arrays",
        (graph.identity, "submissions", *digests, count, ids),
        Reading(read_submissions, files, graph, count, ids),
    )


def written(
    heads: np.ndarray, tails: np.ndarray, graph: KnowledgeGraph, ids: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions with the ids that their file shall hold."""
    return as_written(heads, graph, ids), as_written(tails, graph, ids)
