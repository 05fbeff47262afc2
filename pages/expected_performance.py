"""Expected performance: what ReliK predicts of a subgraph, and how far that can be relied on."""

import numpy as np
import streamlit as st

from kgdash.charts.correlation import task_label
from kgdash.charts.performance_prediction import coverage_figure, prediction_scatter
from kgdash.runs.call import Call
from kgdash.studies.correlation.performance_prediction import (
    predict_performance_of_run,
    predict_subgraphs,
)
from kgdash.studies.correlation.prediction_verdict import prediction_verdict
from kgdash.ui.correlation.prediction import show_checks, show_expected
from kgdash.ui.correlation.prediction_form import choose_prediction
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.subgraphs.form import walked
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.table import show_table

run = current_run()
graph = run.graph
st.title("Expected performance")
said = st.empty()
said.caption(
    "ReliK needs no test triples. What performance does it lead to expect in a part of the graph "
    "that has none, and how often would that have been right?"
)
choice = choose_prediction(run)
here, task = choice.subgraph, choice.task
way = (task, choice.sampling, choice.evaluation, choice.level)
key = (run.identity, "performance prediction", *way)

prediction, learnt = computed(
    "Learning from random subgraphs",
    key,
    Call(predict_performance_of_run, run, *way),
)
if verdict := prediction_verdict(prediction, task_label(task)):
    said.markdown(verdict)
subgraph = walked(run, here)
expected = computed(
    "Comparing ReliK with the true value",
    (*key, here),
    Call(predict_subgraphs, run, prediction, learnt, [subgraph], choice.evaluation),
).iloc[0]
name = f"{run.name}-expected-{task}"

st.header(f"Around {plain(graph.entity_labels[subgraph.seed_entity])}")
show_expected(expected, task, prediction.level)

left, right = st.columns([3, 2], gap="large")
with left:
    st.header("What was learnt")
    st.caption(
        "A point is a subgraph, its interval learnt from others. The band is for the usual number "
        "of evaluated triples. Click a point to open it on the page Local reliability."
    )
    points = prediction.points
    span = [*points["relik"], *([expected["relik"]] if expected["relik"] > 0 else [])]
    grid = np.geomspace(min(span), max(span), 60)
    band = computed("Drawing", (*key, here, "band"), Call(prediction.predict, grid))
    texts = [
        f"around {graph.entity_labels[row.seed_entity]}\n{row.evaluated:,} evaluated triples"
        for row in points.itertuples()
    ]
    picked = clicked_point(
        prediction_scatter(points, band, task, texts, expected.to_dict()), "prognosis", name
    )
if picked is not None:
    part = learnt[int(points["row"].iloc[int(picked)])]
    walked = {k: v for k, v in part.parameters.items() if k != "hops" or part.method != "rwr"}
    open_local(part.method, here.evaluated, entity=graph.entities[part.seed_entity], **walked)
with right:
    st.header("Did intervals hold?")
    st.caption("Subgraphs not learnt from; bars: 95% intervals (Clopper and Pearson).")
    show_chart(coverage_figure(prediction.coverage), "coverage", f"{name}-coverage")

st.header("How good is it?")
show_checks(prediction, len(learnt), name)
with st.expander("Every subgraph learnt from"):
    named = points.assign(seed_entity=[graph.entities[e] for e in points["seed_entity"]])
    show_table(named.drop(columns="row"), "points", f"{name}-subgraphs")
st.caption(
    f"Expected is the {task_label(task)} over as many evaluated triples as the subgraph has "
    f"({np.median(prediction.sample.n):.0f} are usual): few of them make any mean uncertain."
)
