"""The command ``agreement``: do runs that rank equally well give the same answers?"""

from enum import StrEnum
from typing import Annotated, Any

import typer

from kgdash.commands.options.common import FilterOption, LevelOption, SeedOption, SplitOption
from kgdash.commands.options.groups import Output, RunsOptions
from kgdash.commands.options.output import records
from kgdash.errors import KgdashError
from kgdash.progress import terminal

#: what `agreement` prints or writes as a table
AgreementTable = StrEnum("AgreementTable", "summary runs groups foreseen queries")


def agreement(
    runs: RunsOptions,
    k: Annotated[int, typer.Option(help="An answer up to this rank is a hit, 1 to 100.")] = 1,
    margin: Annotated[
        float, typer.Option(help="By which part of the best MRR a run may fall short, 0 to 1.")
    ] = 0.05,
    split: SplitOption = "test",
    filter: FilterOption = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Groups of queries: side, relation, community, or decile of degree or ReliK of "
            "the entity that a query names."
        ),
    ] = None,
    level: LevelOption = 0.95,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.")] = 1000,
    seed: SeedOption = 0,
    table: Annotated[AgreementTable, typer.Option(help="What to print.")] = AgreementTable.summary,
    *,
    output: Output,
) -> None:
    """Tell where runs that rank about equally well disagree, and whether votes among them help."""
    from dataclasses import asdict

    import pandas as pd

    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.studies.agreement.agreement import AgreementSetting, as_plain
    from kgdash.studies.agreement.agreement import agreement as compare
    from kgdash.studies.agreement.agreement_report import (
        agreement_by,
        agreement_summary,
        discrepancies,
        foreseen_conflicts,
    )
    from kgdash.studies.agreement.agreement_verdict import agreement_verdict

    setting, bootstrap = (
        AgreementSetting(k, margin, split, filter),
        Bootstrap(level, resamples, seed),
    )
    if table is AgreementTable.groups and by is None:
        raise KgdashError("--table groups needs --by")
    found = compare(runs.load(), setting, terminal("answers of all runs"))
    summary = agreement_summary(found, bootstrap, terminal("intervals"))
    graph = found.runs[found.best].graph
    tables = {
        "summary": pd.DataFrame(
            [{"measure": name} | asdict(each) for name, each in summary.items()]
        ),
        "runs": discrepancies(found),
        "queries": graph.with_names(found.queries),
    }
    if by is not None:
        tables["groups"] = agreement_by(found, by, level, terminal("groups"))
    if output.as_json or table is AgreementTable.foreseen:
        tables["foreseen"] = foreseen_conflicts(found, bootstrap, terminal("ReliK"))

    def about() -> dict[str, Any]:
        told: dict[str, Any] = {"verdict": agreement_verdict(found, summary).replace("**", "")}
        told |= {"best": found.best, **as_plain(setting), "by": by}
        values = {name: asdict(each) for name, each in summary.items()}
        rest = {name: rows for name, rows in tables.items() if name not in ("summary", "queries")}
        return told | {"measures": values, "groups": []} | records(rest)

    output.show(tables[table], about)
