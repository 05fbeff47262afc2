"""The widgets that choose queries with true and false answers: sampled, or of a file."""

from __future__ import annotations

import streamlit as st

from kgdash.runs import Run
from kgdash.runs.call import Call, Reading
from kgdash.studies.queries.beam import INTERMEDIATES, Beam, beam_for
from kgdash.studies.queries.files import read_queries
from kgdash.studies.queries.query_instances import AnswerSampling
from kgdash.studies.queries.query_types import HARD, QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import queries_of_file, sample_queries
from kgdash.ui.instances.separation_form import InstancesChoice
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.result_cache import file_key
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_number, choose_one

#: what the page opens with
_FIRST = QuerySampling()

_ORIGINS = ("sampled", "from a file")


def choose_queries(run: Run) -> InstancesChoice:
    """Show the widgets and return what they say; ends the page's run while a choice is missing."""
    with settings():
        origin = choose_one("Queries are", _ORIGINS, "queries_from")
        sampled = origin == _ORIGINS[0]
        types = _choose_types() if sampled else ()
        per_type = choose_number("Queries per type", (1, 1000), _FIRST.per_type, "per_type")
    with more_settings():
        hard = _choose_hard() if sampled else ""
        key, beam = _choose_intermediates(run)
        seed = choose_number("Random seed", (0, 10**9), _FIRST.seed, "query_seed")
    if sampled:
        if not types:
            st.info("Choose at least one query type.", icon=":material/info:")
            st.stop()
        sampling = QuerySampling(types, per_type, hard, seed)
        return InstancesChoice(
            ("queries", types, per_type, hard, seed, *key),
            Call(sample_queries, run.graph, sampling, beam=beam),
        )
    content, name = _upload()
    file = file_key(name, content)
    read = computed(
        "Reading queries",
        (run.identity, "queries of a file", *file),
        Reading(read_queries, content, run.graph, name),
    )
    answers = AnswerSampling(per_type, seed, beam=beam)
    return InstancesChoice(
        ("queries", *file, per_type, seed, *key),
        Call(queries_of_file, run.graph, read, None, answers, name),
    )


def _choose_types() -> tuple[str, ...]:
    types = st.pills(
        "Query types",
        list(QUERY_TYPES),
        selection_mode="multi",
        default=list(_FIRST.types),
        key="types",
        bind="query-params",
        wrap=True,
        help="1p, 2p, 3p: one to three relations from an anchor. 2i, 3i: branches that meet in the "
        "answer; in pi, one of them has two relations. 2u: either branch leads to the answer. "
        "ip, up: one relation on from where branches meet.",
    )
    return tuple(t for t in QUERY_TYPES if t in types)


def _choose_hard() -> str:
    return str(
        choice(
            "True answers need a triple that is",
            list(HARD),
            "hard",
            _FIRST.hard,
            help="A true answer holds in the whole graph but can not be found on this part of it.",
        )
    )


def _choose_intermediates(run: Run) -> tuple[tuple[str | int, ...], Beam | None]:
    """Return what to add to the key, and the beam."""
    source = choose_one(
        "Entities on the path",
        INTERMEDIATES,
        "intermediates",
        help="Entities between the anchors and the answer: those that lead there in the graph, or "
        "those that the model finds best, be the steps facts or not.",
    )
    if source == INTERMEDIATES[0]:
        return (), None
    width = choose_number("Beam width", (1, 100), 10, "beam")
    return (source, width), beam_for(run.scorer, source, width)


def _upload() -> tuple[bytes, str]:
    upload = settings().file_uploader(
        "File of queries",
        type=["jsonl", "json", "tsv", "csv", "parquet", "gz"],
        key="queries_file",
        help="JSON, a table or Parquet, see docs/formats.md. Folders of Query2box and BetaE: first "
        "`kgdash import-queries FOLDER OUT.parquet`. The file is read and not kept.",
    )
    if upload is None:
        st.info("Upload a file to see its queries.", icon=":material/upload_file:")
        st.stop()
    return upload.getvalue(), upload.name
