"""A small graph, and the file of a search of one trial."""

from functools import cache

import numpy as np
import pytest

from kgdash.hpo.selection import Budget, search
from tests.support.fakes import make_graph
from tests.support.small_search import plan


@pytest.fixture(scope="module")
def graph():
    generator = np.random.default_rng(5)
    triples = np.unique(generator.integers(0, [12, 3, 12], size=(170, 3)), axis=0)
    generator.shuffle(triples)
    return make_graph(triples[:100], triples[100:120], triples[120:])


@pytest.fixture(autouse=True, scope="module")
def _migrations_are_read_once():
    """Spare each study the reading of Optuna's migrations, which takes longer than a trial."""
    from alembic.script import base

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base.util, "load_python_file", cache(base.util.load_python_file))
        yield


@pytest.fixture
def file(tmp_path):
    return tmp_path / "of {this}% search?.db"


@pytest.fixture(scope="module")
def one_trial(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "x.db"
    search(graph, plan(), path, Budget(trials=1))
    return path.read_bytes()


@pytest.fixture
def study_file(one_trial, tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(one_trial)
    return path
