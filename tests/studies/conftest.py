"""The run that most studies are tried on."""

import pytest


@pytest.fixture(scope="session")
def umls(bundled):
    return bundled("umls-distmult")
