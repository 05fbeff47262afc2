"""``kgdash overview``: where a run can be trusted, and where to look first."""

from __future__ import annotations

from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.terminal import say
from kgdash.progress import terminal


def overview(run: RunOptions, *, output: Output) -> None:
    """Say where a run can be trusted, with the values behind it; tables are of its communities."""
    from kgdash.statistics.estimate import with_interval
    from kgdash.studies.overview.overview import overview as of_map
    from kgdash.studies.reliability.reliability_map import reliability_map

    loaded = run.load()
    found = of_map(reliability_map(loaded, progress=terminal("overview")))
    communities = found.communities.drop(columns="id")
    if not output.as_json and output.out is None:
        for sentence in found.verdict:
            say(sentence)
        for name, value in found.values.items():
            print(f"{name:12} {with_interval(value)}  (n = {value.n:,})")
        for lead in found.leads:
            say(f"- {lead.text}")
    output.show(
        communities,
        lambda: {
            "run": loaded.name,
            **found.about(),
            "communities": communities.to_dict("records"),
            "notes": loaded.notes,
        },
    )
