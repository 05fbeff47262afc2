"""Counting on a cluster of Dask: one that is there, or processes of this machine."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.others import others_may_make
from kgdash.files.visitor import visitor
from kgdash.progress import Progress
from kgdash.runs.call import Origin, write
from kgdash.runs.cluster_worker import do_part
from kgdash.runs.helpers import Done, Helpers, P, R, Work
from kgdash.runs.library import named_runs
from kgdash.runs.run import Run
from kgdash.version import __version__

#: seconds between two looks whether anything was counted
_BEAT = 0.05

#: seconds, as `Cluster` has it
_PATIENCE = 300.0

#: seconds that a scheduler has to answer
_ANSWER = 10.0

#: parts on their way for each thread, and seconds between two looks how many threads there are
_AHEAD, _LOOK = 3, 5.0

_SAFE_PATH = "PYTHONSAFEPATH"


class Cluster:
    """A cluster by its address; it is connected to, or started, when something is to be counted.

    >>> with Cluster("local:2") as cluster:
    ...     cluster.run("umls-transe").relik()
    """

    def __init__(self, address: str, patience: float = _PATIENCE) -> None:
        """Take an address.

        :param address: "local:N" for N processes of this machine, the address of a Dask scheduler
            ("tcp://host:8786", "host:8786"), or the file in which one wrote where it is
        :param patience: seconds without any worker after which nobody is expected to come
        :raises KgdashError: if it is neither, distributed is missing, or another account
            may write where Dask reads one's settings
        """
        self.address, self._patience = address, patience
        kind, _, count = address.partition(":")
        self._processes = int(count) if kind == "local" and count.isdecimal() else 0
        # An address is none of a file, whatever lies in the folder where a command is called.
        self._file = Path(address).resolve() if address.endswith(".json") else None
        is_file = self._file is not None and self._file.is_file()
        if not self._processes and (kind == "local" or not (":" in address or is_file)):
            raise KgdashError(
                "expected a cluster as local:N (N processes here), the address of a Dask scheduler "
                f"(tcp://host:8786) or its file (scheduler.json); found {address}"
            )
        settings = Path(os.path.expanduser("~/.config/dask"))
        # A file of another's may stand there by a link.
        for place in (settings, *settings.glob("*")):
            if others_may_make(place):
                raise KgdashError(
                    f"a cluster is led by Dask's settings, {place}, which name code, and another "
                    "account may write there: set HOME to a folder of your own (with sudo: sudo -H)"
                )
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise KgdashError(
                "a cluster needs the package distributed: pip install -r requirements-cluster.txt"
            ) from None
        self._local: Any = None
        self._open: Any = None
        self._until_end = ExitStack()

    def __enter__(self) -> Cluster:
        """Return it, not connected yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the cluster, and end what was started here."""
        for each in (self._open, self._local):
            if each is not None:
                each.close()
        self._open = self._local = None
        self._until_end.close()

    def run(self, run: Run, source: str, dataset: str | None = None) -> Run:
        """Return a run whose exact ranks and ReliK, and what else is cut, are counted here.

        :param source: what `kgdash.runs.loading.load` made it of: a name, or a folder that all
            workers see at the same path
        """
        place = source if source in named_runs() else str(Path(source).absolute())
        if dataset is not None and os.path.exists(dataset):
            dataset = str(Path(dataset).absolute())
        told = {**run.provenance, "source": place}
        there = replace(run, provenance=told)  # as they load it
        return replace(
            run, helpers=self.helpers(Origin(place, dataset, visitor().unnamed(), there.identity))
        )

    def helpers(self, origin: Origin) -> Helpers:
        """Return those who count for the run that comes from there."""
        return _Helpers(self, origin)

    def client(self, progress: Progress) -> Any:
        """Return the connection, made on first use; every worker has this version of kgdash then.

        :param progress: called again and again while no worker is there; may raise to give up
        :raises KgdashError: if nothing answers, no worker comes, or one has another version
        """
        if self._open is None:
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            self._open = self._connected()
            start = time.monotonic()
            while not self._open.nthreads():
                progress(0.0, 1.0)
                self.check_patience(time.monotonic() - start)
                time.sleep(_BEAT)
            _check_versions(self._open)
        return self._open

    def check_patience(self, seconds: float) -> None:
        """Give up after so many seconds without a worker.

        :raises KgdashError: if it is time
        """
        if seconds > self._patience:
            raise KgdashError(
                f"{self.address} has had no worker for {self._patience:.0f} seconds; start some; "
                "what was counted is kept: the same command goes on there"
            )

    def _connected(self) -> Any:
        import dask
        from distributed import Client, LocalCluster

        if self._processes:
            self._until_end.enter_context(_nothing_of_this_folder())
            # Dask's own is of one name for all who use the machine, and a place of modules.
            folder = TemporaryDirectory(prefix="kgdash-", ignore_cleanup_errors=True)
            own = dask.config.set({"temporary-directory": self._until_end.enter_context(folder)})
            self._until_end.enter_context(own)
            self._local = LocalCluster(
                n_workers=self._processes,
                threads_per_worker=max(1, (os.cpu_count() or 1) // self._processes),
                processes=True,
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
                # Who reaches a scheduler runs code as its user: other accounts of this machine do.
                security=True,
            )
            return Client(self._local)
        try:
            address = self.address
            if self._file is not None:
                address = json.loads(self._file.read_text("utf-8"))["address"]
            return Client(address, timeout=_ANSWER)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise KgdashError(
                f"no cluster answers at {self.address}: expected the address of a Dask scheduler "
                f"({type(error).__name__})"
            ) from None


@contextmanager
def _nothing_of_this_folder() -> Iterator[None]:
    """Have programs of Python that are started meanwhile look for no module where they start.

    Processes of Dask and of Python's own begin by ``python -c``, which does.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        os.environ.pop(_SAFE_PATH)
        if before is not None:
            os.environ[_SAFE_PATH] = before


@dataclass(frozen=True)
class _Helpers:
    """The workers of a cluster, doing parts of one run's work."""

    cluster: Cluster
    origin: Origin

    def threads(self) -> int:
        return max(1, sum(self.cluster.client(lambda done, total: None).nthreads().values()))

    def each(
        self, work: Work[P, R], parts: Iterator[P], total: float, progress: Progress
    ) -> Iterator[Done[P, R]]:
        from distributed import as_completed

        client = self.cluster.client(progress)
        told = {"version": __version__, "origin": vars(self.origin)}
        on_way: dict[str, P] = {}
        completed = as_completed()
        done, looked, room, alone = 0.0, 0.0, 1, time.monotonic()
        try:
            while True:
                progress(done, total)
                now = time.monotonic()
                if now - looked > _LOOK:
                    room, looked = _AHEAD * sum(client.nthreads().values()), now
                    alone = now if room else alone
                    self.cluster.check_patience(now - alone)
                while len(on_way) < max(1, room) and (part := next(parts, None)) is not None:
                    asked = {**told, "work": write((work, part))}
                    future = client.submit(do_part, asked, pure=False, retries=0)
                    on_way[future.key] = part
                    completed.add(future)
                if not on_way:
                    return
                if not completed.has_ready():
                    time.sleep(_BEAT)
                    continue
                for future in completed.next_batch(block=False):
                    part = on_way.pop(future.key)
                    found = _result(future, self.cluster.address)
                    done += len(part)
                    yield Done(part, found["found"], found["seconds"])
        finally:
            completed.clear()


def _result(future: Any, address: str) -> dict[str, Any]:
    """Return what a worker returned of a part.

    :raises KgdashError: if it refused, died of it again and again, or can not do it
    """
    from distributed import KilledWorker

    kept = "what was counted is kept: the same command goes on there"
    try:
        found: dict[str, Any] = future.result()
    except KilledWorker as error:
        raise KgdashError(
            f"workers died of the same part again and again, {error.last_worker.address} the last; "
            f"give them more memory; {kept}"
        ) from None
    except (ImportError, AttributeError, TypeError) as error:
        raise KgdashError(
            f"a worker of {address} can not count: it needs kgdash {__version__} ({error})"
        ) from None
    except Exception as error:
        if type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError"):
            raise KgdashError(f"the cluster at {address} is gone; {kept}") from None
        raise
    if "refused" in found:
        raise KgdashError(f"a worker of {address} refused: {found['refused']}")
    return found


def _check_versions(client: Any) -> None:
    """Refuse workers that have another version of kgdash, or none.

    :raises KgdashError: naming one
    """

    # A function in a function is sent as it is: no module of the worker's is needed to read it.
    def installed() -> str:
        try:
            from kgdash.version import __version__
        except ImportError:
            return "no kgdash"
        return f"kgdash {__version__}"

    for address, found in sorted(client.run(installed, on_error="return").items()):
        if found != f"kgdash {__version__}":
            raise KgdashError(
                f"worker {address} has {found}, and this command kgdash {__version__}: tables are "
                "the same only where all count by one version; install it there"
            )
