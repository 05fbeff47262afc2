"""What a report of several runs on one graph says: which is better, where, and which to trust."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.charts.comparison import metric_dots
from kgdash.charts.run_pairs import pair_forest, win_bars
from kgdash.graph.entity_search import relation_texts
from kgdash.graph.filter_advice import leak_warning
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.main_table import MAIN_METRICS, evaluated_text, main_table
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import metrics
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.evaluation import evaluation
from kgdash.reports.method import command, method, run_argument
from kgdash.reports.section import Section, Shown
from kgdash.reports.trust_compared import compared_trust
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import RESAMPLES, paired_tests
from kgdash.studies.comparison.comparison import (
    compared_ranks,
    distinct_names,
    overall_of,
    pair_of,
    reciprocal_ranks,
)
from kgdash.studies.comparison.comparison_verdict import (
    comparison_verdict,
    shared_tests,
    with_shared,
)
from kgdash.studies.comparison.run_pairs import relation_sign_tests

#: relations in a table of two runs
_RELATIONS = 25

Ranks = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class ComparisonContent:
    """All that a report of several runs says.

    ``parts``: heading -> sections; ``facts``: one row per run.
    """

    runs: Mapping[str, Run]
    evaluated: str
    notes: list[str]
    verdict: str
    parts: Mapping[str, list[Section]]
    facts: pd.DataFrame
    method: list[str]
    command: str


def comparison_content(
    runs: list[Run],
    setting: RankSetting | None = None,
    metric: str = "inverse_harmonic_mean_rank",
    seed: int = 0,
    progress: Progress = silent,
) -> ComparisonContent:
    """Compute what a report says of 2 to 8 runs on one graph.

    :param setting: of the ranks that are compared; the paired tests are of its side
    :param metric: of the first chart: any name of a metric
    :param seed: of the paired tests
    :raises KgdashError: as `kgdash.studies.comparison.comparison.compared_ranks`
    """
    asked = evaluation(runs[0], setting, metric)
    setting, named = asked.setting, dict(zip(distinct_names(runs), runs, strict=True))
    first, second, third = phases(progress, [0.3, 0.1, 0.6])
    ranks = compared_ranks(runs, setting.split, setting.filter_used, first)
    values = reciprocal_ranks(ranks, setting.side, setting.rank_type)
    tests = paired_tests(values, list(ranks), Bootstrap(resamples=RESAMPLES, seed=seed), second)
    tests = with_shared(tests, shared_tests(ranks, setting.side, setting.rank_type))
    best = _best(tests)
    own = _arguments(runs, setting, seed)
    parts = {
        "Comparison": [
            _differences(tests, own),
            _metrics(ranks, setting, asked.info, own),
            _relations(runs[0], ranks, setting, best, own),
        ],
        "Reliability": compared_trust(named, best[0], third),
    }
    progress(1.0, 1.0)
    return ComparisonContent(
        runs=named,
        evaluated=_evaluated(runs[0], setting),
        notes=_notes(named, setting),
        verdict=comparison_verdict(tests).replace("**", ""),
        parts=parts,
        facts=_facts(named),
        method=[
            *method(asked)[:-1],
            f"Paired tests: reciprocal ranks of the same triples, a triple's two together; "
            f"intervals by bootstrap, which allow for what no triple showed, p by permutation "
            f"({RESAMPLES:,} draws each), Holm's correction over all pairs; p (alike) swaps all of "
            "a head, relation or tail at once.",
        ],
        command=command(f"compare {own} --metric {asked.metric} --report comparison.html"),
    )


def _arguments(runs: list[Run], setting: RankSetting, seed: int) -> str:
    names = " ".join(map(run_argument, runs))
    return (
        f"{names} --split {setting.split} --filter {setting.filter_used} --side {setting.side} "
        f"--rank-type {setting.rank_type} --seed {seed}"
    )


def _best(tests: pd.DataFrame) -> tuple[str, str]:
    """Name the two runs of the highest MRR, the best first."""
    means = dict(zip(tests["a"], tests["mean_a"], strict=True))
    means |= dict(zip(tests["b"], tests["mean_b"], strict=True))
    first, second, *_ = sorted(means, key=lambda run: -means[run])
    return first, second


def _differences(tests: pd.DataFrame, own: str) -> Section:
    made = command(f"compare {own} --table tests")
    columns = {
        "a": "a",
        "b": "b",
        "mean_a": "MRR of a",
        "mean_b": "MRR of b",
        "difference": "difference",
        "low": "low",
        "high": "high",
        "p_permutation": "p",
        "p_holm": "p (Holm)",
        "p_shared": "p (alike)",
        "wins": "a better",
        "ties": "equal",
        "losses": "b better",
    }
    table = tests.rename(columns=columns)[list(columns.values())]
    return Section(
        "Is the difference more than chance?",
        (),
        (
            Shown(
                "Difference of MRR of every two runs with its 95% interval; coloured where that "
                "leaves 0 out and both p are below 5%: blue where the first is better.",
                made,
                chart=pair_forest(tests),
                name="differences",
            ),
            Shown(f"Paired tests over {tests['triples'].iloc[0]:,} triples.", made, table),
        ),
    )


def _metrics(ranks: Ranks, setting: RankSetting, info: Metric, own: str) -> Section:
    values, guide = {name: metrics(table) for name, table in ranks.items()}, metric_records()
    table = overall_of(values)
    one = table[(table["metric"] == info.key) & (table["rank_type"] == setting.rank_type)]
    main = main_table(values, [setting.rank_type]).xs(setting.side, level="side")
    main = main.reset_index("ranks", drop=True).reset_index()
    made = command(f"compare {own}")
    return Section(
        "Metrics",
        (),
        (
            Shown(
                f"{info.label} by side, {setting.rank_type} ranks.",
                made,
                chart=metric_dots(one, info),
                name="metrics",
            ),
            Shown(
                f"Main metrics, side {setting.side}, {setting.rank_type} ranks.",
                made,
                main.rename(
                    columns={k: f"{short} {guide[k].arrow}" for k, short in MAIN_METRICS.items()}
                ),
            ),
        ),
    )


def _relations(
    first: Run, ranks: Ranks, setting: RankSetting, best: tuple[str, str], own: str
) -> Section:
    """Set the two best runs against each other, relation by relation."""
    table = relation_sign_tests(pair_of(ranks, *best), setting.rank_type)
    rows = table[table["side"] == setting.side]
    rows = rows.sort_values("triples", ascending=False, kind="stable")
    made = command(f"compare {own} --pair {shlex.join(best)} --table relations")
    columns = ["relation", "triples", "wins", "ties", "losses", "mrr_a", "mrr_b", "p_holm"]
    named = {
        "wins": f"{best[0]} better",
        "ties": "equal",
        "losses": f"{best[1]} better",
        "mrr_a": f"MRR of {best[0]}",
        "mrr_b": f"MRR of {best[1]}",
        "p_holm": "p (Holm)",
    }
    shown = rows.head(_RELATIONS)[columns].rename(columns=named)
    labels = relation_texts(first.graph)
    names = np.array(labels, dtype=object)
    return Section(
        f"Where is each better: {best[0]} and {best[1]}",
        (),
        (
            Shown(
                "Shares of a relation's triples that either run ranks better.",
                made,
                chart=win_bars(rows, labels, *best),
                name="wins",
            ),
            Shown(
                f"The first {len(shown)} of {len(rows):,} relations, those of the most triples; "
                "the command gives all. p: sign test.",
                made,
                shown.assign(relation=names[shown["relation"]]),
            ),
        ),
    )


def _evaluated(first: Run, setting: RankSetting) -> str:
    graph = first.graph
    triples = len(graph.split(setting.split))
    return evaluated_text(
        graph.name, setting.split, setting.filter_used, triples, graph.num_entities
    )


def _notes(runs: Mapping[str, Run], setting: RankSetting) -> list[str]:
    notes = [f"{name}: {note}" for name, run in runs.items() for note in run.notes]
    warning = leak_warning(setting.split, setting.filter_used)
    return [*notes, *([f"{warning[0].upper()}{warning[1:]}"] if warning else [])]


def _facts(runs: Mapping[str, Run]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "run": list(runs),
            "model": [run.spec.name for run in runs.values()],
            "configuration": [
                ", ".join(f"{key}: {value}" for key, value in run.spec.kwargs.items())
                for run in runs.values()
            ],
            "digest of the weights": [run.weights_digest for run in runs.values()],
        }
    )
