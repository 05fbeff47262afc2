"""What an answer costs the server: CPU seconds of its process, by page, run and kind of visit.

Visits one after another the pages that `load.py` visits, as its visitors do, each with a run and
a size of its own and a tab that stays open; then leaves the tabs idle. Nothing else is asked of the
server meanwhile, so that what its process takes between question and answer is the answer's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from load import MORE, PAGES, RUNS, run_of
from load_server import Server
from visitor import Answer, Visitor

#: (page, graph) -> CPU seconds, seconds and bytes of each answer
Costs = dict[tuple[str, str], list[tuple[float, float, int]]]


class Meter:
    """Visits with the server's CPU seconds noted."""

    def __init__(self, server: Server) -> None:
        """Begin with nothing noted."""
        self.server, self.costs = server, defaultdict(list)

    async def note(self, page: str, run: str, visit: asyncio.Future[Answer]) -> None:
        """Wait for an answer; note what it took."""
        before = self.server.cpu_seconds()
        answer = await visit
        await asyncio.sleep(0.1)  # what is left to do once the answer has gone
        took = self.server.cpu_seconds() - before
        assert not answer.exceptions + answer.refusals, (page, run, answer.exceptions)
        self.costs[page, run.split("-")[0]].append((took, answer.seconds, answer.size))

    def show(self, title: str) -> None:
        """Print medians by page and graph, and the mean over all; forget what was noted."""
        print(f"\n{title}\n{'page':16}{'graph':8}{'n':>5}{'CPU s':>8}{'s':>8}{'KiB':>8}")
        for (page, graph), rows in sorted(self.costs.items()):
            cpu, wall, size = (statistics.median(column) for column in zip(*rows, strict=True))
            print(f"{page:16}{graph:8}{len(rows):5}{cpu:8.2f}{wall:8.2f}{size / 1024:8.0f}")
        every = [row for rows in self.costs.values() for row in rows]
        print(f"mean of {len(every)} answers: {statistics.mean(row[0] for row in every):.3f} CPU s")
        self.costs.clear()


async def measure(meter: Meter, visitors: int, answers: int, idle: float) -> None:
    """Open every page first, then answers in the load's mix, then leave the tabs idle."""
    for run in RUNS:
        first = Visitor(meter.server.address)
        await first.connect()
        for page in PAGES:
            await meter.note(page, run, first.visit(page, run=run))
        await first.close()
    meter.show("first visits")
    rng, tabs = random.Random(0), {}
    for turn in range(answers):
        number = turn % visitors
        if number not in tabs:
            tabs[number] = Visitor(meter.server.address)
            await tabs[number].connect()
        (page,) = rng.choices(list(PAGES), list(PAGES.values()))
        run, size = run_of(number), 10 + number
        choices = {"run": run, "size": size} if page == "local" else {"run": run}
        await meter.note(page, run, tabs[number].visit(page, **choices))
        if page == "local":
            await meter.note("local, set", run, tabs[number].set_number("size", size + MORE))
    meter.show(f"{visitors} visitors, one after another")
    before, start = meter.server.cpu_seconds(), time.monotonic()
    await asyncio.gather(*(tab.stay(idle) for tab in tabs.values()))
    took = (meter.server.cpu_seconds() - before) / (time.monotonic() - start)
    print(f"{len(tabs)} idle tabs: {took:.3f} CPU s a second")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds that tabs stay idle")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kgdash-cost-"))
    server = Server(folder)
    try:
        server.wait()
        asyncio.run(measure(Meter(server), options.visitors, options.answers, options.idle))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
