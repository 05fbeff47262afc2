"""The secrets of log-in: only from a file of the owner's, never in a message."""

import pytest

from kgdash.errors import KgdashError
from kgdash.serving.secrets import read_secrets, read_token
from tests.support.servers import SECRETS, write_secrets


def test_what_is_taken_of_them(tmp_path):
    found = read_secrets(write_secrets(tmp_path / "s.toml"))
    assert (found.host, found.origin) == ("kg.example.org", "https://kg.example.org")
    assert found.is_encrypted
    assert not [each for each in ("cookie_secret", "client_secret") if SECRETS[each] in repr(found)]


def test_a_port_belongs_to_the_origin(tmp_path):
    redirect = "http://localhost:8501/oauth2callback"
    found = read_secrets(write_secrets(tmp_path / "s.toml", redirect_uri=redirect))
    assert (found.host, found.origin) == ("localhost", "http://localhost:8501")
    assert not found.is_encrypted


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610])
def test_others_may_not_read_them(tmp_path, mode):
    path = write_secrets(tmp_path / "s.toml")
    path.chmod(mode)
    with pytest.raises(KgdashError, match=f"others may read {path}.*chmod 600"):
        read_secrets(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cookie_secret": None}, r"\[auth\] cookie_secret: expected a text in quotes"),
        ({"client_id": None}, "client_id: expected a text"),
        ({"client_secret": None}, "client_secret: expected a text"),
        ({"client_secret": ""}, "client_secret: expected a text"),
        ({"cookie_secret": "short"}, "cookie_secret: expected at least 32 random characters"),
        ({"cookie_secret": "x" * 64}, "cookie_secret: expected at least 32 random characters"),
        ({"redirect_uri": "http://kg.example.org/oauth2callback"}, "redirect_uri: .*https://"),
        ({"redirect_uri": "https://kg.example.org/"}, "redirect_uri: .*oauth2callback"),
        ({"redirect_uri": "https://kg.example.org/a/oauth2callback"}, "redirect_uri: "),
        ({"redirect_uri": "https:///oauth2callback"}, "redirect_uri: "),
        ({"server_metadata_url": "http://id.example.org/x"}, "server_metadata_url: .*https://"),
        ({"provider": "x"}, r"unknown key 'provider' in \[auth\] of"),
    ],
)
def test_messages_name_the_key_and_tell_no_secret(tmp_path, changed, message):
    path = write_secrets(tmp_path / "s.toml", **changed)
    with pytest.raises(KgdashError, match=message) as caught:
        read_secrets(path)
    assert str(path) in str(caught.value)
    assert SECRETS["client_secret"] not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[auth]\nclient_secret = 4711471147114711", "cookie_secret = hush-hush", "hush = 1"]
)
def test_malformed_files_are_not_repeated(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(KgdashError) as caught:
        read_secrets(path)
    assert not {"4711", "hush-hush"} & set(str(caught.value).replace("'", " ").split())
    assert "4711" not in str(caught.value)
    assert "hush-hush" not in str(caught.value)


def test_a_token_is_long_one_line_and_private(tmp_path):
    path, token = tmp_path / "token", "3f1c0d9a8b7e6f5a4c3b2d1e0f9a8b7c"
    path.write_text(token + "\n")
    path.chmod(0o644)
    with pytest.raises(KgdashError, match=f"others may read {path}"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == token
    for bad in ("", "short", "a" * 64, f"{token} {token}", f"{token}\n{token}", f"{token}ä"):
        path.write_text(bad)
        with pytest.raises(KgdashError, match="at least 32 random characters") as refused:
            read_token(path)
        assert token not in str(refused.value)
