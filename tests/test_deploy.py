"""What stands in deploy/ fits requirements.txt, and its container file is clean."""

import csv
import json
import re
import subprocess

import pytest

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
        ["hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
