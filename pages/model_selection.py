"""A search for a model's configuration: its trials, the best, and how to train that."""

import pandas as pd
import streamlit as st

from kgdash.charts.hyperparameter_search import best_so_far, importance_bars, parallel_coordinates
from kgdash.hpo.importance import importances
from kgdash.hpo.selection import best_command
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.navigation import ensure_navigation
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_view
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.parallel_chart import show_parallel
from kgdash.ui.widgets.search_picker import choose_study
from kgdash.ui.widgets.table import download, number_columns, show_table, written

ensure_navigation()
st.title("Model selection")
st.caption(
    "Trials of a search for a configuration, each judged by the MRR of its model on the validation "
    "triples, filtered by train and valid. Test triples are not read before one configuration is "
    "chosen. A search runs on the command line: `kgdash train OUT --dataset umls "
    "--model TransE --search --trials 30`."
)
study, key = choose_study()
about, trials, best = study.about, study.trials, study.best
counts = trials["state"].value_counts()
with st.container(horizontal=True):
    st.metric(
        "Best MRR on valid ↑",
        number(float("nan") if best is None else trials["value"][best]),
        border=True,
    )
    for state in ("finished", "pruned", "failed"):
        st.metric(f"Trials {state}", f"{counts.get(state, 0):,}", border=True)
st.caption(
    plain(f"On {about.get('graph')}, configurations proposed by {about.get('sampler')}.")
    + (f" Running or cut short: {n}." if (n := len(trials) - study.counted) else "")
)

left, right = st.columns([3, 2], gap="large")
with left:
    st.header("Best so far")
    show_chart(drawn(best_so_far, trials), "best_so_far", f"{study.path.stem}-best-so-far")
with right:
    st.header("The best configuration")
    if best is None:
        st.info("No trial has finished yet.", icon=":material/hourglass_empty:")
    else:
        chosen = {**study.chosen[best], "epochs trained": trials["epochs"][best]}
        table = pd.DataFrame(
            {
                "parameter": chosen.keys(),
                "value": [f"{v:.4g}" if isinstance(v, float) else str(v) for v in chosen.values()],
            }
        )
        st.caption(f"Trial {trials['trial'][best]}")
        show_table(table, "best_configuration", f"{study.path.stem}-best")
if best is not None:
    fold = st.expander(
        "The command that trains it, with the same seed",
        key="command",
        icon=":material/terminal:",
        on_change="rerun",
        bind="query-params",
    )
    if fold.open:
        command = computed("The command", (*key, "command"), Call(best_command, study))
        fold.code(command, language=None, wrap_lines=True)

view = choose_view(["Parameters", "Side by side", "All trials"])
if view == "Parameters":
    st.header("Which parameters mattered")
    st.caption(
        "Share of each parameter in what sets good trials apart (PED-ANOVA), over the finished "
        "ones. A rough guide: with few trials it changes from one to the next."
    )
    shares = computed("Importance", (*key, "importance"), Call(importances, study))
    show_chart(importance_bars(shares), "importance", f"{study.path.stem}-importance")
elif view == "Side by side":
    st.header("Trials side by side")
    st.caption(
        "One line per trial: the bluer, the better. Drag along an axis to keep only the lines that "
        "cross it there. Pruned trials have the value at which they were cut."
    )
    figure = parallel_coordinates(trials, study.parameters)
    show_parallel(figure, "parallel", f"{study.path.stem}-trials")
else:
    st.header("All trials")
    st.dataframe(
        written(trials),
        hide_index=True,
        column_config=number_columns(trials),
        placeholder="–",
        key="trials",
    )
    download(trials, study.path.stem)
