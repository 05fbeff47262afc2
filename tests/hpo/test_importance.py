"""The parameter that a search's values follow has the larger share."""

from dataclasses import replace

import numpy as np
import optuna
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.hpo.importance import FEWEST, importances
from kgdash.hpo.study_file import read_study


def test_importance(study_file):
    few = read_study(study_file)
    assert not len(importances(few))
    values = np.linspace(0.1, 0.9, 2 * FEWEST)
    trials = pd.DataFrame({"state": "finished", "value": values})
    chosen = tuple({"a": value, "b": 0.5 + (-1) ** i / 4} for i, value in enumerate(values))
    uniform = optuna.distributions.FloatDistribution(0, 1)
    made = replace(few, trials=trials, chosen=chosen, parameters={"a": uniform, "b": uniform})
    shares = importances(made)
    assert list(shares.index) == ["a", "b"]
    assert shares.sum() == pytest.approx(1)
    assert shares["a"] > 0.8
    outside = replace(made, chosen=({"a": 7, "b": 0}, *chosen[1:]))
    with pytest.raises(KgdashError, match="7"):
        importances(outside)
