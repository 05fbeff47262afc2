"""Commands run in this process, and what they print, read."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from kgdash import cli
from kgdash.files.cache_folder import cache_directory
from kgdash.files.visitor import Visitor, working_for


def run_cli(monkeypatch, capsys, arguments) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["kgdash", *map(str, arguments)])
    capsys.readouterr()
    # Pages that were tested before, in this process, would be asked who gives the command.
    at_this_machine = working_for(Visitor())
    with warnings.catch_warnings(), at_this_machine, pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    code = ended.value.code
    return (0 if code is None else int(code)), out, err


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and cache_directory() not in path.parents
    }


def strict_json(text: str):
    """Parse JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def without_nan(value):
    """Say what JSON shows of a value: null for NaN."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
