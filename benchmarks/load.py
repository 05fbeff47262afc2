"""Many visitors at once: how quick pages stay, whether anyone sees another's, what memory does.

Starts a server of its own, with a cache of its own, and visits it by Streamlit's protocol. Each
visitor has a run and a size of its own, reads a page for a while, opens the next one or sets its
size anew, and closes the tab after a dozen pages for a new one. Some visitors start ReliK of whole
graphs that nothing is known of yet. Long work goes to one worker process, as with `kgdash serve`,
unless KGDASH_WORKERS says otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from websockets.exceptions import ConnectionClosed

sys.path.insert(0, str(Path(__file__).resolve().parent))
from load_server import ROOT, Server, make_heavy_runs
from visitor import Answer, Visitor

#: runs that visitors look at, with what the sidebar says of each; half of them the large graph
RUNS = {
    "umls-transe": "**TransE** on",
    "umls-distmult": "**DistMult** on",
    "umls-rotate": "**RotatE** on",
    "fb15k-237-complex": "**ComplEx** on",
}

#: pages by how often they are opened
PAGES = {
    "overview": 4,
    "local": 6,
    "metrics": 4,
    "breakdowns": 3,
    "inspect": 3,
    "reliability": 2,
    "score_health": 2,
    "classification": 2,
    "metric_guide": 1,
    "runs": 1,
}

#: seconds since the start, MiB of the server and of its workers
Sample = tuple[float, float, float]

#: pages that a tab opens before it is closed
_VIEWS = 12

#: by how much a visitor sets its size higher: more than there are visitors; UMLS has 135 entities
MORE = 60

#: what Triple classification, which has the same choice, sets it to at first
FIRST = 60

_SIZE = re.compile(rb"(\d+) entities, [\d,]+ known triples inside")


@dataclass
class Findings:
    """What all visitors found: seconds by page, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    exceptions: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    heavy: dict[str, str] = field(default_factory=dict)
    tabs: int = 0

    def take(self, page: str, answer: Answer, run: str, size: int | None) -> None:
        """Take in an answer, and check that it is about this visitor's choices."""
        self.seconds[page].append(answer.seconds)
        wrong = answer.exceptions + answer.refusals
        self.exceptions += [f"{page} of {run}: {text}" for text in wrong]
        if page == "runs":  # is about no run
            return
        shown = [text for text in RUNS.values() if answer.shows(text)]
        if shown != [RUNS[run]]:
            self.crossed.append(f"{page} of {run} shows {shown}")
        if size is not None:
            sizes = {int(n) for part in answer.messages for n in _SIZE.findall(part)}
            # What the tab had before goes before the address.
            if not sizes or not sizes <= {size, size + MORE, size - MORE, FIRST}:
                self.crossed.append(f"{page} of {run}, size {size}, shows {sizes}")


@dataclass
class Load:
    """What is asked of a server: by how many, for how long, how hastily."""

    address: str
    sessions: int
    seconds: float
    think: float
    findings: Findings = field(default_factory=Findings)

    async def visitor(self, number: int) -> None:
        """Visit until the time is over."""
        rng = random.Random(number)
        run = run_of(number)
        end = time.monotonic() + self.seconds
        await asyncio.sleep(rng.uniform(0, min(self.think, self.seconds / 4)))
        while time.monotonic() < end:
            self.findings.tabs += 1
            async with self.tab(run) as tab:
                for _ in range(_VIEWS):
                    await self.look(tab, rng, run, 10 + number)
                    if time.monotonic() >= end:
                        break

    @asynccontextmanager
    async def tab(self, run: str) -> AsyncIterator[Visitor]:
        """Open a tab; one that gets no answer any more is an exception among the findings."""
        tab = Visitor(self.address)
        try:
            await tab.connect()
            yield tab
        except (TimeoutError, OSError, ConnectionClosed) as error:
            self.findings.exceptions.append(f"tab of {run}: {type(error).__name__}")
        finally:
            await tab.close()

    async def look(self, tab: Visitor, rng: random.Random, run: str, size: int) -> None:
        """Open a page and read it; a visitor of Local reliability then sets its size anew."""
        (page,) = rng.choices(list(PAGES), list(PAGES.values()))
        is_local = page == "local"
        choices = {"run": run, "size": size} if is_local else {"run": run}
        answer = await tab.visit(page, **choices)
        self.findings.take(page, answer, run, size if is_local else None)
        await tab.stay(self.think * rng.uniform(0.5, 1.5))
        if is_local and "size" in tab.widgets:
            other = size + MORE
            self.findings.take("local, set", await tab.set_number("size", other), run, other)
            await tab.stay(self.think * rng.uniform(0.5, 1.5))

    async def heavy(self, run: str) -> None:
        """Start a whole graph's ReliK, close the tab now and then, and look whether it goes on."""
        end, start = time.monotonic() + self.seconds, time.monotonic()
        while time.monotonic() < end:
            async with self.tab(run) as tab:
                answers = [await tab.visit("reliability", run=run)]
                wrong = answers[0].exceptions + answers[0].refusals
                self.findings.exceptions += [f"heavy {run}: {text}" for text in wrong]
                if answers[0].shows("Median ReliK"):
                    self.findings.heavy[run] = f"done after {time.monotonic() - start:.0f} s"
                    return
                answers += await tab.stay(min(30.0, max(0.0, end - time.monotonic())))
                told = [
                    text for answer in answers for part in answer.messages for text in _told(part)
                ]
                self.findings.heavy[run] = told[-1] if told else "no word"

    async def all(self, heavy: list[str]) -> Findings:
        """Have all visitors visit at once."""
        await asyncio.gather(*map(self.visitor, range(self.sessions)), *map(self.heavy, heavy))
        return self.findings


def run_of(number: int) -> str:
    """Return the run that a visitor looks at: every other one that of the large graph."""
    return list(RUNS)[-1] if number % 2 else list(RUNS)[number // 2 % (len(RUNS) - 1)]


def _told(part: bytes) -> list[str]:
    found = re.findall(rb"(?:Counting|in line|Preparing|of the triples)[^\x00-\x1f]{0,80}", part)
    return [text.decode("utf-8", "replace") for text in found]


async def first_visits(address: str) -> dict[str, float]:
    """Open every page of every run once, alone; return the seconds."""
    found = {}
    for run in RUNS:  # a tab of its own: what it chose before would go before the address
        tab = Visitor(address)
        await tab.connect()
        for page in PAGES:
            answer = await tab.visit(page, run=run)
            assert not answer.exceptions, answer.exceptions
            found[f"{page} of {run}"] = answer.seconds
        await tab.close()
    return found


async def measured(
    load: Load, server: Server, heavy: list[str]
) -> list[tuple[float, float, float]]:
    """Run a load and sample the server's memory: seconds, MiB of the server, MiB of workers."""
    samples, start = [], time.monotonic()
    work = asyncio.create_task(load.all(heavy))
    while not work.done():
        samples.append((time.monotonic() - start, *server.mebibytes()))
        await asyncio.wait([work], timeout=5)
        minutes = len(samples)
        if minutes % 60 == 0:
            print(f"  {samples[-1][0] / 60:.0f} min: {samples[-1][1]:.0f} MiB", flush=True)
    await work
    return samples


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that at least this share do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(findings: Findings, samples: list[Sample]) -> None:
    """Print what was found."""
    print(f"\n{'page':16}{'n':>7}{'p50':>8}{'p95':>8}{'max':>8}")
    everything = [value for values in findings.seconds.values() for value in values]
    for page, values in [*findings.seconds.items(), ("all", everything)]:
        row = statistics.median(values), percentile(values, 0.95), max(values)
        print(f"{page:16}{len(values):7}" + "".join(f"{value:8.2f}" for value in row))
    print(f"{findings.tabs} tabs; exceptions: {len(findings.exceptions)}; ", end="")
    print(f"answers about another's choices: {len(findings.crossed)}")
    for text in (findings.crossed[:10] + findings.exceptions)[:20]:
        print("  !", text)
    for run, text in findings.heavy.items():
        print(f"  whole graph of {run}: {text}")
    end = samples[-1][0]
    for name, moment in (("after 5 min", 300.0), ("at the end", end)):
        near = [row for row in samples if moment - 60 <= row[0] <= moment] or samples[-1:]
        server, workers = (statistics.mean(row[k] for row in near) for k in (1, 2))
        print(f"memory {name}: server {server:.0f} MiB, workers {workers:.0f} MiB")
    print(f"peak: {max(row[1] for row in samples):.0f} MiB")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--think", type=float, default=10.0, help="seconds a page is read")
    parser.add_argument("--heavy", type=int, default=2, help="visitors with whole-graph jobs")
    parser.add_argument("--keep", type=Path, help="folder for log and figures")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kgdash-load-"))
    sys.path.insert(0, str(ROOT))
    heavy = make_heavy_runs(folder / "data" / "runs", options.heavy)
    server = Server(folder)
    try:
        server.wait()
        first = asyncio.run(first_visits(server.address))
        slow = sorted(first.items(), key=lambda item: -item[1])[:5]
        print(
            "first visits, the slowest:", ", ".join(f"{n} {s:.1f} s" for n, s in slow), flush=True
        )
        load = Load(server.address, options.sessions, 60 * options.minutes, options.think)
        samples = asyncio.run(measured(load, server, heavy))
        show(load.findings, samples)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            figures = {"samples": samples, "seconds": load.findings.seconds, "first": first}
            (options.keep / "load.json").write_text(json.dumps(figures))
            shutil.copy(folder / "log.jsonl", options.keep)
            shutil.copy(folder / "out.txt", options.keep)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
