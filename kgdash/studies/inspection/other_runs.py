"""The same triple under several runs of one graph."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.folder_memory import FolderMemory
from kgdash.files.roots import may_open
from kgdash.formats.run_directory import GRAPH, MANIFEST, TRIPLES, read_manifest
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.library import named_runs, run_folder
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import FILTER, inspect_triple

#: folders beside a run that are looked into
_MOST = 64

#: characters of a checksum
_SHA256 = 64


def runs_on_same_graph(run: Run, most: int | None = None, progress: Progress = silent) -> list[str]:
    """Name the other runs of a run's graph: those with a name, and in folders beside its own.

    Whose manifest gives the same checksums of the graph's files is of that graph. A run that was
    read from a PyKEEN directory has no such files, and so no others.

    :param most: at which to stop; None: all
    :return: what `kgdash.runs.loading.load` takes
    """
    return [name for name, _ in islice(folders_on_same_graph(run, progress), most)]


def folders_on_same_graph(run: Run, progress: Progress = silent) -> Iterator[tuple[str, Path]]:
    """Find the runs of `runs_on_same_graph` one by one, each with its folder."""
    source = str(run.provenance.get("source", ""))
    if not source:
        return
    named = named_runs()
    try:
        own = run_folder(source, named)
    except KgdashError:  # it was removed since
        return
    checksums = _checksums.get(own)
    if checksums is None:
        return
    folders = dict(named)
    if source not in named:
        beside = sorted(path.parent for path in own.resolve().parent.glob(f"*/{MANIFEST}"))
        folders |= {str(folder): folder for folder in beside[:_MOST] if may_open(folder)}
    for done, (name, folder) in enumerate(folders.items()):
        progress(done, len(folders))
        if _checksums.get(folder) == checksums and not _is_one(folder, own):
            yield name, folder


def _is_one(folder: Path, other: Path) -> bool:
    try:
        return folder.samefile(other)
    except OSError:  # one was removed since
        return False


def with_others(run: Run, others: Mapping[str, Run]) -> dict[str, Run]:
    """Put a run before others by name, by its weights too where one of them has its name."""
    name = run.name if run.name not in others else f"{run.name} ({run.weights_digest[:6]})"
    return {name: run, **others}


def same_triple(
    runs: Mapping[str, Run],
    triple: InspectedTriple,
    filter: str = FILTER,
    progress: Progress = silent,
    method: str | None = None,
) -> pd.DataFrame:
    """Inspect one triple in several runs.

    :param runs: by name, all of one graph
    :param triple: without an open side
    :param method: of ReliK, as `inspect_triple` takes it
    :return: one row per run: ``run`` (str), ``score``, ``tail_rank``, ``head_rank``,
        ``relation_rank`` (float64: realistic, filtered), ``relik`` (float64),
        ``relik_head_rank``, ``relik_tail_rank`` (int64), and of sampled ReliK ``relik_low``,
        ``relik_high`` (float64)
    :raises KgdashError: if the runs are of several graphs, or on NaN scores
    """
    if len({run.graph.digest for run in runs.values()}) > 1:
        raise KgdashError("expected runs of one graph; found several graphs")
    rows = []
    for (name, run), report in zip(runs.items(), phases(progress, [1.0] * len(runs)), strict=True):
        found = inspect_triple(run, triple, filter, progress=report, method=method)
        assert found.relik is not None, "the triple is whole"
        row: dict[str, object] = {"run": name, "score": found.score}
        for side, at in (
            ("tail", triple.tail),
            ("head", triple.head),
            ("relation", triple.relation),
        ):
            assert at is not None, "the triple is whole"
            row[f"{side}_rank"] = found.sides[side].rank(at).realistic
        row |= {"relik": found.relik.value, "relik_head_rank": found.relik.head_rank}
        row["relik_tail_rank"] = found.relik.tail_rank
        if found.relik.interval is not None:
            row["relik_low"], row["relik_high"] = found.relik.interval
        rows.append(row)
    return pd.DataFrame(rows)


def _read_checksums(folder: Path) -> tuple[str, str] | None:
    try:
        sums = read_manifest(folder)["sha256"]
    except KgdashError:
        return None
    graph, triples = sums.get(GRAPH), sums.get(TRIPLES)
    texts = isinstance(graph, str) and isinstance(triples, str)
    return (graph, triples) if texts and max(len(graph), len(triples)) <= _SHA256 else None


_checksums = FolderMemory((MANIFEST,), _read_checksums)
