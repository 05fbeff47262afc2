"""The command ``classify``: triple classification, globally and in a subgraph."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import (
    DirectionOption,
    HopsOption,
    LevelOption,
    RestartOption,
    SeedOption,
    SubgraphMethodOption,
)
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.commands.options.terminal import tell_notes
from kgdash.errors import KgdashError
from kgdash.progress import terminal

#: what `classify` prints or writes as a table
ClassifyTable = StrEnum(
    "ClassifyTable",
    "figures relations roc pr histogram calibration calibration_errors scores relik local",
)


def classify(
    run: RunOptions,
    negatives: Annotated[
        str,
        typer.Option(
            help="corrupted: an end is replaced by any entity; relation: by one that the relation "
            "has there, which is harder; given: files."
        ),
    ] = "corrupted",
    valid_negatives: Annotated[
        Path | None, typer.Option(help="False triples for validation, TSV or CSV, plain or .gz.")
    ] = None,
    test_negatives: Annotated[Path | None, typer.Option(help="The same for test.")] = None,
    thresholds: Annotated[str, typer.Option(help="global, or relation: one each.")] = "global",
    seed: SeedOption = 0,
    level: LevelOption = 0.95,
    table: Annotated[
        ClassifyTable,
        typer.Option(
            help="figures; the same of all relations; ROC and precision-recall curve; histogram of "
            "the scores; calibration and its errors; scores of all triples; relik: accuracy by "
            "ReliK; local: values of the subgraph around --entity."
        ),
    ] = ClassifyTable.figures,
    entity: Annotated[str | None, typer.Option(help="Seed entity of a subgraph.")] = None,
    method: SubgraphMethodOption = "rwr",
    size: Annotated[int, typer.Option(help="Entities of the subgraph.")] = 60,
    restart: RestartOption = 0.2,
    walk_seed: Annotated[int, typer.Option(help="Of the walk, ≥ 0.")] = 0,
    hops: HopsOption = 1,
    direction: DirectionOption = "either",
    evaluated: Annotated[str, typer.Option(help="True triples inside: test or all.")] = "test",
    corrupt: Annotated[
        str, typer.Option(help="New ends of local negatives: inside or anywhere.")
    ] = "inside",
    relik_method: Annotated[str, typer.Option(help="Local; as --method of relik.")] = "exact",
    *,
    output: Output,
) -> None:
    """Tell true from false triples by a threshold on the score, chosen on validation."""
    from kgdash.studies.classification.accuracy_by_relik import exact_accuracy_by_relik
    from kgdash.studies.classification.calibration import NOISE
    from kgdash.studies.classification.classification import ClassificationSetting
    from kgdash.studies.classification.classification import classify as compute
    from kgdash.studies.reliability.subgraph_classification import classify_subgraph

    if table is ClassifyTable.local and entity is None:
        raise KgdashError("--table local needs the subgraph's --entity")
    if entity is not None and table is not ClassifyTable.local and not output.as_json:
        raise KgdashError("--entity is of the subgraph: add --table local, or --json for all")
    setting = ClassificationSetting(negatives, thresholds, seed, level)
    loaded = run.load()
    given = _given(loaded, negatives, valid_negatives, test_negatives)
    found = compute(loaded, setting, given, terminal("classification"))
    notes = [*found.notes, *([NOISE] if table is ClassifyTable.calibration_errors else [])]
    tell_notes(() if output.as_json else notes)
    tables: dict[str, pd.DataFrame] = found.tables()
    about: dict[str, Any] = found.about()
    if table is ClassifyTable.relik:
        tables["relik"] = exact_accuracy_by_relik(found, terminal("ReliK"))
    if entity is not None:
        part = loaded.subgraph(
            entity, method, size, restart=restart, seed=walk_seed, hops=hops, direction=direction
        )
        local = classify_subgraph(found, part, evaluated, corrupt, relik_method, terminal("ReliK"))
        tables["local"] = local.metrics
        about["local"] = local.summary()
    shown = {name: rows for name, rows in tables.items() if name not in ("scores", "local")}
    output.show(tables[table], lambda: about | records(shown))


def _given(run: Any, negatives: str, valid: Path | None, test: Path | None) -> Any:
    """Read the files of negatives, if they are named."""
    from kgdash.studies.classification.given_negatives import read_negatives

    if valid is None and test is None:
        return None
    if valid is None or test is None or negatives != "given":
        raise KgdashError(
            "files of negatives need --negatives given and both --valid-negatives and "
            "--test-negatives: the threshold is chosen on the one, and tested on the other"
        )
    return read_negatives({"valid": valid, "test": test}, run.graph)
