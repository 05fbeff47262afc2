"""No word of the verdict on confounders is stronger than the intervals."""

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.correlation.confounder_verdict import describe_partials, factor_verdict


@pytest.mark.parametrize(
    ("plain", "partial", "words"),
    [
        (
            (0.5, 0.4, 0.6),
            (0.48, 0.4, 0.6),
            "**Nearly all of what ReliK says of ranks remains without degree**",
        ),
        ((0.5, 0.4, 0.6), (0.25, 0.1, 0.4), "is degree: 50% of the correlation remains**"),
        ((0.5, 0.4, 0.6), (0.01, -0.1, 0.1), "beyond degree is not told from chance**"),
        ((0.5, 0.4, 0.6), (0.7, 0.6, 0.8), "degree hid a part of it**"),
        ((0.5, 0.4, 0.6), (-0.3, -0.4, -0.2), "turns into its opposite**"),
        ((-0.5, -0.6, -0.4), (-0.25, -0.3, -0.2), "50% of the correlation remains**"),
        ((0.1, -0.1, 0.2), (0.3, 0.2, 0.4), "**Degree hid that ReliK goes with ranks**"),
        ((0.1, -0.1, 0.2), (0.0, -0.1, 0.1), "nothing to explain**"),
        ((0.1, -0.1, 0.2), (np.nan, np.nan, np.nan), "Too little is left"),
    ],
)
def test_what_remains(plain, partial, words):
    rows = [
        dict(zip(("value", "low", "high"), values, strict=True))
        | {"controls": controls, "coefficient": "spearman", "rows": 30, "p_holm": 0.05}
        for controls, values in (("none", plain), ("degree", partial))
    ]
    said = describe_partials(pd.DataFrame(rows))
    assert words in said
    remains = partial[1] > 0 or partial[2] < 0
    assert ("what goes with degree otherwise is left" in said) == remains
    by_chance = describe_partials(pd.DataFrame(rows).assign(p_holm=0.051))
    if np.isfinite(partial[0]):
        assert "nothing to explain**" in by_chance, "the intervals alone claim nothing"
        few = describe_partials(pd.DataFrame(rows).assign(rows=29))
        assert few == "Of 29 triples or subgraphs nothing is claimed: they are too few."


NAMES = {
    "head_degree": "degree of the head",
    "tail_degree": "degree of the tail",
    "entity_degree": "mean degree of both",
    "frequency": "frequency",
}


def factor_table(*rows) -> pd.DataFrame:
    columns = ["factor", "measure", "value", "low", "high", "p_holm", "behind_low", "p_behind"]
    return pd.DataFrame(rows, columns=columns).assign(triples=30)


def test_the_factor_that_relik_goes_with_most():
    found = factor_table(
        ("head_degree", "spearman", 0.2, 0.1, 0.3, 0.01, 0.01, 0.05),
        ("frequency", "spearman", -0.4, -0.5, -0.3, 0.01, np.nan, np.nan),
        ("tail_degree", "spearman", 0.3, 0.2, 0.4, 0.06, 0.02, 0.05),
        ("entity_degree", "spearman", np.nan, np.nan, np.nan, np.nan, np.nan, np.nan),
        ("cardinality", "epsilon squared", 0.95, np.nan, np.nan, 0.001, np.nan, np.nan),
    )
    said = factor_verdict(found, NAMES)
    assert said == "ReliK falls most with the frequency: ρ -0.400 (-0.500 to -0.300)."
    assert factor_verdict(found.iloc[:1], NAMES).startswith("ReliK rises most with the degree of")
    assert "beyond chance" in factor_verdict(found.iloc[2:], NAMES)
    assert factor_verdict(found.assign(triples=29), NAMES) == "Nor is it of what ReliK goes with."


def test_most_is_said_of_the_greatest_alone():
    """Of counts the greatest that is told from 0 was said to be it, whatever the others were."""
    found = factor_table(
        ("tail_degree", "spearman", -0.255, -0.327, -0.177, 0.04, -0.02, 0.01),
        ("entity_degree", "spearman", -0.263, -0.340, -0.185, 0.07, np.nan, np.nan),
        ("frequency", "spearman", 0.1, -0.1, 0.2, 0.5, 0.03, 0.01),
    )
    assert factor_verdict(found, NAMES) == (
        "ReliK falls with the degree of the tail: ρ -0.255 (-0.327 to -0.177). Whether it goes "
        "more closely with that than with the mean degree of both (ρ -0.263), the triples do not "
        "tell."
    )
    # However far the other one is ahead: nothing is told of it.
    far = found.assign(behind_low=[0.01, np.nan, 0.03])
    assert factor_verdict(far, NAMES) == factor_verdict(found, NAMES)


def test_most_is_said_only_where_the_difference_is_told():
    found = factor_table(
        ("tail_degree", "spearman", -0.256, -0.327, -0.177, 0.01, np.nan, np.nan),
        ("entity_degree", "spearman", -0.247, -0.340, -0.185, 0.01, 0.0, 0.01),
        ("frequency", "spearman", 0.24, 0.1, 0.3, 0.5, 0.03, 0.051),
    )
    assert factor_verdict(found, NAMES).endswith(
        "than with the mean degree of both (ρ -0.247) or the frequency (ρ 0.240), the triples do "
        "not tell."
    )
    three = factor_table(
        ("tail_degree", "spearman", -0.4, -0.5, -0.3, 0.01, np.nan, np.nan),
        ("head_degree", "spearman", 0.1, -0.1, 0.2, 0.5, -0.1, 0.2),
        ("frequency", "spearman", 0.3, 0.1, 0.3, 0.5, -0.1, 0.2),
        ("entity_degree", "spearman", -0.2, -0.3, -0.1, 0.5, -0.1, 0.2),
    )
    assert (
        "than with the frequency (ρ 0.300), the mean degree of both (ρ -0.200) or the degree of "
        "the head (ρ 0.100), the triples"
    ) in factor_verdict(three, NAMES)
