"""On what machine, with what, and by which command a result is computed."""

import os
import platform
import shlex
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: libraries whose versions figures may depend on
_LIBRARIES = ("torch", "numpy", "numba", "pandas", "scipy", "pykeen")

#: characters of a command that are kept
_LONGEST = 180


@cache
def machine() -> str:
    """Return the kind of machine: its processor, vector instructions and cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    vector = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    return f"{names[0] if names else platform.machine()} ({vector}), {os.cpu_count()} cores"


@cache
def libraries() -> str:
    """Return the versions of Python and of the libraries that figures may depend on."""
    found = [f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def command() -> str:
    """Return the command of this process, without the folders of files that it names.

    "dashboard" where it serves pages, "Python" where kgdash is a library.
    """
    name, *arguments = sys.argv or [""]
    program = Path(name).stem if Path(name).stem != "__main__" else Path(name).parent.name
    if program in ("streamlit", "uvicorn"):
        return "dashboard"
    if program != "kgdash":
        return "Python"
    shown = (part.rsplit(os.sep, 1)[-1] if os.sep in part else part for part in arguments)
    return shlex.join(["kgdash", *shown])[:_LONGEST]


def provenance() -> dict[str, str]:
    """Return what is noted of whoever computes: ``machine``, ``libraries`` and ``command``."""
    return {"machine": machine(), "libraries": libraries(), "command": command()}
