"""What the parent does once, so that its children need not: imports and compiled kernels."""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.faults.operations import Operation, lay_out, preparations
from tests.faults.processes import enter


def warm_up(folder: Path, operations: Sequence[Operation]) -> None:
    """Run commands once in this process, and have tables of any size kept."""
    import torch
    from typer.main import get_command

    from kgdash import cli
    from kgdash.files import cache_folder, row_table, table_cache

    torch.set_num_threads(1)
    # Tables of 30 entities are counted in no time: kept nevertheless, a part of a second each.
    table_cache._WORTH_KEEPING = -1
    row_table._LEAST, row_table._TIMES = 0.0, 0
    # The command line is built at each call, in more time than most commands take here.
    cli.app = get_command(cli.app)  # type: ignore[assignment]
    lay_out(folder, operations)
    here, environment = Path.cwd(), dict(os.environ)
    try:
        for operation in dict.fromkeys((*preparations(operations), *operations)):
            _run(operation, folder)
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(environment)
    cache_folder._swept.clear()
    gc.collect()
    gc.freeze()


def _run(operation: Operation, folder: Path) -> None:
    from kgdash import cli

    enter(operation, folder)
    said, standard = io.StringIO(), (sys.argv, sys.stdin)
    sys.argv, sys.stdin = ["kgdash", *operation.arguments], io.StringIO(operation.typed)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            cli.main()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{operation.arguments}: {said.getvalue()}") from ended
    finally:
        sys.argv, sys.stdin = standard
