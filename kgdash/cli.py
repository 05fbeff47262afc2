"""``python -m kgdash``: the numbers of every page on the command line."""

import errno
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from kgdash.commands import (
    breakdown,
    cache,
    classify,
    compare,
    confounders,
    cross_validate,
    groupings,
    guide,
    health,
    import_queries,
    inspect,
    label,
    metrics,
    obl2021,
    overview,
    predict_performance,
    queries,
    reliability,
    relik,
    report,
    rules,
    runs,
    study,
    subgraph,
    train,
    which_model,
    why,
)
from kgdash.commands.dashboard.open import open_app
from kgdash.commands.dashboard.serve import serve
from kgdash.commands.importing.import_run import import_run
from kgdash.commands.options.config import configurable
from kgdash.commands.options.groups import grouped
from kgdash.commands.options.renamed import refuse_old_names
from kgdash.commands.options.terminal import say, visible_output
from kgdash.commands.trust.agreement import agreement
from kgdash.commands.trust.answer_sets import answer_sets
from kgdash.commands.trust.audit import audit
from kgdash.commands.trust.calibrate import calibrate
from kgdash.commands.trust.discover import discover
from kgdash.commands.trust.protocols import protocols
from kgdash.commands.trust.trust import trust
from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import bound_readings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="See where a knowledge-graph embedding can be trusted.",
)

COMMANDS: dict[str, Callable[..., None]] = {
    "agreement": agreement,
    "answer-sets": answer_sets,
    "audit": audit,
    "breakdown": breakdown.breakdown,
    "calibrate": calibrate,
    "chart": report.chart,
    "classify": classify.classify,
    "compare": compare.compare,
    "confounders": confounders.confounders,
    "cross-validate": cross_validate.cross_validate,
    "discover": discover,
    "guide": guide.guide,
    "health": health.health,
    "import": import_run,
    "import-queries": import_queries.import_queries,
    "inspect": inspect.inspect,
    "label": label.label,
    "metrics": metrics.metrics,
    "open": open_app,
    "overview": overview.overview,
    "predict-performance": predict_performance.predict_performance,
    "prepare": relik.prepare,
    "protocols": protocols,
    "queries": queries.queries,
    "reliability": reliability.reliability,
    "relik": relik.relik,
    "report": report.report,
    "rules": rules.rules,
    "serve": serve,
    "study": study.study,
    "subgraph": subgraph.subgraph,
    "train": train.train,
    "trials": train.trials,
    "trust": trust,
    "which-model": which_model.which_model,
    "why": why.why,
}
GROUPS = {
    "cache": cache.app,
    "groupings": groupings.app,
    "obl2021": obl2021.app,
    "runs": runs.app,
}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CANCELLED, _NOTHING_WRITTEN = 130, "\nkgdash: cancelled, nothing was written"

for name, command in COMMANDS.items():
    app.command(name)(command)
for name, commands in GROUPS.items():
    app.add_typer(commands, name=name)
for part in (app, *GROUPS.values()):
    for registered in part.registered_commands:
        if registered.callback is not None:
            registered.callback = configurable(grouped(registered.callback))


def main() -> None:
    """Run the command line; refused input ends with its message and exit code 2."""
    # PyKEEN and torch report on every model that they build; none of it is for our users.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    arguments = sys.argv[1:]
    bound_readings()
    _open_closed_outputs()
    interrupts: list[int] = []
    try:
        with _noted(interrupts):
            refuse_old_names(arguments)
            app(arguments)
    except KgdashError as error:
        with visible_output():
            say(f"kgdash: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left is not tried once more
        print(f"kgdash: the output can not be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except SystemExit as ended:
        if ended.code == _CANCELLED:  # which Typer turns Ctrl-C into without a word
            print(_NOTHING_WRITTEN, file=sys.stderr)
        raise
    except (Exception, KeyboardInterrupt):
        if not interrupts:
            raise
        print(_NOTHING_WRITTEN, file=sys.stderr)
        sys.exit(_CANCELLED)


def _open_closed_outputs() -> None:
    """Have what is written to an output that the caller closed (``>&-``) go nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


@contextmanager
def _noted(interrupts: list[int]) -> Iterator[None]:
    """Note each Ctrl-C, as compiled modules that are being imported make another error of it."""

    def interrupt(number: int, frame: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
