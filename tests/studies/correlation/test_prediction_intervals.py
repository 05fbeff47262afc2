"""The line and its intervals: against statsmodels, the definition, and their coverage."""

import numpy as np
import pytest

from kgdash.studies.correlation.prediction_intervals import Sample, cv_plus, fit_line, fit_mean


def drawn(rng, count, between=0.05, within=0.25):
    """Draw subgraphs on a line, with scatter by the number of triples."""
    x, n = rng.uniform(-4, -1, count), rng.integers(2, 60, count).astype(float)
    y = 0.8 + 0.15 * x + rng.normal(size=count) * np.sqrt(between**2 + within**2 / n)
    return Sample(x, y, n)


def test_the_line_and_the_scatter_are_found():
    found = fit_line(drawn(np.random.default_rng(0), 4000))
    x = np.array([-4.0, -2.5, -1.0])
    assert found.curve(x) == pytest.approx(0.8 + 0.15 * x, abs=0.01)
    assert found.between == pytest.approx(0.05**2, rel=0.3)
    assert found.within == pytest.approx(0.25**2, rel=0.15)
    expected = np.sqrt(found.between + found.within / 9)
    assert found.deviation(np.array([9]))[0] == pytest.approx(expected)


def test_weights():
    """The line is statsmodels' for the weights that the first scatter gives."""
    from statsmodels.regression.linear_model import OLS, WLS

    sample = drawn(np.random.default_rng(1), 50, within=0.6)
    design = np.column_stack([np.ones(50), sample.x])
    squares = OLS(sample.y, design).fit().resid ** 2 * 50 / 48
    between, within = np.linalg.lstsq(
        np.column_stack([np.ones(50), 1 / sample.n]), squares, rcond=None
    )[0]
    assert min(between, within) > 0
    theirs = WLS(sample.y, design, weights=1 / (between + within / sample.n)).fit().params
    x = np.array([-3.0, -1.5])
    assert fit_line(sample).curve(x) == pytest.approx(theirs[0] + theirs[1] * x)


def test_the_mean_and_the_ends_of_the_line():
    sample = drawn(np.random.default_rng(2), 30)
    mean = fit_mean(sample).curve(np.array([-4.0, 0.0]))
    assert mean[0] == mean[1] == pytest.approx(sample.y.mean(), abs=0.05)
    flat = Sample(np.full(4, -2.0), np.array([0.1, 0.2, 0.3, 0.2]), np.full(4, 5.0))
    assert fit_line(flat).curve(np.array([-9.0])) == pytest.approx([0.2])
    assert fit_line(sample).curve(np.array([-99.0, 99.0])).tolist() == [0.0, 1.0]


def test_cv_plus_by_its_definition():
    """Equation 14 of Barber et al. 2021, with one subgraph a fold and the scatter's scale."""
    sample = drawn(np.random.default_rng(4), 9)
    x, n, level = np.array([-2.0, -3.0]), np.array([4.0, 30.0]), 0.7
    found = cv_plus(sample, x, n, (level,), seed=5)[0]
    for column in range(2):
        lows, highs = [], []
        for i in range(9):
            rest = fit_line(sample.part(np.arange(9) != i))
            one = sample.part(np.array([i]))
            score = abs(one.y - rest.curve(one.x)) / rest.deviation(one.n)
            wide = score * rest.deviation(n[[column]])
            middle = rest.curve(x[[column]])
            lows.append(float((middle - wide)[0]))
            highs.append(float((middle + wide)[0]))
        # The ⌊(1 − level)(m + 1)⌋-th and the ⌈level (m + 1)⌉-th smallest.
        expected = [sorted(lows)[3 - 1], sorted(highs)[7 - 1]]
        assert found[column] == pytest.approx(np.clip(expected, 0, 1))


def test_coverage():
    """Of new subgraphs, as many are inside as the level says (binomial, 0.1%)."""
    rng, hits, tries, levels = np.random.default_rng(6), np.zeros(2), 60, (0.8, 0.9)
    for seed in range(tries):
        new = drawn(rng, 10)
        ends = cv_plus(drawn(rng, 50), new.x, new.n, levels, seed)
        hits += ((ends[..., 0] <= new.y) & (new.y <= ends[..., 1])).sum(axis=1)
        assert (ends[0, :, 0] >= ends[1, :, 0]).all()
        assert (ends[0, :, 1] <= ends[1, :, 1]).all()
    # The ten of one fit go together: 0.05 is beyond what chance does to 600 of them.
    assert hits / (10 * tries) == pytest.approx(levels, abs=0.05)


def test_few_subgraphs_promise_nothing_at_high_levels():
    sample = drawn(np.random.default_rng(7), 12)
    ends = cv_plus(sample, np.array([-2.0]), np.array([5.0]), (0.5, 0.99))
    assert ends[1, 0].tolist() == [0.0, 1.0]
    assert 0 < ends[0, 0, 0] < ends[0, 0, 1] < 1
