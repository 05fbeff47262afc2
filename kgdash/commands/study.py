"""The command ``study``: does the mean ReliK of subgraphs go with the performance there?"""

from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import LevelOption
from kgdash.commands.options.groups import HelpedRunOptions, Output, SubgraphOptions, TaskOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap


def study(
    run: HelpedRunOptions,
    options: SubgraphOptions,
    tasks: TaskOptions,
    compared: Annotated[
        list[str] | None,
        typer.Option("--with", help="Another run, studied on the same subgraphs; repeat."),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Print the paper's table: Pearson's r, runs × tasks.")
    ] = False,
    level: LevelOption = 0.95,
    each: Annotated[
        bool, typer.Option("--each", help="Print a row per subgraph, not the correlations.")
    ] = False,
    *,
    output: Output,
) -> None:
    """Correlate the mean ReliK of random subgraphs with the performance there."""
    from kgdash.studies.comparison.comparison import check_comparable, distinct_names
    from kgdash.studies.correlation.correlation import correlation_studies
    from kgdash.studies.correlation.models_table import models_table

    bootstrap = Bootstrap(level, seed=options.seed)
    with run.opened(*(compared or ())) as loaded:
        if compared:
            check_comparable(loaded)
        table, coefficients = correlation_studies(
            dict(zip(distinct_names(loaded), loaded, strict=True)),
            tasks.size or (),
            options.sampling(),
            tasks.evaluation(options),
            bootstrap,
            terminal("study"),
        )
    first = loaded[0]
    shown = models_table(coefficients, p="p_permutation") if paper else coefficients
    if each:
        names = [first.graph.entities[e] for e in table["seed_entity"]]
        shown = table.assign(seed_entity=names)
    if not compared:
        shown = shown.drop(columns="run")
    about: dict[str, Any] = {"run": first.name, "runs": [other.name for other in loaded]}
    about |= {"subgraphs": options.subgraphs, "sizes": coefficients["size"].unique().tolist()}
    about |= {"method": options.method, "seed": options.seed, "evaluated": options.evaluated}
    about |= {"relik_method": options.relik_method}
    about |= {"notes": [note for other in loaded for note in other.notes]}
    about["verdict"] = _verdict(coefficients)
    output.show(shown, lambda: about | records({"rows": shown}))


def _verdict(coefficients: pd.DataFrame) -> str:
    """Say of the page's first task what the page says at first."""
    from kgdash.charts.correlation import task_label
    from kgdash.studies.correlation.study_verdict import study_verdict, sweep_verdict

    task = ("tail_mrr", "pearson", task_label("tail_mrr"))
    several = [of for of in ("run", "size") if coefficients[of].nunique() > 1]
    if not several:
        return study_verdict(coefficients, *task).replace("**", "")
    mine = coefficients[coefficients["task"] == task[0]]
    of = " and ".join(f"{each}s" for each in several)
    return sweep_verdict(mine, *task[1:], of).replace("**", "")
