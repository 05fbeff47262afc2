"""Make deploy's locks, bill of materials and licence list anew from requirements.txt.

``python scripts/make_release_files.py VENV [CPU_WHEEL]``: VENV holds requirements.txt and nothing
else; CPU_WHEEL is a CPU build of torch for Linux, whose hash the lock takes besides the registry's.
Run it where deploy/requirements-release.txt is installed.
"""

import csv
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
# What only the registry's Linux build of torch asks for.
CUDA = re.compile(r"(nvidia|cuda|triton)\b")
# A licence that a package's metadata has as a whole text, or not at all; read in the package.
READ_BY_HAND = {
    "kaleido": "MIT",
    "logistro": "MIT",
    "pydeck": "Apache-2.0",
    "protobuf": "BSD-3-Clause",
}
# What kgdash carries itself: name, version, licence.
CARRIED = [
    ("plotly.js, cartesian bundle (kgdash/reports)", "4.1.1", "MIT"),
    ("FB15k-237, a part of Freebase (kgdash/demo/fb15k-237-complex)", "2015", "CC-BY-2.5"),
]


def main(environment: Path, cpu_wheel: Path | None) -> None:
    """Write requirements.lock, requirements-cuda.lock, sbom.cdx.json and licences.csv."""
    lock = _compiled()
    if cpu_wheel is not None:
        digest = hashlib.sha256(cpu_wheel.read_bytes()).hexdigest()
        lock["torch"] += f" \\\n    --hash=sha256:{digest}"
    _write_lock("requirements.lock", [text for name, text in lock.items() if not CUDA.match(name)])
    cuda = [text for name, text in lock.items() if CUDA.match(name)]
    _write_lock("requirements-cuda.lock", ["-r requirements.lock", *cuda])
    components = _bill(environment, set(lock))
    with open(DEPLOY / "licences.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["name", "version", "licence"])
        table.writerows([c["name"], c["version"], licence(c)] for c in components)
        table.writerows(CARRIED)


def licence(component: dict) -> str:
    """Return a CycloneDX component's licence in one line."""
    entries = component.get("licenses", [])
    named = [e.get("expression") or e["license"].get("id") for e in entries]
    found = [name for name in named if name] or [e["license"]["name"] for e in entries]
    return " AND ".join(f.rsplit(" :: ", 1)[-1] for f in found) or READ_BY_HAND[component["name"]]


def _compiled() -> dict[str, str]:
    """Resolve requirements.txt with hashes: {name: entry without comments}."""
    options = "--generate-hashes --allow-unsafe --strip-extras --no-annotate --no-header --quiet"
    options += " --no-emit-index-url --no-emit-find-links --output-file=-"
    made = subprocess.run(
        [sys.executable, "-m", "piptools", "compile", *options.split(), "requirements.txt"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    entries = re.split(r"\n(?=\S)", made.strip())
    return {entry.split("==")[0]: entry for entry in entries if not entry.startswith("#")}


def _write_lock(name: str, entries: list[str]) -> None:
    (DEPLOY / name).write_text("\n".join(entries) + "\n", encoding="utf-8")


def _bill(environment: Path, locked: set[str]) -> list[dict]:
    """Write the CycloneDX bill of what is locked and installed; return its components."""
    made = subprocess.run(
        [Path(sys.executable).with_name("cyclonedx-py"), "environment", environment / "bin/python",
         "--output-reproducible", "--of=JSON"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    bill = json.loads(made)
    kept = [c for c in bill["components"] if _canonical(c["name"]) in locked]
    for component in kept:
        component.pop("externalReferences", None)
    bill["components"] = kept
    names = {component["bom-ref"] for component in kept}
    bill["dependencies"] = [
        {**d, "dependsOn": [on for on in d.get("dependsOn", []) if on in names]}
        for d in bill["dependencies"]
        if d["ref"] in names
    ]
    text = json.dumps(bill, indent=1, ensure_ascii=False)
    (DEPLOY / "sbom.cdx.json").write_text(text + "\n", encoding="utf-8")
    return kept


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
