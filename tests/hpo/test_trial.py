"""A trial counts by the best of its checks, and is pruned below the median."""

import pytest

from kgdash.hpo import trial as search_trial
from kgdash.hpo.selection import Budget, best_configuration, search
from tests.support.small_search import plan


class TestChecks:
    VALUES = [0.2, 0.5, 0.5, 0.4, 0.9, 0.1]

    def scripted(self, monkeypatch, values):
        asked = iter(values)
        monkeypatch.setattr(search_trial, "validation_mrr", lambda *_: next(asked))

    @pytest.mark.parametrize(
        ("how", "epochs", "values", "best"),
        [
            ({"check_every": 1}, 6, VALUES, [0.9, 5]),
            ({"check_every": 2}, 5, [0.3, 0.2, 0.4], [0.4, 5]),  # and at the end
            ({"check_every": 1, "patience": 2}, 6, VALUES, [0.5, 2]),
        ],
    )
    def test_the_best_of_the_checks_counts(
        self, graph, file, monkeypatch, how, epochs, values, best
    ):
        self.scripted(monkeypatch, values)
        many = plan(**how, values={"training.num_epochs": epochs})
        study = search(graph, many, file, Budget(trials=1))
        assert study.trials["state"].tolist() == ["finished"]
        assert study.trials[["value", "epochs"]].to_numpy().tolist() == [best]
        assert best_configuration(study, many.space).epochs == best[1]

    def test_pruned_below_the_median(self, graph, file, monkeypatch):
        # The last trial falls below at its end, where there is nothing left to save.
        self.scripted(monkeypatch, [0.5, 0.6] * 5 + [0.4] + [0.55, 0.1])
        study = search(graph, plan(check_every=1, prune=True), file, Budget(trials=7))
        assert study.trials["state"].tolist() == ["finished"] * 5 + ["pruned", "finished"]
        assert study.trials["value"].tolist() == [0.6] * 5 + [0.4, 0.55]
        assert study.counted == 7
        assert study.best == 0
