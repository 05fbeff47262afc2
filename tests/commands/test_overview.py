"""The command overview says what the page says."""

import json

from kgdash.studies.overview.steps import overview_steps


def test_json_and_text(call, bundled):
    found = list(overview_steps(bundled("umls-transe")))[-1]
    told = json.loads(call("overview", "umls-transe", "--json"))
    assert told["verdict"] == list(found.verdict)
    assert told["values"]["mrr"]["n"] == 661
    assert told["communities"][0]["label"] == found.communities["label"][0]
    text = call("overview", "umls-transe")
    assert found.verdict[0].replace("**", "") in text
    assert "mrr          0.754 (0.732 to 0.776)  (n = 661)" in text


def test_a_named_width_is_of_samples(call, refused, bundled):
    *_, found = overview_steps(bundled("umls-transe"), 0.1)
    text = call("overview", "umls-transe", "--width", "0.1")
    assert f"(n = {found.count('relik')})" in text
    assert found.how in " ".join(text.split())
    told = json.loads(call("overview", "umls-transe", "--width", "0.1", "--json"))
    assert told["method"] == "sampled"
    assert told["values"]["relik"]["value"] == found.values["relik"].value
    assert told["sampled"]["relik"]["population"] == 6529
    assert told["communities"] == []
    assert "leave out --out" in refused(
        "overview", "umls-transe", "--width", "0.1", "--out", "a.csv"
    )
    assert "found 2" in refused("overview", "umls-transe", "--width", "2")
