"""The command ``answer-sets``: sets that hold the true answer as often as promised."""

from enum import StrEnum
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import LevelOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.errors import KgdashError
from kgdash.progress import terminal

#: what `answer-sets` prints or writes as a table
AnswerSetsTable = StrEnum("AnswerSetsTable", "summary groups thresholds queries")


def answer_sets(
    run: RunOptions,
    epsilon: Annotated[float, typer.Option(help="Share that may miss the true answer.")] = 0.1,
    score: Annotated[
        str,
        typer.Option(
            help="What orders candidates: rank, softmax (improbability), or adaptive (probability "
            "of all that are at least as probable)."
        ),
    ] = "softmax",
    groups: Annotated[
        str,
        typer.Option(
            help="none: one threshold; or one for each side, relation, community, or decile of "
            "degree or ReliK of the entity that a query names."
        ),
    ] = "none",
    by: Annotated[
        str | None,
        typer.Option(help="Groups that coverage is told of; as --groups. Default: the same."),
    ] = None,
    level: LevelOption = 0.95,
    table: Annotated[AnswerSetsTable, typer.Option(help="What to print.")] = (
        AnswerSetsTable.summary
    ),
    *,
    output: Output,
) -> None:
    """Make sets of answers on test that hold the true one as often as promised."""
    from kgdash.studies.probability.answer_sets import AnswerSetSetting
    from kgdash.studies.probability.answer_sets import answer_sets as compute

    setting = AnswerSetSetting(epsilon, score, groups)
    by = by or (groups if groups != "none" else None)
    if table is AnswerSetsTable.groups and by is None:
        raise KgdashError("--table groups needs --groups or --by")
    loaded = run.load()
    found = compute(loaded, setting, terminal("answer sets"))
    summary: dict[str, Any] = found.summary(level)
    summary["covgap"] = abs(summary["coverage"] - (1 - epsilon))
    tables = {"thresholds": found.thresholds, "queries": loaded.graph.with_names(found.queries)}
    if by is not None:
        tables["groups"] = found.by_groups(by, level, terminal("groups"))
        summary["covgap"] = found.coverage_gap(tables["groups"])
    tables["summary"] = pd.DataFrame([summary])

    def about() -> dict[str, Any]:
        told = {"run": loaded.name, "notes": loaded.notes, "epsilon": epsilon, "score": score}
        rest = {name: rows for name, rows in tables.items() if name in ("groups", "thresholds")}
        return (
            told | {"conditioned_on": groups, "by": by} | summary | {"groups": []} | records(rest)
        )

    output.show(tables[table], about)
