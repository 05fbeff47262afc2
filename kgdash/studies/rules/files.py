"""Rules out of files: what AMIE or AnyBURL wrote, or a table with a column ``rule``.

Defined in numbers.md#9-rules.

Which of them a file is follows from its content.

AMIE (Lajus et al., ESWC 2020): a log in which rows of a rule and tab-separated numbers stand, named
by a header line; a rule alone in its line is read too. AnyBURL (Meilicke et al., IJCAI 2019):
number of predictions, number correct, confidence and rule, separated by tabs. A table: tab- or
comma-separated, its first line holding ``rule`` and any of the columns of
`kgdash.studies.rules.confidence.count_rules`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import bounded_reading
from kgdash.files.bounds import check_count
from kgdash.files.text import check_row, csv_rows, decode_text, read_content
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.rules.confidence import METRICS
from kgdash.studies.rules.notation import Names, WrittenAtom, split_rule
from kgdash.studies.rules.parsing import resolved
from kgdash.studies.rules.rule import Rule, make_rule, rule_reading, rule_text
from kgdash.studies.rules.rule_table import Rules

#: sizes at which a file is refused: unpacked bytes, and rules
_MAX_BYTES, MAX_RULES = 64 * 2**20, 200_000

#: AMIE's header, as far as it is read
_AMIE = {
    "Head Coverage": "head_coverage",
    "Std Confidence": "standard_confidence",
    "PCA Confidence": "pca_confidence",
    "Positive Examples": "support",
    "Body size": "body_size",
    "PCA Body size": "pca_body_size",
}

#: metrics that count, and how they and shares may be written: AMIE has decimal commas at times, and
#: three zeros behind one may be thousands
_COUNTS = ("support", "body_size", "pca_body_size")
_WHOLE, _SHARE = r"\d{1,15}([.,]0{0,2})?", r"(\d{1,15}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,3})?"

#: other names of columns of a table
_ALIASES = {
    **dict.fromkeys(("std_confidence", "confidence"), "standard_confidence"),
    **dict.fromkeys(("positive_examples", "correct", "correctly_predicted"), "support"),
    **dict.fromkeys(("predicted", "predictions"), "body_size"),
}

#: columns of a table that are read, and those beside them that kgdash writes
_READ = ("rule", *METRICS)
_OURS = ("reading", "source", "head_relation", "atoms", "functional_variable")

_ANYBURL = ("body_size", "support", "standard_confidence")

#: line number, text of the rule, its metrics as they are written
_Row = tuple[int, str, dict[str, str]]


@dataclass(frozen=True)
class RuleFile:
    """A file of rules: its path, plain or .gz, or its bytes; and what to call it in messages."""

    source: str | Path | bytes
    name: str | None = None

    @property
    def shown(self) -> str:
        """Return what messages call the file."""
        given = isinstance(self.source, bytes)
        return self.name or ("the uploaded file" if given else str(self.source))


def read_rules(file: RuleFile, graph: KnowledgeGraph, progress: Progress = silent) -> Rules:
    """Read a file of rules.

    Rules with a relation or entity that the graph does not have, that are not of one to three
    linked atoms, or that came before are left out and counted.

    :param graph: resolves names and labels
    :return: in the order of the file; the table also has ``source`` ("AMIE", "AnyBURL" or "table"),
        and `METRICS` as the file gives them (float64, NaN where it does not): of AnyBURL its
        predictions as ``body_size``, those correct as ``support`` and its confidence as
        ``standard_confidence``, which it estimates from a sample. Notes say what was left out
    :raises KgdashError: if it holds no rules that can be used, or a row is malformed, with file and
        line
    """
    with bounded_reading(file.source):
        return _read(file, graph, progress)


def _read(file: RuleFile, graph: KnowledgeGraph, progress: Progress) -> Rules:
    shown = file.shown
    text = decode_text(read_content(file.source, shown, _MAX_BYTES), shown)
    check_count(text.count("\n"), shown, "lines")
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        check_row(len(line), f"{shown}, line {number}")
    kind, rows, unread = _rows(lines, shown)
    names, found = Names.of(graph), _Found(graph, shown)
    for number, text, numbers in rows:
        found.add(number, text, numbers, names)
        if found.count > MAX_RULES:
            raise KgdashError(
                f"{shown} holds more than {MAX_RULES:,} rules; keep those of highest confidence"
            )
        if found.count % 25 == 0:
            progress(number, len(lines))
    progress(1, 1)
    if not found.rules:
        why = "; ".join(found.notes()) or "no line is a rule"
        raise KgdashError(
            f"{shown} gives no rule for graph {graph.name}: {why}. Expected the output of AMIE or "
            "AnyBURL for this graph, or a table with a column rule"
        )
    table = pd.DataFrame(found.rows).assign(source=kind)
    columns = ["rule", "reading", "source", *METRICS]
    notes = found.notes()
    if unread:
        notes.append(f"columns that are not read: {', '.join(unread):.200}")
    return Rules(graph, table[columns], tuple(notes), tuple(found.rules.values()))


def _rows(lines: list[str], shown: str) -> tuple[str, Iterator[_Row], list[str]]:
    """Recognise a file: its kind, its rows that hold rules, columns that nothing is read of."""
    header = next((line for line in lines if line.strip()), "")
    named = {column.strip() for column in header.split("\t")}
    if not named & _AMIE.keys() and "rule" in (
        column.strip().lower() for column in re.split(r"[\t,]", header)
    ):
        names, rows = _head(lines, shown)
        unread = [name.strip() for name in names if _column(name) not in (*_READ, *_OURS, "")]
        return "table", _table(names, rows, shown), unread
    if any(re.search(r"\)\s*<=(\s|$)", line) for line in lines[:1000]):
        return "AnyBURL", _anyburl(lines, shown), []
    return "AMIE", _amie(lines, shown), []


def _amie(lines: list[str], shown: str) -> Iterator[_Row]:
    names = list(_AMIE)
    for number, line in enumerate(lines, start=1):
        text, *numbers = line.rstrip().split("\t")
        if not re.search(r"\s=>(\s|$)", text):
            if "Rule\t" in line:
                names = [name.strip() for name in line.split("Rule\t", 1)[1].split("\t")]
            continue
        if numbers and len(numbers) < len(names):
            raise KgdashError(
                f"expected {len(names) + 1} columns, a rule and {', '.join(names)}, separated by "
                f"tabs; found {len(numbers) + 1} ({shown}, line {number})"
            )
        pairs = zip(names, numbers, strict=False)
        yield number, text, {_AMIE[name]: value for name, value in pairs if name in _AMIE}


def _anyburl(lines: list[str], shown: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        *numbers, text = line.split("\t", 3)
        if len(numbers) != 3 or "<=" not in text:
            raise KgdashError(
                "expected AnyBURL's columns: predictions, correct, confidence and rule, separated "
                f"by tabs; found {line[:80]!r} ({shown}, line {number})"
            )
        yield number, text, dict(zip(_ANYBURL, numbers, strict=True))


def _head(lines: list[str], shown: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the first line of a table, its names of columns, and the rows below it."""
    header = next(line for line in lines if line.strip())
    comma = "," if "\t" not in header else "\t"
    rows = csv_rows((f"{line}\n" for line in lines), shown, delimiter=comma, skipinitialspace=True)
    return next(row for _, row in rows if "".join(row).strip()), rows


def _table(names: list[str], rows: Iterator[tuple[int, list[str]]], shown: str) -> Iterator[_Row]:
    columns = [_column(name) for name in names]
    # Not of all columns, which may be many, in each row.
    places = {name: columns.index(name) for name in _READ if name in columns}
    if several := [name for name in places if columns.count(name) > 1]:
        raise KgdashError(
            f"expected one column of {several[0].replace('_', ' ')}; found several in the first "
            f"line ({shown})"
        )
    if "rule" not in places:
        raise KgdashError(f"expected a column rule in the first line; found none ({shown})")
    for number, row in rows:
        if not "".join(row).strip():
            continue
        if len(row) != len(columns):
            raise KgdashError(
                f"expected {len(columns)} columns, as in the first line; found {len(row)} "
                f"({shown}, line {number})"
            )
        cells = {name: row[place] for name, place in places.items()}
        yield number, cells.pop("rule"), cells


def _column(name: str) -> str:
    """Return what of `METRICS` a column holds, by the names that AMIE, AnyBURL and others give."""
    plain = re.sub(r"[\s_-]+", "_", name.strip().lower())
    return _ALIASES.get(plain, plain)


class _Found:
    """Rules as they are read, and what was left out."""

    def __init__(self, graph: KnowledgeGraph, shown: str) -> None:
        self.graph, self.shown = graph, shown
        self.count = 0
        #: by the text of each rule
        self.rules: dict[str, Rule] = {}
        self.rows: list[dict[str, str | float]] = []
        self._left_out: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, number: int, text: str, numbers: dict[str, str], names: Names) -> None:
        """Take a rule, or count why not."""
        self.count += 1
        where = f"line {number}"
        read = {name: self._number(numbers.get(name, ""), name, number) for name in METRICS}
        written = split_rule(text, lambda: names)
        if written is None:
            self._leave("not of one to three atoms", f"{text.strip()[:80]!r}, {where}")
        elif unknown := _unknown((written[0], *written[1]), names):
            self._leave("over names that the graph does not have", f"{unknown!r}, {where}")
        else:
            try:
                rule = make_rule(*resolved(written, self.graph))
                canonical = rule_text(rule, self.graph)
            except KgdashError as error:
                self._leave("that can not be used", f"{error}, {where}")
                return
            if canonical in self.rules:
                self._leave("that came before", where)
                return
            self.rules[canonical] = rule
            reading = rule_reading(rule, self.graph)
            self.rows.append({"rule": canonical, "reading": reading, **read})

    def notes(self) -> list[str]:
        """Say what was left out, with the first of each kind."""
        return [
            f"{count:,} of {self.count:,} rules left out, {why} (first: {self._first[why]})"
            for why, count in self._left_out.items()
        ]

    def _leave(self, why: str, first: str) -> None:
        self._left_out[why] += 1
        self._first.setdefault(why, first)

    def _number(self, text: str, name: str, line: int) -> float:
        if text.strip().lower() in ("", "nan"):
            return float("nan")
        share = name not in _COUNTS
        if re.fullmatch(_SHARE if share else _WHOLE, text.strip()):
            value = float(text.replace(",", "."))
            if value <= 1 or not share:
                return value
        kind = "a number from 0 to 1" if share else "a whole number"
        raise KgdashError(
            f"expected {kind} for the {name.replace('_', ' ')}; found {text[:40]!r} ({self.shown}, "
            f"line {line})"
        )


def _unknown(atoms: tuple[WrittenAtom, ...], names: Names) -> str | None:
    """Return the first name that a graph does not have; AMIE may write it in angle brackets."""
    for start, relation, end in atoms:
        constants = [term.name for term in (start, end) if not term.variable]
        for name, known in ((relation, names.relations), *((c, names.entities) for c in constants)):
            if name not in known and name.removeprefix("<").removesuffix(">") not in known:
                return name
    return None
