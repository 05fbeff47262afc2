"""What stays of sessions whose tabs are closed, in a server of the test's own process."""

import os
import subprocess
import sys
from pathlib import Path

from kgdash.runs.loading import load
from kgdash.studies.trust.competing import competing_names

#: opens pages in tabs, one after the other, lets the server forget them, and prints what is left
_TABS = """
import gc, time
from collections import Counter
from starlette.testclient import TestClient
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import get_instance
from app import app

assert gc.get_freeze_count() > 100_000

def show(tab, page):
    asked = BackMsg()
    asked.rerun_script.page_name, asked.rerun_script.query_string = page, "run=umls-transe"
    tab.send_bytes(asked.SerializeToString())
    while True:
        told = ForwardMsg.FromString(tab.receive_bytes())
        ended = told.WhichOneof("type") == "script_finished"
        if ended and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return

def count():
    found = Counter(type(one).__name__ for one in gc.get_objects())
    kinds = "AppSession SessionState ScriptRunContext MemoryFragmentStorage KnowledgeGraph Run"
    return [found[kind] for kind in kinds.split()]

with TestClient(app) as client:
    for _ in range(5):
        with client.websocket_connect("ws://localhost/_stcore/stream", ["streamlit"]) as tab:
            for page in ("overview", "inspect"):
                show(tab, page)
    forgotten = get_instance()._session_mgr._session_storage._cache
    print(*count())
    forgotten.clear()
    time.sleep(0.5)
    gc.collect()
    print(*count())
"""


def test_nothing_stays_of_closed_tabs(tmp_path):
    places = {name: str(tmp_path / name) for name in ("KGDASH_CACHE", "KGDASH_DATA")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _TABS],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **places, "KGDASH_PREPARE": "off"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    kept, left = ([int(n) for n in line.split()] for line in done.stdout.splitlines())
    assert kept[0] == 5  # Streamlit waits two minutes for them to come back
    # Streamlit's loop holds the session that it served last.
    assert max(left[:4]) <= 1, left
    # The card of Inspect asks runs that rank about as well; sessions share them.
    asked = 1 + len(competing_names(load("umls-transe")))
    assert left[4:] == [asked, asked]
