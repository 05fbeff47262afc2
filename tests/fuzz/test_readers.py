"""A thousand changed files of each reader, and all that was ever found: none does harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.campaign import run_cases
from tests.fuzz.harness import run_case, scratch, warm_up
from tests.fuzz.keeping import kept_contents
from tests.fuzz.readers.every import READERS

#: what takes a browser's page per case has tests in tests/pages and tests/browser besides
CASES = dict.fromkeys(READERS, 1000) | {
    "widgets": 100,
    "pages": 0,
    "torchkge": 300,
    "openke": 300,
    "libkge": 300,
}

SEED = 13


@pytest.mark.parametrize("name", [name for name, cases in CASES.items() if cases])
def test_changed_files(name):
    outcome = run_cases(READERS[name], SEED, range(CASES[name]))
    assert outcome.kept == []
    assert outcome.cases == CASES[name]


@pytest.mark.parametrize(
    ("name", "path"),
    [pytest.param(*each, id=f"{each[0]}-{each[1].name}") for each in kept_contents()],
)
def test_what_was_found_before(name, path):
    with scratch() as folder:
        warm_up(READERS[name], folder)
        assert run_case(READERS[name], path.read_bytes(), folder) is None


@pytest.mark.parametrize("name", ["triples-tsv", "queries-json", "rules", "journals", "settings"])
@given(random=st.randoms(use_true_random=False), steps=st.integers(1, 4))
def test_changes_that_hypothesis_makes(name, random, steps):
    """Hypothesis chooses each change, so that a failing file is shown with as few as can be."""
    reader = READERS[name]
    data = random.choice(reader.seeds)
    for _ in range(steps):
        data = reader.step(data, random)
    with scratch() as folder:
        assert run_case(reader, data, folder) is None
