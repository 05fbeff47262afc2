"""A cluster of processes here: the bytes of one process, though one is killed; who is refused."""

import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.files.visitor import NOBODY, Visitor
from kgdash.formats.run_directory import MANIFEST
from kgdash.graph import IDS
from kgdash.progress import silent
from kgdash.runs import cluster, cluster_parts, worker_process
from kgdash.runs.bundled import DEMO
from kgdash.runs.call import Origin
from kgdash.runs.cluster import Cluster
from kgdash.runs.cluster_worker import do_part
from kgdash.runs.helpers import Done
from kgdash.runs.loading import load
from kgdash.runs.preparation import prepared_share
from kgdash.studies.trust import triple_table

NAME = "umls-distmult"


@pytest.fixture(scope="module")
def here():
    """Start processes once; they are what takes this file's time."""
    with pytest.MonkeyPatch.context() as patch, Cluster("local:2") as found:
        # New processes would run a page that a test before left as the main module.
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        yield found
    logging.getLogger("distributed").setLevel(logging.NOTSET)


@pytest.fixture
def run(bundled, monkeypatch):
    """Hide the tables that come with the run."""
    monkeypatch.setattr(store, "offered_table", lambda name: None)
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    return bundled(NAME)


def test_a_killed_worker_changes_no_byte(here, run, monkeypatch):
    expected = [run.ranks(), run.relik(triples=run.graph.all_triples)]
    store.clear_cache()
    assert prepared_share(run) == 0
    monkeypatch.setattr(cluster_parts, "_EACH", 20)
    client = here.client(silent)
    victim = next(iter(client.run(os.getpid).values()))
    helped, reports = here.run(run, NAME), []

    def kill_one(done, total):
        if done / total > 0.1 and not reports:
            reports.append(done)
            os.kill(victim, signal.SIGKILL)

    found = [helped.ranks(), helped.relik(triples=run.graph.all_triples, progress=kill_one)]
    assert reports
    assert victim not in client.run(os.getpid).values()
    for one, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def keys_of(client):
    """Return the settings of Dask's that say where keys are: here, the keys themselves."""
    kept = client.security
    return {
        "distributed.comm.tls.ca-file": kept.tls_ca_file,
        "distributed.comm.tls.client.key": kept.tls_client_key,
        "distributed.comm.tls.client.cert": kept.tls_client_cert,
    }


COMMANDS = {
    "metrics": ["--split", "valid"],
    "relik": ["--split", "valid"],
    "study": ["--with", "umls-transe", "--subgraphs", 6, "--size", 20, "--each"],
    "discover": ["--k", 40, "--types", "seen"],
    "trust": ["--triples", "asked.csv"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_the_same(here, run, call, tmp_path, monkeypatch, command):
    import dask

    monkeypatch.chdir(tmp_path)
    run.graph.with_names(run.ranks()[::60][IDS]).to_csv("asked.csv", index=False)
    monkeypatch.setattr(triple_table, "_PART", 5)
    client, done = here.client(silent), []
    monkeypatch.setattr(cluster, "Done", lambda *given: done.append(given) or Done(*given))
    with dask.config.set(keys_of(client)):
        for out, way in (("alone", []), ("helped", ["--cluster", client.scheduler.address])):
            assert not done
            store.clear_cache()
            call(command, NAME, *COMMANDS[command], *way, "--out", f"{out}.csv")
    assert len(done) > 2
    assert Path("helped.csv").read_bytes() == Path("alone.csv").read_bytes()


def test_a_folder_here_is_the_same_run_elsewhere(here, tmp_path, monkeypatch):
    """All were refused, as changed meanwhile: where a run was loaded from is read of it, too."""
    shutil.copytree(DEMO / NAME, tmp_path / "mine")
    manifest = json.loads((tmp_path / "mine" / MANIFEST).read_text())
    manifest["provenance"]["dataset"] = "a folder of triples"
    (tmp_path / "mine" / MANIFEST).write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    helped = here.run(load("mine"), "mine")
    monkeypatch.chdir("/")
    assert helped.helpers.origin.load().digest == helped.digest


@pytest.fixture
def origin(run):
    return Origin(NAME, None, NOBODY, run.identity)


def worker_with(address, monkeypatch):
    """Return what makes calls in a server's worker process, with a cluster that counts for it."""
    monkeypatch.setenv("KGDASH_CLUSTER", address)
    monkeypatch.setattr(worker_process, "_WAIT", 1.0)
    return worker_process._Worker(None, None)


def test_a_server_has_a_cluster_count(here, run, origin, monkeypatch):
    import dask

    client, triples, done = here.client(silent), run.graph.split("valid"), []
    expected = run.relik(triples=triples)
    store.clear_cache()
    monkeypatch.setattr(cluster, "Done", lambda *given: done.append(given) or Done(*given))
    with dask.config.set(keys_of(client)):
        helped = worker_with(client.scheduler.address, monkeypatch)._find(origin)
        found = helped.relik(triples=triples)
    helped.helpers.others.cluster.__exit__(None, None, None)
    assert done
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_server_counts_itself_while_no_cluster_answers(run, origin, monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER", 0.2)
    triples = run.graph.split("valid")
    expected = run.relik(triples=triples)
    store.clear_cache()
    helped = worker_with("tcp://127.0.0.1:9", monkeypatch)._find(origin)
    found = helped.relik(triples=triples)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("module", ["multiprocessing.py", "distributed.py"])
def test_folders_of_others_are_no_place_of_modules(module, tmp_path, monkeypatch):
    """What lay in Dask's ran as whoever called a command, and its links had any file emptied.

    So did what lay where it was called.
    """
    (tmp_path / module).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit")
    monkeypatch.chdir(tmp_path)
    theirs, precious = tmp_path / "dask-scratch-space", tmp_path / "precious.txt"
    theirs.mkdir()
    precious.write_text("mine")
    for name in ("global.lock", "purge.lock"):
        (theirs / name).symlink_to(precious)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Cluster("local:1") as found, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        client = found.client(silent)
        (there,) = client.run(_places).values()
        assert not [place for place in (*sys.path, *there) if place.startswith(str(theirs))]
        (own,) = tmp_path.glob("kgdash-*")
        assert own.stat().st_mode & 0o777 == 0o700
    assert precious.read_text() == "mine"
    assert not (tmp_path / "ran").exists()
    assert not list(tmp_path.glob("kgdash-*"))


def _places() -> list[str]:
    return list(sys.path)


def test_nobody_without_its_keys_runs_anything_on_processes_here(here, monkeypatch):
    """Other accounts of this machine reach its ports, too."""
    monkeypatch.setattr(cluster, "_ANSWER", 2.0)
    client = here.client(silent)
    places = [client.scheduler.address, *client.nthreads()]
    assert all(place.startswith("tls://") for place in places)
    for place in (places[0], places[0].replace("tls", "tcp")):
        with Cluster(place) as foreign, pytest.raises(KgdashError, match="no cluster answers at"):
            foreign.client(silent)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 7}'])
def test_a_file_that_names_no_scheduler(text, tmp_path):
    (path := tmp_path / "scheduler.json").write_text(text)
    with Cluster(str(path)) as nowhere, pytest.raises(KgdashError, match="no cluster answers"):
        nowhere.client(silent)


def test_a_run_that_the_worker_does_not_see_is_refused(here):
    origin = {"source": "nowhere", "dataset": None, "opener": Visitor(), "identity": ("a", "b")}
    asked = {"version": cluster.__version__, "origin": origin, "work": b""}
    found = here.client(silent).submit(do_part, asked).result()
    assert "unknown run 'nowhere'" in found["refused"]


def test_a_worker_of_another_version_is_refused_and_named(here, monkeypatch):
    client = here.client(silent)
    worker = sorted(client.nthreads())[0]
    monkeypatch.setattr(cluster, "__version__", "9.9")
    with pytest.raises(
        KgdashError, match=rf"^worker {worker} has kgdash .*this command kgdash 9.9"
    ):
        cluster._check_versions(client)
    refused = do_part({"version": "9.9"})["refused"]
    assert refused == f"it has kgdash {store.__version__}, and the command 9.9"


@pytest.mark.parametrize("address", ["local:0", "local:x", "local", "nowhere", "nofile.json", ""])
def test_what_is_no_cluster_is_refused(address):
    with pytest.raises(KgdashError, match="expected a cluster as local:N"):
        Cluster(address)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize("address", ["local:2", "tcp://127.0.0.1:9"])
def test_settings_that_others_may_write_are_refused(address, tmp_path, monkeypatch):
    """They named a file of Python, which was run as whoever called a command with that home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    Cluster(address)
    (tmp_path / ".config" / "dask").mkdir(parents=True)
    (tmp_path / "theirs.yaml").write_text("")
    (tmp_path / "theirs.yaml").chmod(0o666)
    (tmp_path / ".config" / "dask" / "linked.yaml").symlink_to(tmp_path / "theirs.yaml")
    with pytest.raises(KgdashError, match=r"linked\.yaml, .* set HOME"):
        Cluster(address)
    tmp_path.chmod(0o777)
    with pytest.raises(KgdashError, match=rf"{tmp_path}/.config/dask, .* set HOME to .*sudo -H"):
        Cluster(address)


def test_where_nothing_answers_it_says_so(monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER", 0.2)
    with Cluster("tcp://127.0.0.1:9") as nowhere, pytest.raises(KgdashError, match="no cluster"):
        nowhere.client(silent)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1"])
def test_an_address_is_none_of_a_file_where_a_command_is_called(address, tmp_path, monkeypatch):
    """A stranger's, of that name, led to their scheduler, whose answers are pickles."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "_ANSWER", 0.5)
    (tmp_path / address).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / address).write_text('{"address": 7}')
    with Cluster(address) as nowhere, pytest.raises(KgdashError) as refused:
        nowhere.client(silent)
    assert "TypeError" not in str(refused.value)
