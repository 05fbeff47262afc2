"""The command overview says what the page says."""

import json

from kgdash.studies.overview.overview import overview_steps


def test_json_and_text(call, bundled):
    found = list(overview_steps(bundled("umls-transe")))[-1]
    told = json.loads(call("overview", "umls-transe", "--json"))
    assert told["verdict"] == list(found.verdict)
    assert told["values"]["mrr"]["n"] == 661
    assert told["communities"][0]["label"] == found.communities["label"][0]
    text = call("overview", "umls-transe")
    assert found.verdict[0].replace("**", "") in text
    assert "mrr          0.754 (0.732 to 0.776)  (n = 661)" in text
