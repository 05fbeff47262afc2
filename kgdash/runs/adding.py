"""Taking a run into the folder of runs: from a folder on this machine, or from a zip file."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounds import check_count, check_labels, check_listed, check_written_out
from kgdash.files.regular import open_regular
from kgdash.files.roots import opened
from kgdash.files.visitor import check_right, visitor, working_for
from kgdash.formats.pykeen_directory import MODEL_FILE
from kgdash.formats.run_directory import MANIFEST, TRIPLES, count_rows, read_run
from kgdash.formats.zipped_run import FILES, unpack_run
from kgdash.runs.library import keep_run, named_runs, suggested_name
from kgdash.runs.loading import convert, load

#: bytes of a visitor's run.json, which all pages' lists of runs read: 10,000 epochs
_RECORD = 2**18


def add_folder(folder: str | Path, dataset: str | None = None, name: str = "") -> Path:
    """Copy a run on this machine into the folder of runs; it is loaded once, to be sure of it.

    :param folder: in our safe form, or as PyKEEN's ``save_to_directory`` writes it, which is
        converted; nothing of its pickle runs
    :param dataset: of a PyKEEN directory, by PyKEEN name or folder
    :param name: to keep it under; else made of its folder's name, with a number if that is taken
    :return: its folder in the folder of runs
    :raises KgdashError: as `kgdash.runs.loading.load`, or if the name can not be had
    """
    check_right("add")
    source = opened(folder)
    if not os.path.isdir(folder):  # False, too, of a name that can not be
        raise KgdashError(f"There is no folder {folder}.")
    if source.resolve() in [kept.resolve() for kept in named_runs().values()]:
        raise KgdashError(f"{folder} is among the runs already")
    return _keep(lambda out: _copy(source, dataset, out), name, source.resolve().name)


def add_zip(content: bytes, shown: str, dataset: str | None = None, name: str = "") -> Path:
    """Unpack a zip file of a run into the folder of runs; it is loaded once, to be sure of it.

    :param content: of the zip file
    :param shown: its file name
    :param dataset: as for `add_folder`
    :param name: as for `add_folder`, else made of the file's name
    :return: its folder in the folder of runs
    :raises KgdashError: as `kgdash.formats.zipped_run.unpack_run` and `add_folder`; nothing of it
        is kept then
    """

    check_right("add")

    def write(out: Path) -> None:
        unpacked = unpack_run(content, shown, out.parent / "unpacked" / out.name)
        try:
            _copy(unpacked, dataset, out)
        except KgdashError as error:
            raise KgdashError(str(error).replace(str(unpacked), shown)) from error
        _check_bounds(out, shown)

    return _keep(write, name, Path(shown).stem)


def _check_bounds(run: Path, shown: str) -> None:
    graph = read_run(run)[0]
    check_count(sum(map(len, graph.splits.values())), shown, "triples")
    names = (graph.entities, graph.entity_labels, graph.relations, graph.relation_labels)
    check_labels(chain.from_iterable(names), shown)
    for listed in (graph.relations, graph.relation_labels):
        check_listed(listed, shown, "relations")
    triples = np.concatenate([*graph.splits.values()])
    entities, relations = graph.entity_lookup, graph.relation_lookup
    check_written_out(triples, entities.longest_texts(), relations.longest_texts(), shown)


def _check_record(run: Path, shown: str) -> None:
    size = (run / MANIFEST).stat().st_size
    if not visitor().is_local and size > _RECORD:
        raise KgdashError(
            f"{MANIFEST} of {shown} has {size:,} bytes; expected at most {_RECORD:,}: leave losses "
            "out of what it records of the training"
        )


def _keep(write: Callable[[Path], None], name: str, fallback: str) -> Path:
    def write_checked(out: Path) -> None:
        write(out)
        _check_record(out, fallback)
        check_right("add")  # a log-in may have ended meanwhile

    return keep_run(
        write_checked, name.strip() or suggested_name(fallback, ""), numbered=not name.strip()
    )


def _copy(source: Path, dataset: str | None, out: Path) -> None:
    """Write the run of a folder to ``out``, checked as it lies there then."""
    if (source / MANIFEST).is_file():
        if dataset:
            raise KgdashError(f"{source} holds its own graph; leave the dataset out")
        try:
            out.mkdir()
            for name in FILES:
                if (source / name).is_file():
                    with open_regular(source / name) as read, (out / name).open("wb") as written:
                        shutil.copyfileobj(read, written)
        except OSError as error:
            raise KgdashError(f"can not copy {source}: {error.strerror or error}") from error
        # What was copied lies in the server's own folder, outside of all that visitors may name.
        anywhere = replace(visitor(), roots=None)
        try:
            if (out / TRIPLES).is_file():  # loading says what is missing
                check_count(count_rows(out), str(source), "triples")
            with working_for(anywhere):
                load(out)
        except KgdashError as error:
            raise KgdashError(str(error).replace(str(out), str(source))) from error
    elif (source / MODEL_FILE).is_file():
        convert(source, out, dataset or None)
    else:
        load(source)  # says what is missing
