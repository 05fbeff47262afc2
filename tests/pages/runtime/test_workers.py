"""Pages whose long work another process does: they show what they show without it."""

import io
import json

import numpy as np
import pytest

import kgdash
from kgdash.runs import call
from kgdash.runs.call import Call
from kgdash.ui.runtime import long_work
from kgdash.ui.runtime.line import SETTING, line
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import shared_jobs
from tests.pages.driver import cards, open_page
from tests.pages.driver import run as run_again
from tests.support.paths import EXAMPLE

RUN = "umls-transe"

PAGES = {
    "overview": {},
    "classification": {},
    "rules": {},
    "confounders": {"view": "What remains"},
    "expected_performance": {},
}

#: what takes long on them, and filled the server's threads and memory as it went nowhere
LONG = {
    "classification": {"exact_accuracy_by_relik", "classify_subgraph"},
    "confounders": {"subgraph_factors", "subgraph_partials", "cached_tests"},
    "expected_performance": {"predict_subgraphs", "subgraph_to_show"},
}


@pytest.fixture
def worker(monkeypatch):
    """Have everything that can be sent go to a worker process at its first report of progress."""
    monkeypatch.setenv(SETTING, "1")
    monkeypatch.setattr(long_work, "LONG", -1.0)
    sent = []

    def noted(write):
        def write_and_note(call):
            found = write(call)
            sent.append(call._function.__name__)
            return found

        return write_and_note

    for way in ("sent", "by_name"):
        monkeypatch.setattr(Call, way, noted(getattr(Call, way)))
    yield sent
    memory.clear()


def rows(names) -> bytes:
    return "\n".join("\t".join(row) for row in names).encode()


def handed_in(reader: str, run) -> tuple[str, dict[str, str], dict[str, tuple[str, bytes]]]:
    """Return a page, its address, and what is handed in there."""
    first, *others = run.graph.entities
    relation = run.graph.relations[0]
    if reader == "read_queries":
        head, asked_for, tail = run.graph.split("test")[0]
        asked = {
            "type": "1p",
            "anchors": [run.graph.entities[head]],
            "relations": [run.graph.relations[asked_for]],
            "hard": [run.graph.entities[tail]],
        }
        content = json.dumps(asked).encode()
        return "queries", {"queries_from": "from a file"}, {"queries_file": ("q.jsonl", content)}
    if reader == "find_rules":
        content = b"9\t9\t0.9\taffects(X,Y) <= affects(X,A), isa(Y,A)\n"
        return "rules", {"rules_from": "from a file"}, {"rule_file": ("rules.txt", content)}
    if reader == "read_negatives":
        known = run.graph.known()
        false = [
            (first, relation, each)
            for number, each in enumerate(others, start=1)
            if not known.contains(np.array([[0, 0, number]]))[0]
        ]
        files = {"valid_negatives": rows(false[::2]), "test_negatives": rows(false[1::2])}
        given = {key: (f"{key}.tsv", content) for key, content in files.items()}
        return "classification", {"negatives": "given: files"}, given
    if reader == "read_entity_types":
        types = rows((each, f"t{number % 3}") for number, each in enumerate(others))
        return "metrics", {}, {"restriction_types": ("types.tsv", types)}
    if reader == "read_entities":
        return "metrics", {}, {"entity_file": ("list.txt", "\n".join(others).encode())}
    if reader == "read_submissions":
        file, count = io.BytesIO(), len(run.graph.split("test"))
        np.save(file, np.tile(np.arange(10), (2 * count, 1)))
        return "obl2021", {"predictions": "My own arrays"}, {"arrays": ("a.npy", file.getvalue())}
    table = ("table.tsv", EXAMPLE.read_bytes())
    if reader == "table_predictions":
        return "label", {"label_source": "My own table"}, {"label_table": table}
    return "rules", {"source": "My own table"}, {"table": table}


@pytest.mark.parametrize(
    "reader",
    [
        *("read_queries", "find_rules", "read_negatives", "read_entity_types", "read_entities"),
        *("read_submissions", "table_predictions", "read_rule_table"),
    ],
)
def test_what_is_handed_in_is_read_elsewhere(reader, worker, monkeypatch):
    """Some files hold Python for seconds, or take gigabytes: of a worker, not of the server."""
    memory.clear()
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    monkeypatch.setattr(call, "_LITTLE", 0)
    page, address, files = handed_in(reader, kgdash.load(RUN))
    app = open_page(page, run=RUN, **address)
    assert reader not in worker
    for key, (name, content) in files.items():
        app.get_by_key(key).set_value((name, content, "text/plain"))
    run_again(app)
    assert reader in worker
    assert not [error.value for error in app.error]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_the_same(page, worker, monkeypatch):
    memory.clear()
    monkeypatch.setenv(SETTING, "0")
    here = open_page(page, run=RUN, **PAGES[page])
    assert not worker
    memory.clear()
    monkeypatch.setenv(SETTING, "1")
    there = open_page(page, run=RUN, **PAGES[page])
    assert worker
    for _ in range(100):  # what grows is shown before it is done
        if not any(shared.job.status == "running" for shared in shared_jobs()._jobs.values()):
            break
        there.run()
    there.run()
    assert not there.error
    assert LONG.get(page, set()) <= set(worker)
    assert cards(there) == cards(here)
    assert [frame.value.shape for frame in there.dataframe] == [
        frame.value.shape for frame in here.dataframe
    ]
    assert not line()._tickets
