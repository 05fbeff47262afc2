"""What a report of a run says: facts, metrics, ties, groups and where they come from, as tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from kgdash.graph import SPLITS
from kgdash.graph.filter_advice import leak_warning
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.main_table import MAIN_METRICS, evaluated_text, main_table
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import MetricsTable
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import Evaluation, evaluation
from kgdash.reports.groups import REPORTED, Grouped, grouped
from kgdash.reports.method import chart_command, commands, method
from kgdash.reports.named_charts import draw_chart
from kgdash.reports.section import Section, Shown
from kgdash.reports.trust import trust_sections
from kgdash.runs import Run
from kgdash.statistics.estimate import percent
from kgdash.version import __version__

#: a gap between optimistic and pessimistic MRR that hints at saturated scores
_WIDE_GAP = 0.01


@dataclass(frozen=True)
class ReportContent:
    """All that a report says; ``charts``: of losses, metrics, ranks and groups, by name."""

    source: ChartSource
    raw: MetricsTable | None
    notes: list[str]
    facts: dict[str, str]
    training: dict[str, str]
    main: pd.DataFrame
    everything: pd.DataFrame
    ties: pd.DataFrame
    groupings: list[Grouped]
    trust: list[Section]
    charts: dict[str, Shown]
    glossary: pd.DataFrame
    method: list[str]
    commands: dict[str, str]

    @property
    def evaluation(self) -> Evaluation:
        """Return the ranks and metrics that the report is about."""
        return self.source.evaluation


def report_content(
    run: Run,
    setting: RankSetting | None = None,
    metric: str = "inverse_harmonic_mean_rank",
    progress: Progress = silent,
) -> ReportContent:
    """Compute what a report says of a run.

    :param setting: whose rank type the cards, the distribution and the groups have
    :param metric: of the groups: any name of a metric
    :raises KgdashError: as `kgdash.reports.evaluation.evaluation`
    """
    first, second, patterns, third, fourth = phases(progress, [0.3, 0.2, 0.05, 0.05, 0.4])
    asked = evaluation(run, setting, metric, first, patterns)
    ties, source = _ties(asked), ChartSource(asked)
    raw = asked.raw_values(second) if asked.filter != "none" else None
    groupings = []
    for number, by in enumerate(REPORTED, start=1):
        groupings.append(grouped(asked, by))
        third(number, len(REPORTED))
    trust = trust_sections(source, fourth)
    return ReportContent(
        source=source,
        raw=raw,
        notes=_notes(asked),
        facts=_facts(run),
        training=_training(run),
        main=_main(asked, raw),
        everything=_everything(asked),
        ties=ties,
        groupings=groupings,
        trust=trust,
        charts=_charts(source),
        glossary=_glossary(),
        method=method(asked),
        commands=commands(asked),
    )


def report_caption(evaluated: Evaluation) -> str:
    """Say what the values of a report are of."""
    graph = evaluated.run.graph
    triples = len(graph.split(evaluated.split))
    text = evaluated_text(
        graph.name, evaluated.split, evaluated.filter, triples, graph.num_entities
    )
    return f"{evaluated.run.spec.name} on {text}"


def _notes(evaluated: Evaluation) -> list[str]:
    notes = list(evaluated.run.notes)
    if warning := leak_warning(evaluated.split, evaluated.filter):
        notes.append(warning)
    both = evaluated.ties["both"]
    if both["mrr_gap"] > _WIDE_GAP:
        notes.append(
            f"{percent(both['tied_share'], 1)} of the true answers share their score with another "
            f"candidate, and the MRR lies {both['mrr_gap']:.3g} apart between optimistic and "
            "pessimistic ranks: saturated or constant scores; read the realistic ranks"
        )
    if evaluated.split == "train":
        notes.append("these are training triples, which flatter the model")
    return [f"{note[0].upper()}{note[1:]}" for note in notes]


def _facts(run: Run) -> dict[str, str]:
    graph = run.graph
    return {
        "run": run.name,
        "model": run.spec.name,
        **{key.replace("_", " "): _text(value) for key, value in run.spec.kwargs.items()},
        "inverse relations": _text(run.spec.create_inverse_triples),
        "graph": graph.name,
        "entities": f"{graph.num_entities:,}",
        "relations": f"{graph.num_relations:,}",
        **{f"{split} triples": f"{len(graph.splits[split]):,}" for split in SPLITS},
        "origin": _text(run.provenance.get("form", "unknown")),
        **({"data": _text(data)} if (data := run.provenance.get("attribution")) else {}),
        "digest of the weights": run.weights_digest,
        "digest of the graph": graph.digest,
        "made with": f"kgdash {__version__}",
    }


def _training(run: Run) -> dict[str, str]:
    """Describe the training as far as it is known, without what tells nothing of the model."""
    left_out = {"losses", "evaluation", "pykeen_evaluation", "seconds"}
    left_out |= {"model", "model_kwargs", "dataset"}
    flat: dict[str, str] = {}
    for key, value in run.training.items():
        if key in left_out:
            continue
        if isinstance(value, Mapping):
            kind = key.removesuffix("_kwargs")
            flat |= {
                f"{kind}: {name}".replace("_", " "): _text(inner) for name, inner in value.items()
            }
        else:
            flat[key.replace("_", " ")] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _main(evaluated: Evaluation, raw: MetricsTable | None) -> pd.DataFrame:
    """Lay out the main metrics: one row per side, rank type, filtered and raw."""
    name = "raw" if raw is None else "filtered"
    runs = {name: evaluated.values} if raw is None else {name: evaluated.values, "raw": raw}
    table = main_table(runs).rename_axis(index={"run": "known triples"})
    table = table.sort_index(level="known triples", sort_remaining=False, kind="stable")
    table = table.reset_index()
    guide = metric_records()
    return table.rename(
        columns={key: f"{short} {guide[key].arrow}" for key, short in MAIN_METRICS.items()}
    )


def _everything(evaluated: Evaluation) -> pd.DataFrame:
    guide = metric_records()
    table: dict[str, list] = {
        "metric": [f"{info.label} {info.arrow}".strip() for info in guide.values()]
    }
    for side, rank_type in evaluated.values.frame.columns:
        values = evaluated.values.values(side, rank_type)
        table[f"{side}, {rank_type}"] = [values[key] for key in guide]
    return pd.DataFrame(table)


def _ties(evaluated: Evaluation) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "side": list(evaluated.ties),
            "tied %": [100 * ties["tied_share"] for ties in evaluated.ties.values()],
            "largest tie": [int(ties["largest_tie"]) for ties in evaluated.ties.values()],
            "optimistic − pessimistic MRR": [ties["mrr_gap"] for ties in evaluated.ties.values()],
        }
    )


def _charts(source: ChartSource) -> dict[str, Shown]:
    captions = {
        "losses": "Loss by epoch of the training.",
        "metrics": "The chosen metric by side and rank type.",
        "ranks": "Share of ranks up to r.",
        **{
            f"breakdown-by-{by.replace('_', '-')}": f"The groups by {by.replace('_', ' ')}."
            for by in REPORTED
        },
    }
    return {
        name: Shown(
            caption,
            chart_command(source.evaluation, name),
            chart=draw_chart(name, source),
            name=name,
        )
        for name, caption in captions.items()
    }


def _glossary() -> pd.DataFrame:
    guide = metric_records().values()
    directions = {"↑": "higher", "↓": "lower", "": "–"}
    return pd.DataFrame(
        {
            "metric": [info.label for info in guide],
            "key": [info.key for info in guide],
            "formula": [info.formula for info in guide],
            "range": [info.value_range for info in guide],
            "better": [directions[info.arrow] for info in guide],
            "depends on |E|": [_text(info.depends_on_num_entities) for info in guide],
        }
    )
