"""``kgdash serve``: this machine alone, or others as a file allows."""

import os
import socket

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kgdash.commands.dashboard import serve
from kgdash.errors import KgdashError
from kgdash.serving.settings import SETTING, ServerSettings, read_settings
from tests.support.servers import SECRETS, write_settings


@pytest.fixture
def started(monkeypatch) -> list[dict]:
    """Return the settings that Streamlit would be started with."""
    found: list[dict] = []
    monkeypatch.setattr(serve, "run_dashboard", found.append)
    monkeypatch.setattr(serve, "check_free", lambda settings, shown: None)
    monkeypatch.setenv(SETTING, "before")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "before")
    monkeypatch.setenv("KGDASH_MEMORY", "2GiB")  # what it says is said to this process
    return found


def test_without_a_file_only_this_machine_is_served(call, started):
    told = call("serve")
    assert "answers to localhost, 127.0.0.1, ::1\n" in told
    assert "only this machine is served" in told
    assert started[0]["server.address"] == "localhost"
    assert started[0]["server.allowedHosts"] == ("localhost", "127.0.0.1", "::1")
    assert SETTING not in os.environ
    assert os.environ["KGDASH_WORKERS"] == "1"


def test_a_proxy_here_is_known_at_either_kind_of_address(call, started, monkeypatch):
    """All strangers behind one were one network where ``address = "::"``."""
    call("serve")
    assert os.environ["FORWARDED_ALLOW_IPS"] == "before"
    monkeypatch.delenv("FORWARDED_ALLOW_IPS")
    call("serve")
    trusted = ProxyHeadersMiddleware(started, os.environ["FORWARDED_ALLOW_IPS"]).trusted_hosts
    assert all(each in trusted for each in ("127.0.0.1", "::1", "::ffff:127.0.0.1"))
    assert "::ffff:10.0.0.1" not in trusted


def test_with_a_file_others_are(call, started, tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path / "data"))
    (tmp_path / "runs").mkdir()
    text = 'address = "0.0.0.0"\nport = 8600\nroots = ["runs"]\nmemory = "3G"\nworkers = 2'
    path = write_settings(tmp_path, text, who='train = ["*"]')
    told = call("serve", path)
    assert f"opens paths below {tmp_path / 'runs'}\n" in told
    assert "asks for log-in at https://kg.example.org\n" in told
    assert "for trying" not in told
    assert "may open: ada@example.org, group:lab\nmay add: nobody\n" in told
    assert not [each for each in ("cookie_secret", "client_secret") if SECRETS[each] in told]
    assert (os.environ[SETTING], os.environ["KGDASH_MEMORY"]) == (str(path), "3G")
    assert os.environ["KGDASH_WORKERS"] == "2"
    assert started[0]["secrets.files"] == tmp_path / "secrets.toml"
    assert started[0]["server.port"] == 8600
    assert started[0]["server.trustedUserHeaders"] == "{}"
    assert not [each for each in SECRETS.values() if each in str(started[0])]
    assert (tmp_path / "data" / "visitors").stat().st_mode & 0o777 == 0o700


def test_a_cluster_is_told_to_workers_and_one_that_can_not_be_is_refused(
    call, refused, started, tmp_path, monkeypatch
):
    monkeypatch.setenv("KGDASH_CLUSTER", "before")
    (path := tmp_path / "server.toml").write_text('cluster = "tls://nodes:8786"')
    assert "has what takes long counted by tls://nodes:8786\n" in call("serve", path)
    assert os.environ["KGDASH_CLUSTER"] == "tls://nodes:8786"
    path.write_text('cluster = "nodes"')
    assert f"{path}: cluster: expected a cluster as local:N" in refused("serve", path)


def test_log_in_at_localhost_is_for_trying(call, tmp_path):
    """A server of another account's at another port had the cookie, and was who had logged in."""
    path = write_settings(tmp_path, redirect_uri="http://localhost:8501/oauth2callback")
    assert "is for trying: at localhost" in call("serve", path, "--check")


def test_check_starts_nothing(call, started, tmp_path):
    assert "may open" in call("serve", write_settings(tmp_path), "--check")
    assert not started


def test_a_bad_file_starts_nothing(refused, tmp_path):
    (tmp_path / "server.toml").write_text('hosts = ["kg.example.org"]')
    assert "hosts: expected [login], too" in refused("serve", tmp_path / "server.toml")
    assert "can not read" in refused("serve", tmp_path / "none.toml")


def test_where_nothing_can_listen_is_refused(tmp_path):
    path = tmp_path / "server.toml"
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        path.write_text(f"port = {port}")
        told = f"can not listen at localhost, port {port}: "
        with pytest.raises(KgdashError, match=f"{told}.*; change address or port in {path}"):
            serve.check_free(read_settings(path), path)
    serve.check_free(read_settings(path), path)


def test_streamlit_knows_all_that_is_set(tmp_path):
    from streamlit import config

    settings = read_settings(write_settings(tmp_path))
    for found in (serve.streamlit_settings(each) for each in (settings, ServerSettings())):
        assert not set(found) - set(config.get_config_options())
