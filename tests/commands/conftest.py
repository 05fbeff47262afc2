"""A run that commands did not load: what the library counts of it is asked anew."""

import pytest

import kgdash


@pytest.fixture(scope="session")
def run():
    return kgdash.load("umls-transe")
