"""The server that `load.py` visits, and the runs that it starts heavy jobs of."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Server:
    """A dashboard with a cache and runs of its own."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.folder = folder
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://localhost:{self.port}"
        places = {"KGDASH_CACHE": "cache", "KGDASH_DATA": "data", "KGDASH_LOG": "log.jsonl"}
        env = {
            "KGDASH_WORKERS": "1",
            **os.environ,
            **{name: str(folder / place) for name, place in places.items()},
        }
        command = ["streamlit", "run", "app.py", f"--server.port={self.port}"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command, "--server.headless=true"],
            cwd=ROOT,
            env={**env, "KGDASH_METRICS": "on"},
            stdout=(folder / "out.txt").open("a"),
            stderr=subprocess.STDOUT,
        )

    def wait(self) -> None:
        """Wait until it is well."""
        while self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.address}/healthz", timeout=10):
                    return
            except OSError:
                time.sleep(0.5)
        sys.exit(f"the server ended: {(self.folder / 'out.txt').read_text()}")

    def mebibytes(self) -> tuple[float, float]:
        """Return the resident memory of the server, and of its workers together."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        workers = children.read_text().split()
        return _resident(str(self.process.pid)), sum(map(_resident, workers))

    def cpu_seconds(self) -> float:
        """Return what its process has taken of the CPU so far, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(60)


def _resident(pid: str) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def make_heavy_runs(folder: Path, count: int) -> list[str]:
    """Write runs of FB15k-237 whose weights are the bundled one's and some noise: new to kgdash."""
    import torch

    from kgdash.formats.run_directory import read_run, write_run
    from kgdash.runs.bundled import DEMO

    graph, spec, state, manifest = read_run(DEMO / "fb15k-237-complex")
    names = [f"heavy-{number}" for number in range(count)]
    for number, name in enumerate(names):
        generator = torch.Generator().manual_seed(number)
        noisy = {
            key: value + 0.01 * torch.randn(value.shape, generator=generator).to(value.dtype)
            for key, value in state.items()
        }
        write_run(folder / name, graph, spec, noisy, manifest["training"], {"form": "load"})
    return names
