"""Which parameters of a search mattered: Optuna's PED-ANOVA over its finished trials."""

import warnings

import optuna
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.hpo.study_file import StudyFile

#: finished trials below which an importance says nothing
FEWEST = 10


def importances(study: StudyFile) -> pd.Series:
    """Estimate how much of a good value each parameter decides (PED-ANOVA, Watanabe et al. 2023).

    :return: parameter → share in [0, 1], largest first, sum 1; empty with fewer than 10 finished
        trials
    :raises KgdashError: if a trial holds a value that its range does not
    """
    finished = study.trials.index[study.trials["state"] == "finished"]
    if len(finished) < FEWEST:
        return pd.Series(dtype="float64", name="importance")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trials = [
                optuna.trial.create_trial(
                    params=dict(study.chosen[row]),
                    distributions={name: study.parameters[name] for name in study.chosen[row]},
                    value=float(study.trials["value"][row]),
                )
                for row in finished
            ]
        except ValueError as error:
            raise KgdashError(f"{study.path}: {error}") from error
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        copy = optuna.create_study(direction="maximize")
        optuna.logging.set_verbosity(before)
        copy.add_trials(trials)
        found = optuna.importance.get_param_importances(copy)
    shares = pd.Series(found, name="importance", dtype="float64")
    return shares.sort_values(ascending=False, kind="stable")
