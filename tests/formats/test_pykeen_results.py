"""What is kept of PyKEEN's results.json, and what is not believed."""

import json

import pytest

from kgdash.errors import KgdashError
from kgdash.formats.pykeen_results import recorded_evaluation, training_record

KEPT = ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")


def nested(values: object) -> dict:
    return {"metrics": {"both": {"realistic": values}, "head": {}, "tail": {}}}


def test_losses_and_the_evaluation_on_test(pykeen_directory):
    results = json.loads((pykeen_directory / "results.json").read_text())
    recorded = results["metrics"]["both"]["realistic"]
    assert training_record(pykeen_directory) == {
        "losses": results["losses"],
        "pykeen_evaluation": {key: recorded[key] for key in KEPT},
    }


@pytest.mark.parametrize(
    ("size", "reason"), [(2**28 + 1, "it is larger than 256 MiB"), (0, "line")]
)
def test_what_can_not_be_read_says_why_and_the_cure(tmp_path, size, reason):
    with (tmp_path / "results.json").open("wb") as stream:
        stream.truncate(size)
    with pytest.raises(KgdashError, match=rf"not readable JSON \(.*{reason}.*; remove it to load"):
        training_record(tmp_path)


@pytest.mark.parametrize(
    "results",
    [
        None,
        [],
        {"metrics": 3},
        {"metrics": {"both": [1]}},
        nested({KEPT[0]: 0.5}),
        *(
            nested(dict.fromkeys(KEPT, 0.5) | {KEPT[0]: odd})
            for odd in (1.5, -0.1, float("nan"), float("inf"), True, "0.5", None, 10**400)
        ),
    ],
)
def test_an_evaluation_that_is_none_is_left_out(results):
    assert recorded_evaluation(nested(dict.fromkeys(KEPT, 0.5)))
    assert recorded_evaluation(results) == {}


@pytest.mark.parametrize("losses", ["[1e0, " + "9" * 400 + "]", "[true]", "3", '["1"]'])
def test_losses_that_are_none_are_left_out(tmp_path, losses):
    (tmp_path / "results.json").write_text(f'{{"losses": {losses}}}')
    assert training_record(tmp_path) == {}
