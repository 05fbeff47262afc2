"""When each filter of known triples is the right one, and when one lets test triples leak.

Filters are defined in numbers.md#1-ranks.
"""

from kgdash.graph import FILTERS

_SCENARIOS = {
    "train+valid+test": "for final values on test",
    "train+valid": "for model selection, early stopping and tuning, which must not see test",
    "train+test": "for comparison with values that did not filter valid",
    "none": "no candidate is removed: other true answers count as errors",
}


def use_case(filter: str) -> str:
    """Say in a few words what a filter is for."""
    return _SCENARIOS[filter]


def leak_warning(split: str, filter: str) -> str | None:
    """Warn where values that models are chosen by depend on test triples, else return None."""
    if split != "valid" or "test" not in FILTERS[filter]:
        return None
    return (
        f"test leaks into these figures: the filter {filter} removes candidates of valid that only "
        "test triples tell to be true; choose models by the filter train+valid"
    )
