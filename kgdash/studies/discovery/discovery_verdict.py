"""The answer of a search for new facts, in a sentence or two."""

from collections.abc import Callable

import pandas as pd

from kgdash.graph import triple_text
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.studies.discovery.discovery import DiscoverySetting

#: from this probability on, a triple is likely
_LIKELY = 0.5


def discovery_verdict(
    run: Run,
    setting: DiscoverySetting,
    found: pd.DataFrame,
    written: Callable[[str], str] = str,
) -> str:
    """Say which new fact is best, how many are likely, and of how many relations they are.

    :param found: of `kgdash.studies.discovery.discovery.discover`
    :param written: makes a name safe for where the sentence is shown
    """
    if not len(found):
        return "There is **no triple to find** under these settings: all are known."
    first = run.graph.with_names(found.iloc[:1]).iloc[0]
    best = triple_text(*(written(str(first[part])) for part in ("head", "relation", "tail")))
    relations = found["relation"].nunique()
    count = "one relation" if relations == 1 else f"{relations:,} relations"
    alike = int((found[setting.by] == found[setting.by].iloc[0]).sum())
    which = f"are {alike:,} alike, the first" if alike > 1 else "is"
    text = f"The best of {len(found):,} new facts, of {count}, {which} **{best}**"
    if setting.by == "score":
        return f"{text}, with a score of {number(float(first['score']))}."
    text = f"{text}, with a probability of {number(float(first['probability']))}"
    if setting.types == "any":
        return (
            f"{text}. With ends of **any type** that supposes that its queries have answers, which "
            "most have not: the order is no more than a hint."
        )
    likely = int((found["probability"] >= _LIKELY).sum())
    return (
        f"{text}. **{likely:,}** of them have at least {_LIKELY:g}, if their queries have answers "
        "that are not known yet."
    )
