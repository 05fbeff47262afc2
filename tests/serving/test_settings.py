"""A server's settings: what they say is taken, what can not be is named with its cure."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.cache_folder import cache_directory
from kgdash.files.user_data import data_folder
from kgdash.files.visitor import RIGHTS
from kgdash.serving.settings import (
    LOCAL_HOSTS,
    ServerSettings,
    UploadLimits,
    is_local_address,
    plain_case,
    read_settings,
)
from tests.support.paths import ROOT
from tests.support.servers import write_secrets, write_settings


@pytest.fixture
def refuse(tmp_path):
    def read(text: str) -> str:
        path = tmp_path / "server.toml"
        path.write_text(text)
        with pytest.raises(KgdashError) as caught:
            read_settings(path)
        return str(caught.value)

    return read


def test_nothing_said_is_this_machine(tmp_path):
    (tmp_path / "empty.toml").write_text("")
    found = read_settings(tmp_path / "empty.toml")
    assert found == ServerSettings()
    assert found.is_local
    assert (found.address, found.hosts, found.roots) == ("localhost", LOCAL_HOSTS, None)


def test_the_example_of_the_docs_is_whole(tmp_path):
    text = (ROOT / "docs" / "examples" / "kgdash-server.toml").read_text()
    path = tmp_path / "kgdash-server.toml"
    path.write_text(text)
    for folder in ("runs", "datasets"):
        (tmp_path / folder).mkdir()
    redirect = "https://kgdash.example.org/oauth2callback"
    write_secrets(tmp_path / "kgdash-secrets.toml", redirect_uri=redirect)
    found = read_settings(path)
    assert found.hosts == (*LOCAL_HOSTS, "kgdash.example.org")
    assert found.roots == (tmp_path / "runs", tmp_path / "datasets")
    assert set(found.who) == {"open", *RIGHTS}
    assert found.limits == UploadLimits()
    assert not found.is_local
    keys = {line.split(" = ")[0] for line in text.splitlines() if " = " in line and line[0] != "#"}
    guide = (ROOT / "docs" / "serving.md").read_text()
    assert not [key for key in keys if f"`{key}`" not in guide]


def test_with_login_nothing_is_open_that_is_not_named(tmp_path):
    found = read_settings(write_settings(tmp_path))
    assert found.roots == ()
    assert found.who["open"] == {"ada@example.org", "group:lab"}
    assert all(found.who[right] == frozenset() for right in RIGHTS)


def test_roots_are_meant_from_the_file_and_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to("real")
    found = read_settings(write_settings(tmp_path, 'roots = ["named"]'))
    assert found.roots == (tmp_path / "real", tmp_path / "named")


@pytest.mark.parametrize("where", ["", "..", "labels"])
@pytest.mark.parametrize("own", [data_folder, cache_directory])
def test_no_root_holds_what_is_the_servers(tmp_path, own, where):
    (own() / "labels").mkdir(parents=True, exist_ok=True)
    root = (own() / where).resolve()
    with pytest.raises(KgdashError, match="of the server"):
        read_settings(write_settings(tmp_path, f'roots = ["{root}"]'))


def test_no_root_holds_settings_or_secrets(tmp_path):
    with pytest.raises(KgdashError, match="these settings of the server"):
        read_settings(write_settings(tmp_path, 'roots = ["."]'))
    (tmp_path / "other").mkdir()
    path = write_settings(tmp_path, 'roots = ["other"]')
    write_secrets(tmp_path / "other" / "secrets.toml")
    path.write_text(path.read_text().replace('"secrets.toml"', '"other/secrets.toml"'))
    with pytest.raises(KgdashError, match="the secrets of the server"):
        read_settings(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('adress = "x"', "unknown key 'adress' in .*server.toml .*did you mean 'address'"),
        ("port = 0", "server.toml: port: expected a whole number from 1 to 65,535; found 0"),
        ("port = true", "port: expected a whole number"),
        ('port = "80"', "port: expected a whole number"),
        ("address = 1", "address: expected a text in quotes; found 1"),
        ('hosts = "x"', "hosts: expected a list of texts in quotes; found 'x'"),
        ('hosts = ["*"]', "hosts: expected names as in an address"),
        ('hosts = ["a b"]', "hosts: expected names"),
        ('hosts = ["https://a.example"]', "hosts: expected names"),
        ('hosts = ["kg.example.org"]', r"hosts: expected \[login\], too: without log-in only this"),
        ('address = "0.0.0.0"', r"address: expected \[login\], too"),
        ('address = "::"', r"address: expected \[login\], too"),
        ('roots = ["nowhere"]', "roots: expected folders that are there; found 'nowhere'"),
        (r'roots = ["a\u0000b"]', "roots: expected folders that are there"),
        (f'roots = ["{"a" * 300}"]', "roots: expected folders that are there"),
        ('roots = ["/"]', "roots: expected folders apart from"),
        ("login = 3", r"login: expected a table, \[login\]; found 3"),
        ("[login]", r"\[login\] secrets: expected a text in quotes; found nothing"),
        ('[who]\nopen = ["*"]', r"who: expected \[login\], too"),
        ("[limits]\nrows = 0", r"\[limits\] rows: expected a whole number from 1"),
        ("[limits]\nrow = 1", r"unknown key 'row' in \[limits\] of .*server.toml"),
        ("a = 1\na = 2", "server.toml is not valid TOML"),
        ("port = " + "9" * 5000, "server.toml is not valid TOML"),
    ],
)
def test_messages_name_file_key_and_cure(refuse, text, message):
    assert re.search(message, refuse(text)), refuse(text)


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("login", "hours = 0", r"\[login\] hours: expected a whole number from 1 to 720"),
        ("login", 'unverified_email = "no"', "unverified_email: expected true or false"),
        ("login", 'client = "x"', r"unknown key 'client' in \[login\] of"),
        ("who", 'admin = ["x"]', r"unknown key 'admin' in \[who\] of"),
        ("who", 'train = [""]', r'\[who\] train: expected names, "group:NAME" or "\*"'),
        ("who", 'train = ["group:"]', r"\[who\] train: expected names"),
        ("who", 'train = ["Group:lab"]', r'train: expected "group:NAME" in small letters'),
    ],
)
def test_messages_about_log_in(tmp_path, part, text, message):
    with pytest.raises(KgdashError, match=message):
        read_settings(write_settings(tmp_path, **{part: text}))


def test_whom_to_let_in_must_be_said(tmp_path):
    path = write_settings(tmp_path)
    path.write_text(path.read_text().split("[who]")[0])
    with pytest.raises(KgdashError, match="who: expected open = "):
        read_settings(path)


def test_the_address_of_log_in_is_one_that_is_answered(tmp_path):
    path = write_settings(tmp_path, redirect_uri="https://other.example/oauth2callback")
    with pytest.raises(KgdashError, match="hosts: expected the name that redirect_uri"):
        read_settings(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(KgdashError, match=r"can not read .*no\.toml: No such file"):
        read_settings(tmp_path / "no.toml")


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_addresses_of_this_machine(address):
    assert is_local_address(address)
    assert not is_local_address("0.0.0.0")
    assert not is_local_address("192.168.1.2")
    assert not is_local_address("localhost.example.org")


@given(st.text())
def test_names_that_look_alike_stay_apart(name):
    """Small letters of the Kelvin sign are a k: that would be another person."""
    assert plain_case(name) == (name.lower() if name.isascii() else name)
    assert plain_case("\u212aim") != plain_case("Kim")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_content_is_read_or_refused(tmp_path_factory, content):
    path = Path(tmp_path_factory.getbasetemp()) / "any.toml"
    path.write_bytes(content)
    with suppress(KgdashError):
        read_settings(path)
