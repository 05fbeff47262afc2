"""Pages run by Streamlit's AppTest, and the run to check their numbers against."""

import pytest

import kgdash
from kgdash.ui.memory import memory
from tiny_runs import save_pykeen_directory


@pytest.fixture(scope="package")
def run():
    return kgdash.load("umls-transe")


@pytest.fixture(autouse=True)
def _pages_compute_anew():
    """Pages of an earlier test must not lend their results to the next."""
    memory.clear()


@pytest.fixture(scope="package")
def pykeen_directory(tmp_path_factory):
    return save_pykeen_directory(tmp_path_factory.mktemp("pykeen") / "tiny")
