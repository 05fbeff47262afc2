"""``kgdash prepare``: counting ahead what every page of a run asks for."""

import sys

from kgdash.commands.options.groups import RunOptions
from kgdash.progress import terminal


def prepare(run: RunOptions) -> None:
    """Count ReliK of all known triples, the ranks of test, and what pages open with."""
    from kgdash.engine.workers import lowest_priority
    from kgdash.runs.preparation import prepared_share
    from kgdash.studies.overview.preparation import prepare_pages

    lowest_priority()
    loaded = run.load()
    try:
        prepare_pages(loaded, terminal(f"preparing {loaded.name}"))
    except KeyboardInterrupt:
        share = prepared_share(loaded)
        print(f"\n{share:.0%} of ReliK is kept: the same command goes on there", file=sys.stderr)
        raise
    print(f"{loaded.name}: {len(loaded.graph.all_triples):,} triples are prepared")
