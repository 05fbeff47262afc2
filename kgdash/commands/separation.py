"""What the commands ``queries`` and ``rules`` share: scoring instances, and what comes out.

A command takes the options below by their types, e.g. ``over: OverOption = "all triples"``,
``suspicious: SuspiciousOption = None``, ``plausible: PlausibleOption = None``, and hands them on to
`compare_labels` under these names.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgdash.commands.separation_results import write_results
from kgdash.commands.shared import known_extension, print_json, write_or_print
from kgdash.errors import unknown_name
from kgdash.files.table import write_table
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.studies.instances.instances import Instances, ScoredInstances
    from kgdash.studies.instances.separation import Comparison


AggregateOption = Annotated[str, typer.Option(help="Over an instance's groundings: max or mean.")]
OverOption = Annotated[
    str, typer.Option(help='An instance is the mean over "all triples" or "answering triples".')
]
SuspiciousOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the known facts among the triples here, least ReliK first.",
        callback=known_extension,
    ),
]
PlausibleOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the triples that no split holds here, most reliable first.",
        callback=known_extension,
    ),
]


def compare_labels(
    run: Any,
    instances: Instances,
    aggregate: str,
    as_json: bool,
    out: Path | None,
    over: str = "all triples",
    suspicious: Path | None = None,
    plausible: Path | None = None,
    results: Path | None = None,
) -> None:
    """Score instances and print, or write, what tells true ones from false ones.

    :param out: file of the scored instances
    :param over: one of `kgdash.studies.instances.separation.COMPARED`
    :param suspicious: file of `kgdash.studies.instances.likely_errors.suspicious_facts`
    :param plausible: file of `kgdash.studies.instances.likely_errors.plausible_missing_triples`
    :param results: folder, see `kgdash.commands.separation_results.write_results`
    """
    from kgdash.studies.instances.instances import score_instances
    from kgdash.studies.instances.likely_errors import plausible_missing_triples, suspicious_facts
    from kgdash.studies.instances.separation import COMPARED, compare_measures, measure_column
    from kgdash.studies.rules.confidence import rule_confidence

    if over not in COMPARED:
        raise unknown_name("choice of triples", over, list(COMPARED), "kgdash")
    measure_column(COMPARED[over][0], aggregate)
    scored = score_instances(run, instances, terminal("scoring instances"))
    found = compare_measures(scored.table, COMPARED[over], aggregate, order="separation")

    def confidence() -> dict[str, float]:
        return rule_confidence(run.graph, scored.table["group"].unique())

    tables = [(out, lambda: scored.table)]
    tables.append((suspicious, lambda: suspicious_facts(run.graph, scored)))
    tables.append((plausible, lambda: plausible_missing_triples(run.graph, scored, confidence())))
    for path, table in tables:
        if path is not None and as_json:
            write_table(table(), path)  # nothing is said beside JSON
        elif path is not None:
            write_or_print(table(), path)
    if results is not None:
        write_results(run, found, aggregate, instances.notes, results)
    if as_json:
        print_json(
            {"run": run.name, "aggregate": aggregate, "over": over, "notes": instances.notes}
            | _figures(found, scored, aggregate)
        )
    elif results is None and all(path is None for path, _ in tables):
        for measure, separated in found.by_measure.items():
            print(f"# {measure}")
            write_or_print(separated, None)
        print("# differences of ROC-AUC")
        write_or_print(found.differences, None)


def _figures(found: Comparison, scored: ScoredInstances, aggregate: str) -> dict[str, Any]:
    from kgdash.studies.instances.thresholds import judged_thresholds

    return {
        "separation": {m: table.to_dict("records") for m, table in found.by_measure.items()},
        "differences": found.differences.to_dict("records"),
        "thresholds": {
            m: judged_thresholds(scored.table, m, aggregate).to_dict("records")
            for m in found.by_measure
        },
    }
