"""The sandbox that operations find: made once, copied for each of them."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.faults.operations import (
    RULES,
    Operation,
    needs_pykeen,
    preparations,
    write_dataset,
)
from tests.faults.processes import run


def make_template(folder: Path, operations: Sequence[Operation]) -> Path:
    """Make a sandbox: a dataset, two runs; where needed PyKEEN's, labels and a filled cache."""
    from tests.support.tiny_runs import save_pykeen_directory

    folder.mkdir(parents=True)
    for name in ("runs", "cache", "kept", "filled"):
        (folder / name).mkdir()
    write_dataset(folder / "data")
    (folder / "rules.tsv").write_text(RULES)
    if needs_pykeen(operations):
        save_pykeen_directory(folder / "pykeen")
    for operation in preparations(operations):
        _expect(operation, folder)
    (folder / "given.csv").unlink(missing_ok=True)
    shutil.rmtree(folder / "cache")
    (folder / "cache").mkdir()
    return folder


def fresh(template: Path, folder: Path, operation: Operation) -> Path:
    """Copy the template for an operation; labels are only there for who saves them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder, symlinks=True)
    if operation.name == "label":
        shutil.rmtree(folder / "kept" / "labels", ignore_errors=True)
    return folder


def _expect(operation: Operation, sandbox: Path) -> None:
    ended = run(operation, sandbox)
    assert ended.code == 0, f"{operation.arguments}: {ended}"
