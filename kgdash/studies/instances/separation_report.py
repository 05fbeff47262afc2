"""What tells true from false instances, as one Markdown text.

Defined in numbers.md#11-instances-true-and-false.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.files.markdown import inline, markdown_table, versions
from kgdash.runs import Run
from kgdash.runs.description import recorded_mrr
from kgdash.statistics.auc_by_counts import is_told
from kgdash.statistics.estimate import number
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.studies.instances.separation import ALL, Comparison
from kgdash.studies.instances.separation_verdict import is_above_chance, is_below_chance

#: measure -> its name in words
NAMES = {
    "relik": "ReliK",
    "reciprocal_rank": "reciprocal rank",
    "score": "raw score",
    "relik_answer": "ReliK of the answering triples",
    "reciprocal_rank_answer": "reciprocal rank of the answering triples",
    "score_answer": "raw score of the answering triples",
}


@dataclass(frozen=True)
class SeparationReport:
    """How well each measure tells true from false, and where it does not.

    ``found``: of ReliK, the reciprocal rank and the raw score on the same instances, in order;
    ``aggregate``: "max" or "mean" over an instance's groundings; ``notes``: how the instances came
    about; ``names``: what to call the groups where not by themselves.
    """

    run: Run
    found: Comparison
    aggregate: str
    notes: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def text(self, title: str, command: str, charts: Mapping[str, str]) -> str:
        """Write the report as Markdown.

        :param command: that gives these values again
        :param charts: "means" and "auc" -> file of a chart beside the text
        """
        found, names = self.found, {**self.names, ALL: "**all**"}
        drawn = {name: f"![{name} of the groups, drawn]({file})" for name, file in charts.items()}
        about = _about(self.run, found, self.aggregate, self.notes)
        return "\n\n".join(
            [
                f"# {inline(title)}",
                "\n".join([*about, "", "```sh", command, "```"]),
                f"## Mean ReliK of true and of false instances\n\n{drawn['means']}",
                "## ROC-AUC\n\nThe chance that a true instance has a higher value than a false "
                f"one; 0.5 is guessing{_by_groundings(found)}.\n\n{drawn['auc']}\n\n"
                + _aucs(found, names),
                _verdict(found, names),
                "Intervals: 95%, percentile bootstraps over questions; not corrected for the "
                "number of groups.\n",
            ]
        )


def separation_rows(found: Comparison) -> pd.DataFrame:
    """Put the tables of all measures below one another: ``measure``, then as `separation`."""
    tables = [table.assign(measure=measure) for measure, table in found.by_measure.items()]
    whole = pd.concat(tables, ignore_index=True)
    return whole[["measure", *(c for c in whole.columns if c != "measure")]]


def _about(run: Run, found: Comparison, aggregate: str, notes: Sequence[str]) -> list[str]:
    graph, training = run.graph, run.training
    answering = next(iter(found.by_measure)).endswith("_answer")
    model = [run.spec.name]
    if "model_kwargs" in training:
        model.append(f"dimension {training['model_kwargs'].get('embedding_dim', 'unknown')}")
    if "epochs" in training:
        model.append(f"{training['epochs']} epochs of {training.get('training_loop', 'training')}")
    mrr = recorded_mrr(training)
    if mrr is not None:
        model.append(f"test MRR {number(mrr)} as recorded at training")
    return [
        f"- Graph: {inline(graph.name)}, {graph.num_entities:,} entities, {graph.num_relations:,} "
        f"relations, {len(graph.known()):,} known triples.",
        f"- Model: {inline(', '.join(model))}.",
        "- ReliK is exact; an instance's is the mean over "
        f"{'those of its triples that give the answer' if answering else 'its triples'}, the "
        f"{'greatest' if aggregate == 'max' else 'mean'} of its groundings; the reciprocal rank "
        "beside it is ½ (1/entity rank + 1/relation rank).",
        *(f"- {inline(note[:1].upper() + note[1:])}." for note in notes),
        f"- Versions: {versions()}.",
    ]


def _by_groundings(found: Comparison) -> str:
    chance = float(found.overall(next(iter(found.by_measure)))["auc_chance"])
    if not is_told(chance):
        return ""
    return (
        "; the greatest of more groundings is greater, and their number alone gives about "
        f"{chance:.3f} over all"
    )


def _aucs(found: Comparison, names: Mapping[str, str]) -> str:
    relik, other = next(iter(found.by_measure.values())), list(found.by_measure)[1]
    columns: dict[str, Sequence[str]] = {
        "group": [names.get(group, group) for group in relik["group"]],
        **{label: relik[f"n_{label}"].map("{:,}".format) for label in ("true", "false")},
    }
    for measure, table in found.by_measure.items():
        columns[NAMES.get(measure, measure)] = _intervals(table, "roc_auc", "auc_low", "auc_high")
    against = found.differences[found.differences["against"] == other]
    if relik["auc_chance"].map(is_told).any():
        columns["number of groundings alone"] = _intervals(relik, "auc_chance")
    columns["ReliK less reciprocal rank"] = _intervals(against, "difference", "low", "high")
    return markdown_table(pd.DataFrame(columns))


def _verdict(found: Comparison, names: Mapping[str, str]) -> str:
    """Say in how many groups ReliK separates, and name those in which it does not."""
    table, other = next(iter(found.by_measure.values())), list(found.by_measure)[1]
    table = table[(table["group"] != ALL) & table["roc_auc"].notna()]
    # As the page's verdict: of few questions, and before Holm's correction, nothing is claimed.
    sure = (table["p_holm"] < LEVEL) & (table["questions"] >= SMALL)
    below, above = is_below_chance(table), is_above_chance(table)
    wrong, unsure = table[sure & below], table[~(sure & (below | above))]
    lines = [
        f"## Where it does not separate\n\nOf {len(table)} groups, ReliK separates "
        f"{len(table) - len(wrong) - len(unsure)} (the interval of its AUC lies above 0.5 and "
        "above what the number of groundings alone gives, Mann–Whitney's p after Holm's correction "
        f"is below {LEVEL}, and there are {SMALL} questions or more)."
    ]
    for rows, what in ((wrong, "Worse than guessing"), (unsure, "Not told from guessing")):
        if len(rows):
            listed = [
                f"- {inline(names.get(row.group, row.group))}: AUC {row.roc_auc:.3f} "
                f"({row.n_true} true, {row.n_false} false)"
                for row in rows.itertuples()
            ]
            lines.append(f"{what}:\n\n" + "\n".join(listed))
    against = found.differences
    against = against[(against["against"] == other) & (against["group"] != ALL)]
    better, worse = int((against["low"] > 0).sum()), int((against["high"] < 0).sum())
    lines.append(
        f"Against the reciprocal rank on the same instances, ReliK's AUC is higher in {better} "
        f"groups and lower in {worse}; in {len(against) - better - worse} the interval of the "
        "difference holds 0."
    )
    return "\n\n".join(lines)


def _intervals(table: pd.DataFrame, *columns: str) -> list[str]:
    """Write values, with the ends of their intervals where columns of such follow."""
    texts = (
        ["–" if np.isnan(v) else f"{v:.3f}".replace("-", "−") for v in table[name]]
        for name in columns
    )
    return [
        f"{v} ({' to '.join(ends)})" if ends and "–" not in ends else v
        for v, *ends in zip(*texts, strict=True)
    ]
