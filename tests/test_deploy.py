"""What stands in deploy/ fits requirements.txt, its container file is clean; nginx by the docs."""

import csv
import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from streamlit.web.server.starlette.starlette_server_config import (
    SESSION_COOKIE_NAME,
    USER_COOKIE_NAME,
)

from kgdash.serving.heads import ANOTHERS, is_for_another_page
from kgdash.ui.server.protection import _LOG_IN, _is_ahead
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name: str) -> dict[str, str]:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    entry = r"(?m)^([a-z0-9-]+)==(\S+) \\\n((?: {4}--hash=sha256:[0-9a-f]{64}.*\n)+)"
    entries = re.findall(entry, text)
    assert len(entries) == text.count("=="), "an entry without hashes"
    return {package: version for package, version, _ in entries}


@pytest.fixture(scope="module")
def lock() -> dict[str, str]:
    return locked("requirements.lock")


def test_the_lock_has_every_pin_of_requirements(lock):
    pins = re.findall(r"(?m)^([\w-]+)(?:\[.*\])?==(\S+)", (ROOT / "requirements.txt").read_text())
    assert pins
    for name, version in pins:
        assert lock[canonical(name)] == version, "run scripts/make_release_files.py"


def test_cuda_libraries_are_a_lock_of_their_own(lock):
    assert not any(name.startswith(("nvidia", "cuda")) for name in lock)
    assert any(name.startswith("nvidia") for name in locked("requirements-cuda.lock"))


def test_the_bill_of_materials_and_the_licences_name_what_is_locked(lock):
    bill = json.loads((DEPLOY / "sbom.cdx.json").read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    named = {canonical(c["name"]): c["version"].split("+")[0] for c in bill["components"]}
    # Other systems' packages stand in the lock, too.
    assert named.items() <= lock.items()
    assert len(named) > 0.9 * len(lock)
    with open(DEPLOY / "licences.csv", encoding="utf-8", newline="") as file:
        licences = {canonical(row["name"]): row["licence"] for row in csv.DictReader(file)}
    assert named.keys() <= licences.keys()
    assert all(licences.values())


def test_the_container_file_is_clean():
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), DEPLOY / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_nginx_by_the_docs_refuses_other_pages_as_kgdash_does():
    """It counted what they ask for as their visitors' own, whose log-ins it then refused."""
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    maps = re.findall(r'(?s)\nmap "([^"]+)" (\$\w+) \{\n    default 0;\n(.*?)\n\}', text)
    rules = [(said, re.findall(r'"~(.+)" 1;', lines)) for said, _, lines in maps]
    assert [len(patterns) for _, patterns in rules] == [3, 1]
    assert all(f"    if ({name}) {{ return 403; }}" in text for *_, name, _ in maps)

    def is_refused(headers: dict[str, str]) -> bool:
        def value(name: re.Match) -> str:
            return headers.get(name[1].replace("_", "-"), "")

        shown = [(re.sub(r"\$http_(\w+)", value, said), patterns) for said, patterns in rules]
        return any(re.search(pattern, said) for said, patterns in shown for pattern in patterns)

    host = {"host": "kg.example.org"}
    sites = ("cross-site", "same-site", "same-origin", "none")
    modes = ("navigate", "cors", "no-cors")
    dests = ("document", "empty", "iframe", "object", "image")
    for texts in product(("", "prefetch"), ("", *sites), ("", *modes), ("", *dests)):
        names = ("sec-purpose", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest")
        said = host | {name: text for name, text in zip(names, texts, strict=True) if text}
        headers = Headers(said)
        refused = _is_ahead(headers) or is_for_another_page(headers)
        assert is_refused(said) == refused, said
    socket = host | {"upgrade": "websocket", "sec-fetch-mode": "websocket"}
    for site, origin in product(sites, ("", "null", "https://kg.example.org", "https://evil.org")):
        said = socket | {"sec-fetch-site": site} | ({"origin": origin} if origin else {})
        assert is_refused(said) == (origin in ("null", "https://evil.org")), said


def test_nginx_by_the_docs_counts_what_no_other_page_can_begin():
    """One that led its own tab to the way back kept all of its address from logging in."""
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    counted = re.findall(r"location ~ (\S+) \{\n        limit_req zone=log_ins ", text)
    assert len(counted) == 1
    paths = {path for path in _LOG_IN if re.search(counted[0], path)}
    assert paths == {"/auth/login", "/auth/logout", "/log-in"}  # kgdash sorts who comes back
    zones = re.findall(r"\nlimit_req_zone (\S+) zone=(\w+):", text)
    assert zones == [("$who_asks", "log_ins"), ("$who_asks", "requests")]


def test_nginx_by_the_docs_counts_another_page_s_links_by_the_browser_that_follows_them():
    """By frames one led its top window there 96 times a second, which all of its address paid."""
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    found = re.search(r'\nmap "([^"]+)" \$who_asks \{\n(.*)\n    "~(.+)" (\S+);\n\}', text)
    assert found is not None
    said, default, pattern, counted = found.groups()
    assert default == "    default $binary_remote_addr;"

    def key(site: str, **cookies: str) -> str:
        shown = said.replace("$http_sec_fetch_site", site)
        shown = re.sub(r"\$cookie_(\w+)", lambda name: cookies.get(name[1], ""), shown)
        match = re.search(pattern, shown)
        return counted.replace("$2", match[2]) if match else "$binary_remote_addr"

    names = (SESSION_COOKIE_NAME, USER_COOKIE_NAME)
    browsers = [{name: "awqoKA." + end * 9} for name in names for end in ("rfV", "xcd")]
    for cookies in ({}, *browsers):
        own = {key(site, **cookies) for site in ("same-origin", "none", "")}
        assert own == {"$binary_remote_addr"}
    for site in ANOTHERS:  # the way back from a log-in, and to the start page after it
        keys = {key(site), key(site, **browsers[0], **browsers[2])}
        keys |= {key(site, **cookies) for cookies in browsers}
        assert len(keys) == 3
        # What nginx keeps has one size: of several, one could take the room of all others.
        assert {len(each) for each in keys} == {len("$binary_remote_addr") + 10}
