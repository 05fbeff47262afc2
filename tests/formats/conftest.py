"""What tests of several readers take."""

from pathlib import Path

import pytest

from tests.support.pickled_models import make, save


@pytest.fixture(scope="module")
def transe(tmp_path_factory) -> Path:
    """Return a file of a small TransE."""
    return save(make("TransE"), tmp_path_factory.mktemp("models") / "trained_model.pkl")
