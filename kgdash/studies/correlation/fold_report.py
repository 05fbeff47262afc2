"""A cross-validation as one Markdown text: what was run, and the tables of models × tasks."""

from collections.abc import Sequence

import pandas as pd

from kgdash.files.markdown import inline, markdown_table, versions
from kgdash.graph import KnowledgeGraph
from kgdash.studies.correlation.cross_validation import CrossValidation
from kgdash.studies.correlation.fold_tables import model_means
from kgdash.studies.correlation.models_table import marked, models_table

#: tasks of the tables, with their headings
_TASKS = {
    "tail_mrr": "tail MRR",
    "head_mrr": "head MRR",
    "relation_mrr": "relation MRR",
    "accuracy": "accuracy",
}


def markdown_report(
    graph: KnowledgeGraph,
    plan: CrossValidation,
    command: str,
    coefficients: pd.DataFrame,
    runs: pd.DataFrame,
) -> str:
    """Write the results down.

    :param command: that gives these values again
    :param coefficients: of `kgdash.studies.correlation.fold_tables.both_ways`
    :param runs: of `kgdash.studies.correlation.cross_validation.cross_validate`
    """
    several = runs["fold"].nunique() > 1
    return "\n\n".join(
        [
            f"# {inline(graph.name)}: does ReliK predict performance?",
            "\n".join([*_about(graph, plan, runs, coefficients), "", "```sh", command, "```"]),
            "## Models\n\nOn test triples, both sides, filtered; mean ± standard deviation over "
            "the folds. Seconds of all folds together, one process.\n\n" + _models(runs),
            "## Pearson's r\n\nOf values averaged over the folds, the paper's way"
            + "; in parentheses of each fold, mean ± standard deviation" * several
            + ".\n\n"
            + _pearson(coefficients, several),
            "°: p > 0.05, not corrected for the number of models and tasks; subgraphs overlap, so "
            "that p-values flatter. –: no value. More coefficients, tasks, p-values and intervals: "
            f"`{inline(graph.name)}.csv`.\n",
        ]
    )


def _about(
    graph: KnowledgeGraph, plan: CrossValidation, runs: pd.DataFrame, coefficients: pd.DataFrame
) -> list[str]:
    left = coefficients.groupby("size")["left_out"].max()
    one = runs.drop_duplicates("fold")
    sizes = {split: f"{one[split].mean():,.0f}" for split in ("train", "valid", "test")}
    cut = f"{runs['fold'].nunique()} of {plan.folds} folds" if plan.folds else "the dataset's split"
    kept = (
        f"; {one['kept'].sum():,} triples stayed in train to cover all names" if plan.folds else ""
    )
    return [
        f"- Graph: {graph.num_entities:,} entities, {graph.num_relations:,} relations, "
        f"{len(graph.known()):,} known triples.",
        f"- Splits: {cut}, on average {sizes['train']} train, {sizes['valid']} valid, "
        f"{sizes['test']} test triples{kept}.",
        f"{_training(plan)}; fold i trains with the seed {plan.seed} + i.",
        f"- Subgraphs: {plan.subgraphs} by {plan.method}, drawn on all known triples, the same in "
        f"all folds; seed {plan.seed}. ReliK ({plan.relik_method}) is the mean over all known "
        f"triples inside, the tasks are over {plan.evaluated} triples inside, filter "
        f"{plan.filter}.",
        *(
            f"- {count} of the subgraphs of {size} entities have no evaluated triple in any fold: "
            "left out."
            for size, count in left[left > 0].items()
        ),
        f"- Versions: {versions()}.",
    ]


def _training(plan: CrossValidation) -> str:
    given = {"dimension": plan.dimension, "epochs": plan.epochs, "batches of": plan.batch_size}
    said = [f"{name} {value}" for name, value in given.items() if value is not None]
    return ", ".join([f"- Training: recipe {plan.recipe}", *said])


def _models(runs: pd.DataFrame) -> str:
    means = model_means(runs)
    return markdown_table(
        pd.DataFrame(
            {
                "model": means["model"],
                "folds": means["folds"],
                "MRR ↑": _plus_minus(means["mrr"], means["mrr_std"], 3),
                "Hits@10 ↑": _plus_minus(means["hits_at_10"], means["hits_at_10_std"], 3),
                "training, s": [f"{value:,.0f}" for value in means["training_seconds"]],
                "study, s": [f"{value:,.0f}" for value in means["study_seconds"]],
            }
        )
    )


def _pearson(coefficients: pd.DataFrame, several: bool) -> str:
    rows = coefficients[coefficients["coefficient"] == "pearson"]
    named = rows.rename(columns={"model": "run", "averaged": "value"})
    table = marked(models_table(named, tasks=tuple(_TASKS))).rename(columns={"run": "model"})
    if several:
        rows = rows.assign(text=_plus_minus(rows["mean"], rows["std"], 2))
        wide = rows.pivot_table("text", ["model", "size"], "task", "first")
        for task in table.columns[2:]:
            each = wide[task].loc[pd.MultiIndex.from_frame(table[["model", "size"]])]
            table[task] += " (" + each.to_numpy() + ")"
    return markdown_table(table.rename(columns=_TASKS | {"size": "entities"}))


def _plus_minus(means: pd.Series, deviations: pd.Series, digits: int) -> list[str]:
    pairs = zip(_numbers(means, digits), _numbers(deviations, digits), strict=True)
    return [mean if "–" in (mean, spread) else f"{mean} ± {spread}" for mean, spread in pairs]


def _numbers(values: Sequence[float] | pd.Series, digits: int) -> list[str]:
    return ["–" if value != value else f"{value:.{digits}f}".replace("-", "−") for value in values]
