"""The words of pages, reports and exports, each explained once.

Whatever shows a word, a card, a heading, a column or a setting, takes its text from here by
`explained`; metrics are explained by their records.
"""

import re
from functools import lru_cache

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import find_metric, metric_records
from kgdash.ranking.terms import TERMS

_BY_NAME = {name.casefold(): term for term in TERMS for name in (term.name, *term.also)}

#: what may stand before a word without changing its meaning
_BEFORE = re.compile(r"(?:mean|median|test|measured|expected|tail|head|both|relation|plain) ")


def explained(words: str, more: str | None = None) -> str | None:
    """Return the text of a word or metric as it is shown, or None if there is nothing to say.

    :param words: a label: arrows and what follows a comma do not count, "Mean ReliK ↑" is ReliK
    :param more: what is special where it is shown; comes after
    """
    return " ".join(filter(None, (_text(words), more))) or None


@lru_cache(maxsize=4096)
def _text(words: str) -> str | None:
    name = re.sub("[↑↓]", "", words.partition(",")[0]).replace("_", " ").strip().casefold()
    while True:
        if name in _BY_NAME:
            return _BY_NAME[name].text
        if (metric := _metric(name)) is not None:
            return metric_text(metric)
        if not _BEFORE.match(name):
            return None
        name = _BEFORE.sub("", name, count=1)


def metric_text(metric: Metric) -> str:
    """Return the text of a metric: its formula, range, direction, and if size counts."""
    text = f"{metric.label}: {metric.formula}. Range {metric.value_range}"
    if not metric.arrow:
        return f"{text}."
    depends = "depends" if metric.depends_on_num_entities else "does not depend"
    better = "higher" if metric.increasing else "lower"
    return f"{text}, {better} is better, {depends} on the number of entities."


def glossary_table() -> pd.DataFrame:
    """Return all words: ``term``, ``meaning``; metrics are in the guide."""
    terms = sorted(TERMS, key=lambda term: term.name.casefold())
    return pd.DataFrame({"term": [t.name for t in terms], "meaning": [t.text for t in terms]})


def _metric(name: str) -> Metric | None:
    labels = {metric.label.casefold(): metric for metric in metric_records().values()}
    if name in labels:
        return labels[name]
    try:
        return find_metric(name)
    except KgdashError:
        return None
