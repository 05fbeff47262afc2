"""``kgdash overview``: where a run can be trusted, and where to look first."""

from __future__ import annotations

from kgdash.commands.options.common import WidthOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.terminal import say
from kgdash.errors import KgdashError
from kgdash.progress import terminal


def overview(run: RunOptions, width: WidthOption = None, *, output: Output) -> None:
    """Say where a run can be trusted, with the values behind it; tables are of its communities.

    Of a graph so large that this would take hours, the values are of samples.
    """
    from kgdash.runs.preparation import is_counted_unasked
    from kgdash.statistics.estimate import with_interval
    from kgdash.studies.overview.steps import overview_steps

    loaded = run.load()
    if output.out is not None and (width is not None or not is_counted_unasked(loaded)):
        raise KgdashError(
            "the table of communities is made of the ReliK of all triples (kgdash prepare), not of "
            "samples: leave out --out"
        )
    *_, found = overview_steps(loaded, width, terminal("overview"))
    communities = found.communities.drop(columns="id", errors="ignore")
    if not output.as_json and output.out is None:
        for sentence in found.verdict:
            say(sentence)
        for name, value in found.values.items():
            print(f"{name:12} {with_interval(value)}  (n = {found.count(name)})")
        for lead in found.leads:
            say(f"- {lead.text}")
        say(found.how)
    if communities.empty and not output.as_json:
        return
    output.show(
        communities,
        lambda: {
            "run": loaded.name,
            **found.about(),
            "communities": communities.to_dict("records"),
            "notes": loaded.notes,
        },
    )
