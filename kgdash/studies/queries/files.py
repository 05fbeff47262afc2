"""Queries and their answers from files and into them: JSON, tables, Parquet, folders."""

from collections.abc import Mapping
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.files.bounded_reading import reads
from kgdash.files.bounds import check_count
from kgdash.files.extensions import check_extension
from kgdash.files.text import decode_text, first_printed, read_content
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.queries.files_parquet import MAGIC, from_parquet, to_parquet
from kgdash.studies.queries.files_pickle import read_pickle_folder
from kgdash.studies.queries.files_text import from_json, from_table, to_json, to_table
from kgdash.studies.queries.named_queries import NamedQueries, in_graph, to_names
from kgdash.studies.queries.query_types import AskedQueries

#: bytes, unpacked, at which a file is refused
MAX_BYTES = 256 * 2**20

#: commas in a text for each row that a visitor may hand in
_COMMAS = 8

#: extensions that `write_queries` writes
EXTENSIONS = (".jsonl", ".json", ".tsv", ".parquet")


#: queries by type, and notes
ReadQueries = tuple[dict[str, AskedQueries], list[str]]


@reads
def read_queries(
    source: str | Path | bytes, graph: KnowledgeGraph, name: str | None = None, split: str = "test"
) -> ReadQueries:
    """Read queries with their easy and hard answers.

    :param source: path of a JSON, TSV, CSV or Parquet file, the former plain or .gz, or the bytes
        of one; or a folder as Query2box or BetaE publishes it, whose pickles are read without
        running anything
    :param graph: resolves names and labels
    :param name: what to call the file in messages; it does not decide the format
    :param split: of a folder: whose queries to read
    :return: queries by type; and notes on what was left out, such as entities that a model of
        ``graph`` does not know
    :raises KgdashError: if anything is wrong, with file and line, what was expected and what to do;
        or if no query is left
    """
    shown = name or (str(source) if not isinstance(source, bytes) else "the uploaded file")
    named, notes = read_named_queries(source, shown, split)
    found, more = in_graph(named, graph, shown)
    return found, [*notes, *more]


@reads
def read_named_queries(
    source: str | Path | bytes, shown: str, split: str = "test", progress: Progress = silent
) -> tuple[NamedQueries, list[str]]:
    """Read queries in names, without a graph; else like `read_queries`.

    :param progress: of a folder, called with (files read, files)
    """
    if not isinstance(source, bytes) and Path(source).is_dir():
        return read_pickle_folder(Path(source), split, progress)
    content = read_content(source, shown, MAX_BYTES)
    if content.startswith(MAGIC):
        return from_parquet(content, shown), []
    if content[:1] == b"\x80":
        raise KgdashError(
            f"{shown} is a pickle; convert the folder that it is from to Parquet first: "
            "kgdash import-queries FOLDER OUT.parquet"
        )
    text = decode_text(content, shown)
    check_count(text.count("\n"), shown, "lines")
    first = first_printed(text)
    if first < 0:
        raise KgdashError(f"{shown} is empty; expected queries as JSON lines or as a table")
    # Before any is built: one line may hold millions, and a name may hold commas.
    check_count(text.count(",") // _COMMAS, shown, "names")
    read = from_json if text[first] in "{[" else from_table
    return read(text, shown), []


def write_queries(
    asked: Mapping[str, AskedQueries], graph: KnowledgeGraph, out: str | Path
) -> None:
    """Write queries with their answers, by name; reading the file back gives the same.

    :param out: a .jsonl (or .json), .tsv or .parquet file
    :raises KgdashError: if the extension is another, the file can not be written, or a name can not
        stand in a table
    """
    write_named_queries(to_names(asked, graph), Path(out))


def write_named_queries(named: NamedQueries, out: Path) -> None:
    """Write queries in names; else like `write_queries`."""
    check_extension(out, EXTENSIONS)
    if out.suffix == ".parquet":
        to_parquet(named, out)
        return
    lines = to_table(named) if out.suffix == ".tsv" else to_json(named)

    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)

    write_atomically(out, write)
