"""Sections of a comparison's report on which run can be trusted, and where."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from kgdash.charts.classification import calibrations_figure
from kgdash.charts.model_selection import BEST, PICKED, choice_matrix
from kgdash.charts.separation import auc_figure
from kgdash.errors import KgdashError
from kgdash.progress import Progress, phases, silent
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import evaluation
from kgdash.reports.method import command, run_argument
from kgdash.reports.section import Section, Shown, refused_section
from kgdash.reports.trust import (
    local_columns,
    seed_entities,
    separation_table,
    weakest_relations,
)
from kgdash.runs import Run
from kgdash.studies.classification.calibration import NOISE
from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.part_scores import part_scores
from kgdash.studies.instances.separation import ALL
from kgdash.studies.instances.separation_verdict import separation_verdict
from kgdash.studies.reliability.local_verdict import local_estimates, whole_estimates
from kgdash.studies.reliability.run_relik import run_relik_known

#: relations in a table of the weakest, of each run; communities of all runs
_WEAKEST, _COMMUNITIES = 5, 25

#: columns of a table of communities
_PARTS = {
    "name": "community",
    "run": "run",
    "relik": "mean ReliK",
    "mrr": "MRR",
    "triples": "triples",
    "evaluated": "test triples",
}

Sources = Mapping[str, ChartSource]


def compared_trust(
    runs: Mapping[str, Run], best: str, progress: Progress = silent
) -> list[Section]:
    """Say which of several runs can be trusted where, and which tells true from false.

    What needs the ReliK of the whole graph is left out unless it is counted for all runs.

    :param runs: by distinct names
    :param best: the run in whose community of lowest mean ReliK all are compared
    :param progress: called with (done, total); may raise to cancel
    """
    sources = {name: ChartSource(evaluation(run)) for name, run in runs.items()}
    first, second, third = phases(progress, [0.4, 0.5, 0.1])
    missing = [name for name, run in runs.items() if not run_relik_known(run)]
    if missing:
        told = (
            f"The ReliK of {', '.join(missing)} is not counted yet: run kgdash prepare on each, "
            "then make the report again, and it shows which run can be trusted where.",
        )
        whole = [Section("Which run to trust where", told)]
    else:
        steps = phases(first, [1.0] * len(sources))
        for source, step in zip(sources.values(), steps, strict=True):
            source.overview(step)
        whole = [_where(sources), _weakest(sources), _local(sources, best)]
    return [*whole, _separation(sources, second), _calibration(sources, third)]


def _where(sources: Sources) -> Section:
    runs = [source.run for source in sources.values()]
    scores = part_scores(runs, find_parts(runs[0]))
    rows = {
        name: {"run": name, **local_columns(whole_estimates(source.run) or {})}
        for name, source in sources.items()
    }
    made = command(f"which-model {' '.join(map(run_argument, runs))} --table parts")
    of = len(scores.table) // len(runs)
    shown = min(of, _COMMUNITIES)
    verdicts = [f"{name}: {source.overview().verdict[0]}" for name, source in sources.items()]
    return Section(
        "Which run to trust where",
        tuple(said.replace("**", "") for said in verdicts),
        (
            Shown(
                "ReliK of all known triples and MRR of the test triples, with 95% intervals.",
                _each(sources, "overview", "--json"),
                pd.DataFrame(rows.values()),
            ),
            Shown(
                f"MRR of the runs in each community; {PICKED} is the run that ReliK picks there, "
                f"{BEST} that of the best MRR.",
                made,
                chart=choice_matrix(scores.table, scores.runs),
                name="choices",
            ),
            Shown(
                f"ReliK and MRR of the runs in {shown} of {of:,} communities; the command gives "
                "all.",
                made,
                scores.table[list(_PARTS)].head(shown * len(runs)).rename(columns=_PARTS),
            ),
        ),
    )


def _weakest(sources: Sources) -> Section:
    tables = [
        weakest_relations(source, _WEAKEST)[0].assign(run=name) for name, source in sources.items()
    ]
    table = pd.concat(tables)
    return Section(
        "Weakest relations",
        (),
        (
            Shown(
                f"Least mean ReliK: {_WEAKEST} relations of each run with 30 known triples or "
                "more; the commands give all. MRR: of the test triples.",
                _each(sources, "reliability", "--by relation"),
                table[["run", *table.columns.drop("run")]],
            ),
        ),
    )


def _local(sources: Sources, best: str) -> Section:
    """Compare the runs in the community where the best of them has its lowest mean ReliK."""
    of_best, rows = sources[best], []
    seeds = seed_entities(of_best.overview().communities)
    if not seeds:
        return Section("Local comparison", ("No community has 30 triples.",))
    entity = next(iter(seeds.values()))
    label = dict(zip(of_best.run.graph.entities, of_best.run.graph.entity_labels, strict=True))
    for name, source in sources.items():
        local = replace(source, entity=entity, _kept={}).local()
        rows.append({"run": name, **local_columns(local_estimates(local))})
    return Section(
        "Local comparison",
        (
            f"Around {label[entity]}, in the community of {best}'s lowest mean ReliK: 60 "
            "entities by a random walk with restart.",
        ),
        (
            Shown(
                "ReliK of the known triples inside, and MRR of the test triples; 95% intervals.",
                _each(sources, "subgraph", f"{shlex.join(['--entity', entity])} --json"),
                pd.DataFrame(rows),
            ),
        ),
    )


def _separation(sources: Sources, progress: Progress) -> Section:
    title, found = "True and false told apart", {}
    steps = phases(progress, [1.0] * len(sources))
    try:
        for (name, source), step in zip(sources.items(), steps, strict=True):
            found[name] = source.separation("queries", step)
    except KgdashError as error:
        return refused_section(title, error)
    measures = list(next(iter(found.values())).by_measure)
    by_run = {
        measure: pd.concat(
            [
                table[table["group"] == ALL].assign(group=name)
                for name, table in (
                    (name, each.by_measure[measure]) for name, each in found.items()
                )
            ]
        )
        for measure in measures
    }
    table = pd.concat([separation_table(each).assign(run=name) for name, each in found.items()])
    table = table[table["group"] == ALL].drop(columns="group")
    made = _each(sources, "queries", "--json")
    return Section(
        title,
        tuple(f"{name}: {separation_verdict(each)[0]}" for name, each in found.items()),
        (
            Shown(
                "ROC-AUC of true against false answers of sampled queries, with 95% intervals.",
                made,
                chart=auc_figure(by_run),
                name="separation",
            ),
            Shown(
                "How well each measure tells true answers of queries from false ones.",
                made,
                table[["run", *table.columns.drop("run")]],
            ),
        ),
    )


def _calibration(sources: Sources, progress: Progress) -> Section:
    title, rows, bins = "Calibration", [], {}
    steps = phases(progress, [1.0] * len(sources))
    try:
        for (name, source), step in zip(sources.items(), steps, strict=True):
            rows.append({"run": name, **_calibrated(source, step)})
            bins[name] = source.classified().tables()["calibration"]
    except KgdashError as error:
        return refused_section(title, error)
    return Section(
        title,
        (),
        (
            Shown(
                "Predicted probability, after Platt's calibration on valid, against the share of "
                "true triples; 95% intervals.",
                _each(sources, "classify", "--table calibration"),
                chart=calibrations_figure(bins),
                name="calibration",
            ),
            Shown(
                "Test triples and corrupted ones, classified by a threshold chosen on valid, with "
                "95% intervals; and the expected calibration error (ECE) of the score's "
                "sigmoid as it is, after Platt's and after isotonic calibration: lower is better; "
                f"{NOISE}.",
                _each(sources, "classify", "--json"),
                pd.DataFrame(rows),
            ),
        ),
    )


def _calibrated(source: ChartSource, progress: Progress) -> dict[str, Any]:
    found = source.classified(progress)
    errors = found.tables()["calibration_errors"].set_index("calibration")
    of = found.metrics.set_index("figure")
    row: dict[str, Any] = {}
    for name, label in (("accuracy", "accuracy ↑"), ("roc_auc", "ROC-AUC ↑")):
        row |= {label: of["value"][name], f"{label} low": of["low"][name]}
        row |= {f"{label} high": of["high"][name]}
    ece = errors["expected_calibration_error"]
    return row | {"ECE ↓": ece["none"], "Platt ↓": ece["platt"], "isotonic ↓": ece["isotonic"]}


def _each(sources: Sources, name: str, options: str) -> str:
    """Write a command of every run, one a line."""
    lines = [f"{name} {run_argument(source.run)} {options}" for source in sources.values()]
    return "\n".join(map(command, lines))
