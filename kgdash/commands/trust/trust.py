"""The command ``trust``: how far each triple of a file can be trusted."""

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.options.common import known_extension
from kgdash.commands.options.groups import HelpedRunOptions
from kgdash.progress import terminal


def trust(
    run: HelpedRunOptions,
    triples: Annotated[
        Path, typer.Option(help="Triples to judge: TSV or CSV of head, relation, tail; or .gz.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Write the table here (.csv, .tsv or .parquet).", callback=known_extension
        ),
    ],
    side: Annotated[str, typer.Option(help="Open side of the queries: tail or head.")] = "tail",
) -> None:
    """Say of each triple of a file how far it can be trusted: probability, answer set, ReliK."""
    from kgdash.files.table import write_tables
    from kgdash.studies.trust.basis import card_basis
    from kgdash.studies.trust.triple_table import trust_tables

    with run.opened() as (loaded,):
        basis = card_basis(loaded, terminal("what trust rests on"))
        rows = write_tables(trust_tables(basis, triples, side, terminal("triples")), out)
    print(f"wrote {rows:,} rows to {out}")
