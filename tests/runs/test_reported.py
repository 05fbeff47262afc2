"""Reported metrics beside found ones: the protocol that they were taken by is told."""

import json
from decimal import Decimal

import pytest

from kgdash.errors import KgdashError
from kgdash.ranking.metrics import metrics
from kgdash.runs.loading import load
from kgdash.runs.reported import check_reported, read_reported


@pytest.fixture(scope="module")
def run():
    return load("umls-transe")


@pytest.mark.parametrize(
    ("filter", "side", "kind", "protocol"),
    [
        ("none", "both", "realistic", "nothing filtered, both sides, realistic ranks"),
        ("train+valid+test", "tail", "realistic", "known triples filtered, tails only"),
        ("none", "head", "realistic", "nothing filtered, heads only"),
    ],
)
def test_the_protocol_is_found(run, filter, side, kind, protocol):
    table = metrics(run.ranks(filter=filter))
    keys = ("inverse_harmonic_mean_rank", "hits_at_10", "hits_at_1")
    reported = {key: round(table.value(key, side, kind), 4) for key in keys}
    found = check_reported(run, reported)
    assert found.protocol.startswith(protocol)
    assert found.findings == (f"what was reported is found by another protocol: {found.protocol}",)
    own = metrics(run.ranks())
    assert found.table["found"].tolist() == [own.value(key) for key in keys]
    assert found.table["reported"].tolist() == list(reported.values())
    assert found.table["nearest"].tolist() == pytest.approx(list(reported.values()), abs=1e-4)


def test_what_agrees_and_what_nothing_explains(run):
    mrr = metrics(run.ranks()).value("mrr")
    agreed = check_reported(run, {"inverse_harmonic_mean_rank": mrr})
    assert agreed.findings == ("what was reported is found here too",)
    other = check_reported(run, {"inverse_harmonic_mean_rank": 0.01})
    assert "no protocol gives what was reported" in other.findings[0]


@pytest.mark.parametrize("name", ["umls-complex", "umls-transe", "umls-rotate"])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_what_is_rounded_as_people_print_it_agrees(name, digits):
    """Of a run's own values with two digits, 38 of 48 were said to be another's, or nobody's."""
    run = load(name)
    own = metrics(run.ranks())
    for key in ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "arithmetic_mean_rank"):
        reported = {key: Decimal(f"{own.value(key):.{digits}f}")}
        found = check_reported(run, reported)
        assert found.findings == ("what was reported is found here too",)
        assert found.protocol == "known triples filtered, both sides, realistic ranks"
        # Two units of the last digit apart, and a tenth: not the same.
        step = Decimal(max(2 * 10.0**-digits, 0.1 * own.value(key)))
        other = {key: round(reported[key] - step, digits)}
        assert check_reported(run, other).findings[0] != found.findings[0]


def test_all_protocols_that_explain_it_are_named(run):
    tables = {kind: metrics(run.ranks(filter=kind)) for kind in ("none", "train+valid+test")}
    tails = tables["none"].value("hits_at_10", "tail")
    heads = tables["none"].value("hits_at_10", "head")
    assert (round(tails, 1), round(heads, 1)) == (0.6, 0.6)
    (said,) = check_reported(run, {"hits_at_10": Decimal("0.6")}).findings
    assert said.startswith("what was reported is found by another protocol: nothing filtered, ")
    assert "; and by: nothing filtered, " in said


def test_reading(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"MRR": 0.25, "hits@5": 0.5, "note": "x", "loss": 3.0}))
    assert read_reported([str(path)]) == {"inverse_harmonic_mean_rank": 0.25, "hits_at_5": 0.5}
    found = read_reported(["mrr=0.3", "mean rank=12"])
    assert found["inverse_harmonic_mean_rank"] == Decimal("0.3")
    assert read_reported([]) == {}
    for given in (["mrr=0.3", "MRR=0.30"], ["mrr=0.30", "MRR=0.3"]):
        assert [str(value) for value in read_reported(given).values()] == ["0.30"]


@pytest.mark.parametrize(
    ("given", "agrees"),
    [
        # MRR 0.7541, Hits@1 0.6006, Hits@10 0.9720, mean rank 2.34, AMRI 0.9767
        *[("mrr=0.8", True), ("mrr=0.80", False), ("mrr=0.75", True), ("mrr=0.750", False)],
        *[("mrr=1.0", False), ("mrr=1", False), ("hits@1=1.0", False), ("hits@1=0", False)],
        *[("hits@1=0.0", False), ("hits@10=1.0", True), ("hits@10=1", False)],
        *[("mrr=0.75000", False), ("mrr=0.75414", True), ("hits@10=0.97000", False)],
        *[("mrr=1.00000", False), ("hits@1=0.00000", False), ("mr=2.34000", True)],
        *[("mr=2.00000", False), ("hits@1=1e-99999999", False)],
        *[("mrr=7.5e-1", True), ("mrr=7.54e-1", True), ("hits@1=0e9", False)],
        *[("amri=1", False), ("amri=1.0", True), ("mean rank=2", True), ("mean rank=3", False)],
        *[("mean rank=2.0", False), ("mean rank=2.3", True), ("mean rank=1e1", False)],
    ],
)
def test_a_value_is_met_as_far_as_its_text_has_digits(run, given, agrees):
    """Zeros at the end were dropped, so that a Hits@1 of 1.0 or 0 was found wherever it was."""
    said = check_reported(run, read_reported([given])).findings[0]
    assert (said == "what was reported is found here too") == agrees


@pytest.mark.parametrize(
    ("content", "agrees"),
    [
        *[('{"mrr": 0.8}', False), ('{"mrr": 0.75}', True), ('{"mrr": 0.754}', True)],
        *[('{"mrr": "0.8"}', True), ('{"mrr": "0.80"}', False), ('{"mrr": 1.0}', False)],
        *[('{"hits@1": 0.0}', False), ('{"hits@1": 0.6}', True), ('{"mr": 2.0}', True)],
    ],
)
def test_numbers_of_a_file_may_have_lost_their_zeros(run, content, agrees, tmp_path):
    (tmp_path / "m.json").write_text(content)
    reported = read_reported([str(tmp_path / "m.json")])
    said = check_reported(run, reported).findings[0]
    assert (said == "what was reported is found here too") == agrees


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mrr=31", "Give shares, as 0.31"),
        ("mrr=x", "expected a number; found 'x'"),
        ("mr=1e999", "mr lies in .* found inf"),
        ("mrr=1e-99999999999999999999", "expected a number; found '1e-9"),
        ("mrrr=0.1", "unknown metric 'mrrr'"),
        ("nowhere.json", "give a JSON file, or mrr=0.31"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(KgdashError, match=message):
        read_reported([given])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "an object of metrics"),
        ('{"a": 1}', "found none"),
        ('{"mrr": 0.3, "hits@10": 25.0}', "hits@10 lies in .* found 25. Give shares"),
        ('{"mrr": "0,3"}', "expected a number; found '0,3'"),
        ('{"mrr": 0.3, "MRR": 0.4}', "MRR: 0.4, and 0.3 before"),
    ],
)
def test_files_that_are_refused(content, message, tmp_path):
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(KgdashError, match=message):
        read_reported([str(tmp_path / "m.json")])


def test_more_metrics_than_anybody_reports(tmp_path):
    # Of 7 MB they took minutes, which nothing told.
    path = tmp_path / "m.json"
    path.write_text(json.dumps({f"hits_at_{k}": 0.1 for k in range(1, 1_002)}))
    with pytest.raises(KgdashError, match="1,001 metrics; expected at most 1,000"):
        read_reported([str(path)])


def test_a_file_of_lists(tmp_path):
    path = tmp_path / "m.json"
    path.write_text('{"mrr": 0.3, "a": [' + "[]," * 2**19 + "0]}")
    with pytest.raises(KgdashError, match="more than 262,144 objects, lists or numbers"):
        read_reported([str(path)])
