"""The command ``predict-performance``: what performance is expected where ReliK is so high?"""

from enum import StrEnum
from typing import Annotated

import typer

from kgdash.commands.options.common import LevelOption
from kgdash.commands.options.groups import Output, RunOptions, SubgraphOptions
from kgdash.commands.options.output import records
from kgdash.errors import KgdashError
from kgdash.progress import terminal

#: what `predict_performance` prints or writes as a table
PredictionTable = StrEnum("PredictionTable", "expected errors coverage points")


def predict_performance(
    run: RunOptions,
    options: SubgraphOptions,
    task: Annotated[
        str, typer.Option(help="Column of study --each: tail_mrr, relation_mrr, accuracy, …")
    ] = "tail_mrr",
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Predict the subgraph around this entity; repeat for several."),
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="Entities in each. Default: by the graph.")
    ] = None,
    level: LevelOption = 0.9,
    table: Annotated[
        PredictionTable | None,
        typer.Option(
            help="expected of each --entity; errors and coverage on subgraphs not learnt from; "
            "points: every subgraph. Default: expected if there is an --entity, else errors."
        ),
    ] = None,
    *,
    output: Output,
) -> None:
    """Predict the performance in unseen subgraphs from their ReliK, with an interval."""
    from kgdash.charts.correlation import task_label
    from kgdash.studies.correlation.performance_prediction import (
        predict_performance_of_run,
        predict_subgraphs,
    )
    from kgdash.studies.correlation.prediction_verdict import prediction_verdict
    from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
    from kgdash.studies.reliability.subgraph_table import default_size

    shown = table or (PredictionTable.expected if entity else PredictionTable.errors)
    if shown == PredictionTable.expected and not entity:
        raise KgdashError("--table expected needs at least one --entity")
    loaded = run.load()
    sampling = options.sampling(default_size(loaded) if size is None else size)
    evaluation = SubgraphEvaluation(options.evaluated, options.relik_method, options.filter_used)
    # Before all that takes long, so that an unknown entity is refused at once.
    parts = [sampling.pick(loaded.graph, loaded.graph.entity_id(name)) for name in entity or ()]
    progress = terminal("subgraphs")
    prediction, learnt = predict_performance_of_run(
        loaded, task, sampling, evaluation, level, progress
    )
    tables = {"errors": prediction.errors, "coverage": prediction.coverage}
    tables["points"] = prediction.points.drop(columns="row")
    if parts:
        tables["expected"] = predict_subgraphs(loaded, prediction, learnt, parts, evaluation)
    for name in ("points", "expected"):
        if name in tables:
            names = [loaded.graph.entities[e] for e in tables[name]["seed_entity"]]
            tables[name] = tables[name].assign(seed_entity=names)
    about = {"run": loaded.name, "task": task, "level": level, "subgraphs": sampling.count}
    about |= {"left_out": prediction.left_out, "size": sampling.size, "method": sampling.method}
    about |= {"seed": sampling.seed, "evaluated": evaluation.evaluated}
    about |= {"verdict": prediction_verdict(prediction, task_label(task)).replace("**", "")}
    about |= {"relik_method": evaluation.relik_method, "notes": loaded.notes}
    output.show(tables[shown], lambda: about | records(tables))
