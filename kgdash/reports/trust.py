"""Sections of a run's report on where it can be trusted, each figure with its command."""

import shlex
from collections.abc import Callable
from dataclasses import asdict, replace

import pandas as pd

from kgdash.charts.classification import CALIBRATION_NAMES
from kgdash.charts.separation import MEASURE_NAMES
from kgdash.errors import KgdashError
from kgdash.progress import Progress, phases, silent
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.method import chart_command, command, run_argument
from kgdash.reports.named_charts import draw_chart
from kgdash.reports.section import Section, Shown, refused_section
from kgdash.statistics.estimate import Estimate, number, with_interval
from kgdash.studies.classification.calibration import NOISE
from kgdash.studies.instances.separation import Comparison
from kgdash.studies.instances.separation_verdict import separation_verdict
from kgdash.studies.overview.overview import VALUES, Overview
from kgdash.studies.queries.query_types import in_words
from kgdash.studies.reliability.local_verdict import local_estimates, local_verdict, whole_estimates
from kgdash.studies.reliability.run_relik import run_relik_known

#: values of classification -> what people read
_FIGURES = {"f1": "F1", "roc_auc": "ROC-AUC", "pr_auc": "PR-AUC"}

#: relations in a table of the weakest
WEAKEST = 10

_NOT_COUNTED = (
    "The ReliK of this run is not counted yet: run kgdash prepare on it, then make the report "
    "again, and it shows where the run can be trusted."
)


def trust_sections(source: ChartSource, progress: Progress = silent) -> list[Section]:
    """Say where a run can be trusted, and what it tells true from false by.

    What needs the ReliK of the whole graph is left out where that is not counted yet and takes
    long. What the graph has no triples for says so.

    :param progress: called with (done, total); may raise to cancel
    """
    first, second, third, fourth = phases(progress, [0.3, 0.05, 0.5, 0.15])
    whole = [Section("Where it can be trusted", (_NOT_COUNTED,))]
    if run_relik_known(source.run):
        found = source.overview(first)
        whole = [_where(source, found), _weakest(source), _local(source, found, second)]
    studies = [
        _or_why_not(lambda: _separation(source, third), "True and false told apart"),
        _or_why_not(lambda: _calibration(source, fourth), "Calibration"),
    ]
    progress(1.0, 1.0)
    return [*whole, *studies]


def seed_entities(communities: pd.DataFrame) -> dict[str, str]:
    """Name an entity in the community of lowest mean ReliK, and of highest, of 30 triples or more.

    :param communities: of `kgdash.studies.overview.overview.Overview`
    :return: which community -> name of its most central entity; one alone where there is but one,
        none where there is none
    """
    large = communities[~communities["small"]].sort_values("relik", kind="stable")
    names = large["central"].tolist()
    which = ("lowest", "highest")
    return dict(zip(which, [*names[:1], *names[1:][-1:]], strict=False))


def estimate_columns(name: str, estimate: Estimate, count: str) -> dict[str, float | int]:
    """Lay an estimate out as columns of a table."""
    return {
        name: estimate.value,
        f"{name} low": estimate.low,
        f"{name} high": estimate.high,
        count: estimate.n,
    }


def local_columns(estimates: dict[str, Estimate]) -> dict[str, float | int]:
    """Lay ReliK and MRR of a part of the graph out as columns of a table.

    :param estimates: of `local_estimates` or `whole_estimates`
    """
    return estimate_columns("mean ReliK", estimates["relik"], "triples") | estimate_columns(
        "MRR", estimates["both_mrr"], "ranked"
    )


def separation_table(found: Comparison) -> pd.DataFrame:
    """Lay out how well each measure tells true from false instances, per group."""
    tables = [
        table.assign(measure=MEASURE_NAMES[measure]) for measure, table in found.by_measure.items()
    ]
    rows = pd.concat(tables).sort_index(kind="stable")
    rows = rows.assign(group=rows["group"].replace(in_words(rows["group"].unique())))
    names = {
        "roc_auc": "ROC-AUC ↑",
        "auc_low": "low",
        "auc_high": "high",
        "auc_chance": "by groundings alone",
        "average_precision": "average precision ↑",
        "n_true": "true",
        "n_false": "false",
    }
    return rows.rename(columns=names)[["group", "measure", *names.values()]]


def weakest_relations(source: ChartSource, most: int = WEAKEST) -> tuple[pd.DataFrame, int]:
    """List the relations of least mean ReliK, of those with 30 known triples or more.

    :return: the first of them, and of how many
    """
    table = source.relations()
    large = table[~table["small"]]
    columns = {
        "label": "relation",
        "triples": "triples",
        "relik": "mean ReliK",
        "low": "low",
        "high": "high",
        "mrr": "MRR",
        "evaluated": "test triples",
    }
    return large.head(most).rename(columns=columns)[list(columns.values())], len(large)


def _where(source: ChartSource, found: Overview) -> Section:
    name = run_argument(source.run)
    values = [{"value of": text, **asdict(found.values[key])} for key, text in VALUES.items()]
    columns = ["label", "entities", "triples", "relik", "low", "high", "mrr", "evaluated"]
    overview = command(f"overview {name} --json")
    return Section(
        "Where it can be trusted",
        tuple(found.verdict),
        (
            Shown(
                "Of the test triples, and ReliK of all known ones, with 95% intervals.",
                overview,
                pd.DataFrame(values).rename(columns={"n": "triples"}),
            ),
            _chart(
                source,
                "communities",
                "The graph's communities: area by triples, colour by mean ReliK, lines by the "
                "triples between them.",
            ),
            Shown(
                "ReliK and MRR by community (Louvain), named by its most central entities; "
                "intervals hold jointly.",
                overview,
                found.communities[columns].rename(
                    columns={
                        "label": "community",
                        "relik": "mean ReliK",
                        "mrr": "MRR",
                        "evaluated": "test triples",
                    }
                ),
            ),
        ),
        tuple(lead.text for lead in found.leads),
    )


def _weakest(source: ChartSource) -> Section:
    table, of = weakest_relations(source)
    return Section(
        "Weakest relations",
        (),
        (
            _chart(
                source,
                "relik-by-relation",
                "Mean ReliK of the relations, the least reliable on top; hollow: fewer than 30 "
                "triples.",
            ),
            Shown(
                f"Least mean ReliK: the first {len(table)} of {of:,} relations with 30 known "
                "triples or more; the command gives all. MRR: of the test triples.",
                command(f"reliability {run_argument(source.run)} --by relation"),
                table,
            ),
        ),
    )


def _local(source: ChartSource, found: Overview, progress: Progress) -> Section:
    """Hold the ReliK of two parts of the graph against their MRR."""
    run, whole = source.run, whole_estimates(source.run)
    labels = dict(zip(run.graph.entities, run.graph.entity_labels, strict=True))
    text, rows, tables = [], [], []
    charts: list[Shown] = []
    seeds = seed_entities(found.communities)
    steps = phases(progress, [1.0] * len(seeds))
    for (which, entity), step in zip(seeds.items(), steps, strict=True):
        part = replace(source, entity=entity, _kept={})
        local = part.local(step)
        estimates, around = local_estimates(local), labels[entity]
        said = " ".join(local_verdict(estimates, whole))
        text.append(f"Around {around}, in the community of {which} mean ReliK: {said}")
        rows.append({"subgraph": f"around {around}", **local_columns(estimates)})
        options = ("--entity", entity)
        drawn = _chart(part, "subgraph-figures", f"The subgraph around {around}.", is_half=True)
        made = chart_command(source.evaluation, drawn.name, *options)
        charts.append(replace(drawn, command=made, name=f"{drawn.name}-{len(charts)}"))
        tables.append(f"subgraph {run_argument(run)} {shlex.join(options)} --json")
    if whole is not None:
        rows.append({"subgraph": "whole graph", **local_columns(whole)})
    caption = (
        "ReliK of the known triples, and MRR of the test triples, in subgraphs of 60 entities "
        "(random walk with restart) and in the whole graph; 95% intervals."
    )
    table = Shown(caption, "\n".join(map(command, tables)), pd.DataFrame(rows))
    return Section("Local comparison", tuple(text), (table, *charts))


def _separation(source: ChartSource, progress: Progress) -> Section:
    found = source.separation("queries", progress)
    true = int(found.overall("relik")["n_true"])
    return Section(
        "True and false told apart",
        (
            *separation_verdict(found),
            f"{true:,} queries were sampled, each with a true answer that does not hold in train "
            "alone and a false one.",
        ),
        (
            _chart(source, "queries-auc", "ROC-AUC per type of query, with 95% intervals."),
            Shown(
                "How well each measure tells true answers of queries from false ones.",
                command(f"queries {run_argument(source.run)} --json"),
                separation_table(found),
            ),
        ),
    )


def _calibration(source: ChartSource, progress: Progress) -> Section:
    found, name = source.classified(progress), run_argument(source.run)
    about, tables = found.about(), found.tables()
    row = found.metrics.set_index("figure").loc["accuracy"]
    accuracy = Estimate(row["value"], row["low"], row["high"], len(found.test))
    shown = [
        _chart(
            source,
            "classification-calibration",
            "Predicted probability against the share of true triples; 95% intervals.",
            is_half=True,
        ),
        Shown(
            f"How far probabilities are from the truth: lower is better; {NOISE}.",
            command(f"classify {name} --table calibration_errors"),
            _calibration_named(tables["calibration_errors"]),
        ),
        Shown(
            "Classified by the threshold; 95% intervals.",
            command(f"classify {name}"),
            tables["figures"]
            .replace({"figure": _FIGURES})
            .rename(columns={"figure": "value of", "validation": "on validation"}),
        ),
    ]
    if run_relik_known(source.run):
        caption = "Share classified right, by quantiles of the true triple's ReliK."
        shown.insert(1, _chart(source, "classification-relik", caption, is_half=True))
    return Section(
        "Calibration",
        (
            f"Of {about['test']['true']:,} true test triples and {about['test']['false']:,} "
            f"corrupted ones, the share {with_interval(accuracy)} is classified right by the "
            f"threshold {number(about['threshold'])}, chosen on valid.",
        ),
        tuple(shown),
    )


def _chart(source: ChartSource, name: str, caption: str, is_half: bool = False) -> Shown:
    made = chart_command(source.evaluation, name)
    return Shown(caption, made, chart=draw_chart(name, source), name=name, is_half=is_half)


def _or_why_not(make: Callable[[], Section], title: str) -> Section:
    """Make a section, or say what its study refused."""
    try:
        return make()
    except KgdashError as error:
        return refused_section(title, error)


def _calibration_named(errors: pd.DataFrame) -> pd.DataFrame:
    columns = {"expected_calibration_error": "calibration error ↓", "brier_score": "Brier score ↓"}
    return errors.replace({"calibration": CALIBRATION_NAMES}).rename(columns=columns)
