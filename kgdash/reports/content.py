"""What a report of a run says: facts, metrics, ties, groups and where they come from, as tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.graph import SPLITS
from kgdash.graph.filter_advice import leak_warning
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.main_table import MAIN_METRICS, evaluated_text, main_table
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import MetricsTable
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import Evaluation, evaluation
from kgdash.reports.method import commands, group_command, method
from kgdash.runs import Run
from kgdash.studies.reliability.run_relik import run_relik_known
from kgdash.version import __version__

#: groupings that a report has, in its order
REPORTED = ("relation", "cardinality", "pattern", "head_degree", "tail_degree")

#: groups shown at either end, and groups of the whole table; beyond, a command gives the rest
EXTREMES, MOST_GROUPS = 10, 500

#: a gap between optimistic and pessimistic MRR that hints at saturated scores
_WIDE_GAP = 0.01


@dataclass(frozen=True)
class Grouped:
    """One breakdown: all groups, and the best and worst where they are many."""

    by: str
    groups: pd.DataFrame
    best: pd.DataFrame | None
    worst: pd.DataFrame | None
    left_out: int
    command: str

    @property
    def name(self) -> str:
        """Return the grouping as people read it."""
        return self.by.replace("_", " ")


@dataclass(frozen=True)
class Answer:
    """Where the run can be trusted: of `kgdash.studies.overview.overview.overview`."""

    verdict: list[str]
    values: pd.DataFrame
    communities: pd.DataFrame
    leads: list[str]


@dataclass(frozen=True)
class ReportContent:
    """All that a report says; its charts are drawn from ``source``."""

    source: ChartSource
    raw: MetricsTable | None
    notes: list[str]
    facts: dict[str, str]
    training: dict[str, str]
    main: pd.DataFrame
    everything: pd.DataFrame
    ties: pd.DataFrame
    groupings: list[Grouped]
    answer: Answer | None
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
    first, second, third = phases(progress, [0.45, 0.45, 0.1])
    asked = evaluation(run, setting, metric, first)
    ties, source = _ties(asked), ChartSource(asked)
    raw = asked.raw_values(second) if asked.filter != "none" else None
    groupings = []
    for number, by in enumerate(REPORTED):
        third(number, len(REPORTED))
        groupings.append(_grouped(asked, by))
    third(1, 1)
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
        answer=_answer(source),
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
            f"{both['tied_share']:.1%} of the true answers share their score with another "
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


def _grouped(evaluated: Evaluation, by: str) -> Grouped:
    table = evaluated.breakdown(by)
    both = table[table["side"] == "both"].set_index("group")
    sides = {
        side: table[table["side"] == side].set_index("group")["value"] for side in ("head", "tail")
    }
    groups = pd.DataFrame(
        {
            "group": both.index,
            "triples": both["triples"].to_numpy(),
            **{side: values.reindex(both.index).to_numpy() for side, values in sides.items()},
            "both": both["value"].to_numpy(),
            "low": both["low"].to_numpy(),
            "high": both["high"].to_numpy(),
            "gap by ties": both["gap"].to_numpy(),
            "tied %": 100 * both["tied_share"].to_numpy(),
            "size": ["small" if small else "" for small in both["small"]],
        }
    )
    best = worst = None
    if len(groups) > 2 * EXTREMES:
        large = groups[groups["triples"] >= SMALL]
        ranked = (large if len(large) >= 2 * EXTREMES else groups).dropna(subset="both")
        best, worst = (
            ranked.sort_values(["both", "triples"], ascending=[rising, False], kind="stable")
            for rising in (not evaluated.info.increasing, evaluated.info.increasing)
        )
        best, worst = best.head(EXTREMES), worst.head(EXTREMES)
        groups = groups.sort_values("triples", ascending=False, kind="stable")
    left_out = max(0, len(groups) - MOST_GROUPS)
    return Grouped(
        by, groups.head(MOST_GROUPS), best, worst, left_out, group_command(evaluated, by)
    )


def _answer(source: ChartSource) -> Answer | None:
    """Sum up the ReliK of all known triples, or None where it is not counted and takes long."""
    if not run_relik_known(source.run):
        return None
    found = source.overview
    labels = {"mrr": "MRR", "hits_at_1": "Hits@1", "hits_at_10": "Hits@10", "relik": "mean ReliK"}
    values = [{"value of": label, **asdict(found.values[name])} for name, label in labels.items()]
    columns = ["label", "entities", "triples", "relik", "low", "high", "mrr", "evaluated"]
    return Answer(
        [sentence.replace("**", "") for sentence in found.verdict],
        pd.DataFrame(values).rename(columns={"n": "triples"}),
        found.communities[columns].rename(columns={"label": "around", "evaluated": "test triples"}),
        [lead.text.replace("**", "") for lead in found.leads],
    )


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
