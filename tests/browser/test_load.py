"""Several visitors at once, by Streamlit's protocol: pages answer, and nobody sees another's."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.support.paths import ROOT


def test_visitors_at_once(address, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    load = __import__("load")
    # The large run takes a while to load, and the other tests do not need it.
    small = {name: text for name, text in load.RUNS.items() if name.startswith("umls")}
    monkeypatch.setattr(load, "RUNS", small)
    tried = load.Load(address, sessions=8, seconds=10, think=0.5)
    with ThreadPoolExecutor(1) as own:  # the browser's tests have a loop in this thread
        found = own.submit(lambda: asyncio.run(tried.all([]))).result()
    assert not found.exceptions
    assert not found.crossed
    assert found.tabs >= 8
    assert sum(map(len, found.seconds.values())) >= 16
    for name in ("load", "visitor"):
        sys.modules.pop(name, None)


def test_a_mix_up_would_be_seen(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    load = __import__("load")
    answer = load.Answer(messages=[b"**TransE** on", b"13 entities, 20 known triples inside"])
    for run, size, crossed in (
        ("umls-transe", 13, 0),
        ("umls-transe", 14, 1),
        ("umls-rotate", 13, 1),
    ):
        found = load.Findings()
        found.take("local", answer, run, size)
        assert len(found.crossed) == crossed
