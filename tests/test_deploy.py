"""What stands in deploy/ fits requirements.txt, its container file is clean; nginx by the docs."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from kgdash.serving.heads import is_for_another_page
from kgdash.ui.server.protection import _LOG_IN, _is_ahead, _is_led_here, _question
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


NGINX = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
SITES = ("cross-site", "same-site", "same-origin", "none")


def nginx_map(name: str) -> Callable[[dict[str, str]], str]:
    """Return what a map of nginx by the docs makes of a request's headers and address."""
    found = re.search(rf"(?s)\nmap (\S+|\"[^\"]+\") \${name} \{{(.*?)\n\}}", NGINX)
    assert found is not None
    default, *rules = re.findall(r"\n    (?:default|\"~(.+?)\") (.+);", found[2])
    assert len(rules) == found[2].count(";\n")

    def value(said: dict[str, str]) -> str:
        def shown(variable: re.Match) -> str:
            return said.get(variable[1].removeprefix("http_").replace("_", "-"), "")

        text = re.sub(r"\$(\w+)", shown, found[1].strip('"'))
        return next((made for rule, made in rules if re.search(rule, text)), default[1])

    return value


def visits() -> Iterator[dict[str, str]]:
    """Return the headers by which browsers tell whose page asks, and for what, in all ways."""
    modes = ("navigate", "cors", "no-cors")
    dests = ("document", "empty", "iframe", "object", "image")
    names = ("sec-purpose", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest")
    for texts in product(("", "prefetch"), ("", *SITES), ("", *modes), ("", *dests)):
        said = {name: text for name, text in zip(names, texts, strict=True) if text}
        yield {"host": "kg.example.org"} | said


def test_nginx_by_the_docs_refuses_other_pages_as_kgdash_does():
    """It counted what they ask for as their visitors' own, whose log-ins it then refused."""
    names = ("no_visit", "anothers_socket")
    maps = [nginx_map(name) for name in names]
    assert all(f"    if (${name}) {{ return 403; }}" in NGINX for name in names)

    def is_refused(said: dict[str, str]) -> bool:
        return "1" in [made(said) for made in maps]

    for said in visits():
        headers = Headers(said)
        refused = _is_ahead(headers) or is_for_another_page(headers)
        assert is_refused(said) == refused, said
    socket = {"host": "kg.example.org", "upgrade": "websocket", "sec-fetch-mode": "websocket"}
    for site, origin in product(SITES, ("", "null", "https://kg.example.org", "https://evil.org")):
        said = socket | {"sec-fetch-site": site} | ({"origin": origin} if origin else {})
        assert is_refused(said) == (origin in ("null", "https://evil.org")), said
        assert nginx_map("led_here")(said) == "0"


def test_nginx_by_the_docs_leads_on_who_follows_another_page_s_link_as_kgdash_does():
    """By frames one led its top window there 180 times a second, which all of its address paid.

    Then all of its browser, and all who came by a link without having been there.
    """
    assert "    if ($led_here) { rewrite ^ /led-here last; }" in NGINX
    assert "$goes_on" in NGINX[NGINX.index("return 200") :].partition("\n")[0]
    is_led, goes_on = nginx_map("led_here"), nginx_map("goes_on")
    paths = ("/", "/metrics", "/log-in", "/oauth2callback", "/oauth2callback/", "//")
    for said, path, query in product(visits(), paths, ("", "code=1&state=a")):
        headers = Headers(said)
        scope = {"type": "http", "path": path, "query_string": query.encode()}
        scope["headers"] = headers.raw
        if _is_ahead(headers) or is_for_another_page(headers):
            continue
        assert (is_led(said) == "1") == _is_led_here(scope), said
        made = goes_on({"request-uri": path + ("?" + query if query else "")})
        asked = unescape(_question(scope).body.decode())
        led = made.strip("'").replace("$request_uri", path + "?" * bool(query) + query)
        assert bool(led) == ("refresh" in asked), path
        assert led in asked


def test_nginx_by_the_docs_counts_all_steps_of_log_ins_by_address():
    """By what a program chooses it had as many as it liked."""
    counted = re.findall(r"location ~ (\S+) \{\n        limit_req zone=log_ins ", NGINX)
    assert len(counted) == 1
    assert all(re.search(counted[0], path) for path in _LOG_IN)
    zones = re.findall(r"\nlimit_req_zone (\S+) zone=(\w+):", NGINX)
    assert zones == [("$binary_remote_addr", "log_ins"), ("$binary_remote_addr", "requests")]
    places = re.findall(r"(?s)\n    location [^\n]+ \{\n(.*?)\n    \}", NGINX)
    assert len(places) == 4
    assert all(("proxy_pass" in place) == ("limit_req zone=requests" in place) for place in places)


def test_proxies_speak_no_http_2():
    """In it a few hundred bytes of headers are a megabyte: 0.7 MB took 4.7 GB of Caddy's memory."""
    assert not re.search(r"(?m)^    (http2|listen [^#\n]*http2)", NGINX)
    caddy = (DEPLOY / "Caddyfile").read_text(encoding="utf-8").replace("\t", "    ")
    options, _, site = caddy.partition("\n\n")
    assert "protocols h1\n" in options
    assert "max_header_size 16KB\n" in options
    shown = re.search(r"(?s)```caddy\n(.*?)```", NGINX)
    assert shown is not None
    assert shown[1].replace("kgdash.example.org", "{$KGDASH_HOST}").replace(
        "127.0.0.1", "kgdash"
    ) == "\n".join((options, site))
    assert "/udp" not in (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
