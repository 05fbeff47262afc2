"""How a run was trained."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kgdash.charts.metrics import loss_curve
from kgdash.graph import SPLITS
from kgdash.runs import Run
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.table import show_table


def show_training(run: Run) -> None:
    """Show the loss by epoch, and model, graph and training as a table."""
    training, graph = run.training, run.graph
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header("Training loss")
        show_chart(loss_curve(training.get("losses", [])), "losses", f"{run.name}-losses")
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
        **({"data": data} if (data := run.provenance.get("attribution")) else {}),
        "entities": f"{graph.num_entities:,}",
        "relations": f"{graph.num_relations:,}",
        **{f"{split} triples": f"{len(graph.splits[split]):,}" for split in SPLITS},
    }
    table = pd.DataFrame({"property": facts.keys(), "value": [str(v) for v in facts.values()]})
    with right:
        st.header("Model, training and graph")
        show_table(table, "facts", f"{run.name}-facts")
