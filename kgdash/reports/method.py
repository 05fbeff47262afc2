"""How the numbers of a report came about, and the commands that give them again."""

import shlex
from pathlib import Path

from kgdash.breakdowns.breakdown import SMALL
from kgdash.graph.filter_advice import use_case
from kgdash.ranking.metric_lookup import find_metric
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.evaluation import Evaluation
from kgdash.runs import Run
from kgdash.runs.library import named_runs


def method(evaluated: Evaluation) -> list[str]:
    """Say how the numbers came about, one statement each."""
    removed = "candidates that would make another known triple are removed, those of "
    known = use_case("none") if evaluated.filter == "none" else f"{removed}{evaluated.filter}"
    return [
        "Each triple is ranked twice: its head among all entities before its relation and tail, "
        "its tail among all after its head and relation.",
        f"Filter {evaluated.filter}: {known}."
        + (f" It is {use_case(evaluated.filter)}." if evaluated.filter != "none" else ""),
        "With g candidates scored strictly higher than the true one and q others scored equal, the "
        "optimistic rank is g + 1, the pessimistic g + q + 1, the realistic their mean.",
        "“both” pools the ranks of both sides. Metrics are computed by PyKEEN's classes from "
        "these ranks and the numbers of candidates.",
        f"Intervals of groups: 95%, bootstrap over the group's triples. Groups of fewer than "
        f"{SMALL} triples are marked small: their values say little.",
    ]


def commands(evaluated: Evaluation) -> dict[str, str]:
    """Return the command that gives each table, by what it gives."""
    name, choices = run_argument(evaluated.run), _choices(evaluated)
    rank_type = f"--rank-type {evaluated.setting.rank_type}"
    return {
        "This report": command(
            f"report {name} report.html {choices} {rank_type} --metric {evaluated.metric}"
        ),
        "All metrics, ties": command(f"metrics {name} {choices} --json"),
        "Raw metrics": command(f"metrics {name} --split {evaluated.split} --filter none --json"),
        "The main table for LaTeX": command(f"metrics {name} {choices} --latex"),
    }


def command(text: str) -> str:
    """Write a command as a shell takes it, wherever kgdash is installed."""
    return f"kgdash {text}"


def chart_command(evaluated: Evaluation, name: str, *more: str) -> str:
    """Return the command that draws a chart of `kgdash.reports.named_charts.NAMED_CHARTS`.

    :param more: options of its own, each with its value after it
    """
    setting = evaluated.setting
    usual = RankSetting(setting.split)
    options = {
        "--split": (setting.split, RankSetting().split),
        "--filter": (evaluated.filter, usual.filter_used),
        "--rank-type": (setting.rank_type, usual.rank_type),
        "--metric": (evaluated.metric, find_metric("mrr").key),
    }
    chosen = [part for key, (own, default) in options.items() if own != default
              for part in (key, own)]  # fmt: skip
    return command(
        f"chart {run_argument(evaluated.run)} {shlex.join([name, f'{name}.svg', *chosen, *more])}"
    )


def group_command(evaluated: Evaluation, by: str) -> str:
    """Return the command that gives the groups by one of `kgdash.breakdowns.grouping.GROUPINGS`."""
    return command(
        f"breakdown {run_argument(evaluated.run)} {_choices(evaluated)} "
        f"--by {by} --metric {evaluated.metric} --rank-type {evaluated.setting.rank_type}"
    )


def run_argument(run: Run) -> str:
    """Name the run as a command takes it; a folder's place on this machine is nobody's business."""
    name = run.name if run.provenance.get("source") in named_runs() else f"path/to/{run.name}"
    dataset = run.provenance.get("dataset")
    if run.provenance.get("form") != "PyKEEN directory" or not dataset:
        return shlex.quote(name)
    place = Path(str(dataset))
    shown = str(dataset) if len(place.parts) == 1 else f"path/to/{place.name}"
    return f"{shlex.quote(name)} --dataset {shlex.quote(shown)}"


def _choices(evaluated: Evaluation) -> str:
    return f"--split {evaluated.split} --filter {evaluated.filter}"
