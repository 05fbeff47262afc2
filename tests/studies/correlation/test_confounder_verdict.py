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


def factor_table(*rows) -> pd.DataFrame:
    columns = ["factor", "measure", "value", "low", "high", "p_holm"]
    return pd.DataFrame(rows, columns=columns).assign(triples=30)


def test_the_factor_that_relik_goes_with_most():
    names = {"head_degree": "degree of the head", "frequency": "frequency"}
    found = factor_table(
        ("head_degree", "spearman", 0.2, 0.1, 0.3, 0.01),
        ("frequency", "spearman", -0.4, -0.5, -0.3, 0.01),
        ("tail_degree", "spearman", 0.9, 0.8, 1.0, 0.06),
        ("entity_degree", "spearman", 0.8, -0.1, 1.0, 0.01),
        ("cardinality", "epsilon squared", 0.95, np.nan, np.nan, 0.001),
    )
    said = factor_verdict(found, names)
    assert said == "ReliK falls most with the frequency: ρ -0.400 (-0.500 to -0.300)."
    assert factor_verdict(found.iloc[:1], names).startswith("ReliK rises most with the degree of")
    assert "beyond chance" in factor_verdict(found.iloc[2:], names)
    assert factor_verdict(found.assign(triples=29), names) == "Nor is it of what ReliK goes with."
