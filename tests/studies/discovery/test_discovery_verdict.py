"""The sentence about new facts."""

from kgdash.studies.discovery.discovery import DiscoverySetting
from kgdash.studies.discovery.discovery_verdict import discovery_verdict


def test_by_probability(bundled):
    run = bundled("umls-complex")
    found = run.discover(30, types="seen")
    said = discovery_verdict(run, DiscoverySetting(30, types="seen"), found)
    first = run.graph.with_names(found).iloc[0]
    assert f"**{first['head']} — {first['relation']} → {first['tail']}**" in said
    assert f"**{(found['probability'] >= 0.5).sum()}** of them have" in said
    assert f"{found['relation'].nunique()} relations" in said
    assert said.endswith("if their queries have answers that are not known yet.")


def test_of_any_type_nothing_is_likely(bundled):
    """Of 42 triples told 0.96, none was in test."""
    run = bundled("umls-complex")
    said = discovery_verdict(run, DiscoverySetting(30), run.discover(30))
    assert "supposes that its queries have answers" in said
    assert "at least 0.5" not in said


def test_by_score_of_one_relation(bundled):
    run = bundled("umls-complex")
    setting = DiscoverySetting(3, "score", relations=("affects",))
    said = discovery_verdict(run, setting, run.discover(3, "score", relations=("affects",)), repr)
    assert "of one relation" in said
    assert "with a score of" in said
    assert "'affects'" in said


def test_of_equal_ones_none_is_the_best(bundled):
    run = bundled("umls-complex")
    found = run.discover(3, "score").assign(score=[2.0, 2.0, 1.0])
    said = discovery_verdict(run, DiscoverySetting(3, "score"), found)
    assert said.startswith("The best of 3 new facts, of ")
    assert ", are 2 alike, the first **" in said


def test_nothing(bundled):
    run = bundled("umls-complex")
    assert "no triple to find" in discovery_verdict(
        run, DiscoverySetting(3), run.discover(3).iloc[:0]
    )
