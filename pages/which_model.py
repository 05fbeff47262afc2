"""Which of several models to trust where, and whether ReliK picks the right one."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.part_scores import part_scores
from kgdash.ui.comparison.model_selection import Shown, show_matrix, show_pairs, show_summary
from kgdash.ui.comparison.model_selection_form import choose_parts
from kgdash.ui.comparison.runs_form import choose_runs, show_notes_of
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("Which model where")
st.caption(
    "Different models are best in different parts of the graph. Does ReliK, which needs no test "
    "triples, pick the right one, and is that better than the best overall everywhere?"
)
runs = choose_runs(run)
show_notes_of(runs)
choice = choose_parts(run)
parts = computed(
    f"Finding {choice.kind}",
    (run.graph.identity, "parts", *choice.parts),
    Call(find_parts, run, *choice.parts),
)
key = (*((name, each.identity) for name, each in runs.items()), "model choice", *choice.key)
scores = computed(
    f"Ranking and counting negatives by {len(runs)} runs",
    key,
    Call(part_scores, list(runs.values()), parts, *choice.scores),
)
name = f"{run.graph.name}-{choice.kind}-which-model"
shown = Shown(scores, choice.kind, key, name, choice.bootstrap)
show_summary(shown)
show_matrix(shown)
show_pairs(shown)
