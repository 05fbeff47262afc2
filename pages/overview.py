"""What is loaded: model, graph, training, and the bundled runs."""

import pandas as pd
import streamlit as st

from kgdash.charts.metrics import loss_curve
from kgdash.charts.style import number
from kgdash.graph import SPLITS
from kgdash.runs.bundled import bundled_runs
from kgdash.ui.metrics.report_button import offer_report
from kgdash.ui.runtime.run_picker import current_run, show_notes
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.table import download, show_table

run = current_run()
graph, training = run.graph, run.training

st.title(f"{run.spec.name} on {graph.name}")
st.write(
    "Where can this knowledge-graph embedding be trusted? **Metrics** ranks it on held-out "
    "triples, **Breakdowns** says for which of them it does well, **Score health** whether its "
    "scores can be ranked by, **Compare runs** whether another is better. **Local reliability** "
    "looks at one part of the graph, **Queries and rules** asks whether ReliK tells true answers "
    "from false ones."
)
show_notes(run)
offer_report(run)

evaluation = training.get("evaluation", {})
cards = [
    ("Entities", f"{graph.num_entities:,}"),
    ("Relations", f"{graph.num_relations:,}"),
    *((f"{split} triples", f"{len(graph.splits[split]):,}") for split in SPLITS),
    ("Test MRR ↑", number(evaluation.get("inverse_harmonic_mean_rank", float("nan")))),
]
with st.container(horizontal=True):
    for label, value in cards:
        st.metric(label.capitalize() if "MRR" not in label else label, value, border=True)

left, right = st.columns([3, 2], gap="large")
with left:
    st.subheader("Training loss")
    show_chart(loss_curve(training.get("losses", [])), "losses", f"{run.name}-losses")
with right:
    st.subheader("Model and training")
    facts = {
        "model": run.spec.name,
        **{key.replace("_", " "): value for key, value in run.spec.kwargs.items()},
        "inverse relations": "yes" if run.spec.create_inverse_triples else "no",
        "training loop": training.get("training_loop", "unknown"),
        "loss": training.get("loss", "PyKEEN's default"),
        "epochs": training.get("epochs", len(training.get("losses", [])) or "unknown"),
        "random seed": training.get("random_seed", "unknown"),
        "device": str(run.scorer.device),
        "scored by": f"kernels for {run.scorer.form.name}" if run.scorer.form else "PyKEEN",
        "source": run.provenance.get("form", "unknown"),
    }
    table = pd.DataFrame({"property": facts.keys(), "value": [str(v) for v in facts.values()]})
    st.dataframe(table, hide_index=True, height="content", key="facts")
    download(table, f"{run.name}-facts")

st.subheader("Bundled runs")
st.caption(
    "Trained on UMLS, sLCWA. MRR and Hits@10: realistic, both sides, filtered by all known "
    "triples, on test."
)
bundled = pd.DataFrame(bundled_runs())
show_table(bundled, "bundled", "bundled-runs", mrr="MRR ↑", hits_at_10="Hits@10 ↑")
