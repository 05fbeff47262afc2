"""A user's table of labelled rule instances: reading with errors that name the line, and writing.

One row per triple, tab-separated (or comma-separated, with the usual quoting), first line the names
of the columns, in any order:

=========  ========================================================================================
rule       what the rule is called, or its text
instance   which instance of the rule the triple belongs to; any text
head       entity, by name or label
relation   relation, by name or label
tail       entity, by name or label
label      of the whole instance: true, 1, yes, positive, or false, 0, no, negative
role       optional: head for the triple that the rule concludes, else body; default: an instance's
           (or grounding's) last triple is the head
grounding  optional: which grounding of the conclusion, where an instance has several; any text
predicted_side
           optional: head where the triple answers what its head is, else tail (the default)
=========  ========================================================================================
"""

from array import array
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.bounds import check_listed, check_written_out
from kgdash.files.table import to_csv, too_long
from kgdash.files.text import decode_text, first_printed, read_content, table_rows
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.arrow_texts import texts_at
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.studies.instances.instances import Instances, make_instances, tail_question
from kgdash.studies.instances.separation import ALL

COLUMNS = ["rule", "instance", "head", "relation", "tail", "label"]
OPTIONAL = ["role", "grounding", "predicted_side"]

#: what columns were called in tables that were written before
_FORMER = {"chain": "grounding", "asked": "predicted_side"}

LABELS = {
    **dict.fromkeys(("true", "1", "yes", "positive"), True),
    **dict.fromkeys(("false", "0", "no", "negative"), False),
}

#: what a row says, in numbers: texts and choices as their places in a list
_NUMBERS = ["line", "group", "name", "grounding_name", "label", "role", "predicted_side", *IDS]

_ROLES, _SIDES = ("", "head", "body"), ("tail", "head")

#: sizes at which a table is refused: unpacked bytes, rows, and rules
MAX_BYTES, MAX_ROWS, MAX_RULES = 64 * 2**20, 1_000_000, 10_000


@reads
def read_rule_table(
    source: str | Path | bytes, graph: KnowledgeGraph, name: str | None = None
) -> Instances:
    """Read a table of rule instances in the format above.

    :param source: path of a .tsv, .txt or .csv file, plain or .gz; or the bytes of one
    :param graph: resolves the names
    :param name: what to call the file in messages; it does not decide the format
    :return: groups are the rules; instances are numbered in order of their first line
    :raises KgdashError: if anything is wrong, with file and line, what was expected and what to do
    """
    shown = name or (str(source) if not isinstance(source, bytes) else "the uploaded table")
    text = decode_text(read_content(source, shown, MAX_BYTES), shown)
    if first_printed(text) < 0:
        raise KgdashError(f"{shown} is empty; expected columns {', '.join(COLUMNS)}")
    rows = table_rows(text, shown)
    line, header = next(rows, (1, []))
    place = _columns(header, f"{shown}, line {line}")
    # Numbers alone: pandas would take a million rows of texts apart at one go, for seconds in which
    # no other thread comes to a turn.
    numbers, texts = array("q"), dict[str, int]()
    for line, row in _limited(rows, shown):
        where = f"{shown}, line {line}"
        if len(row) != len(header):
            raise KgdashError(
                f"expected {len(header)} columns, as in the first line; found {len(row)} ({where})"
            )
        numbers.append(line)
        numbers.extend(_record({c: row[i] for c, i in place.items()}, graph, texts, where))
    if not numbers:
        raise KgdashError(f"{shown} holds no instances: expected rows below the column names")
    table = pd.DataFrame(np.array(numbers).reshape(-1, len(_NUMBERS)), columns=_NUMBERS)
    names = list(texts)
    rules = [names[number] for number in table["group"].unique()]
    if len(rules) > MAX_RULES:
        raise KgdashError(f"{shown} holds more than {MAX_RULES:,} rules; keep fewer")
    check_listed(rules, shown, "rules")
    triples = table[IDS].to_numpy()
    entities, relations = graph.entity_lookup, graph.relation_lookup
    check_written_out(triples, entities.longest_texts(), relations.longest_texts(), shown)
    table["number"] = table.groupby(["group", "name"], sort=False).ngroup()
    _check_labels(table, names, shown)
    return _instances(table, names, graph, shown)


def write_rule_table(
    instances: Instances, graph: KnowledgeGraph, extension: str = ".tsv", most: int | None = None
) -> str:
    """Write instances in the format above, entities and relations by name.

    Reading it back gives the same instances, numbered alike.

    :param extension: ".csv" for commas, else tabs
    :param most: characters that names and rules may have together
    :raises KgdashError: if a name or rule holds a tab or a line break, or is empty, or there are
        more
    """
    rows = instances.triples
    table = pd.DataFrame(
        {
            "rule": rows["group"].astype(object),
            "instance": rows["instance"].astype(str),
            "head": texts_at(graph.entities, rows["head"].to_numpy()),
            "relation": texts_at(graph.relations, rows["relation"].to_numpy()),
            "tail": texts_at(graph.entities, rows["tail"].to_numpy()),
            "label": np.where(rows["label"], "true", "false"),
            "role": np.where(rows["is_answer_triple"], "head", "body"),
            "grounding": rows["grounding"].astype(str),
            "predicted_side": rows["predicted_side"].astype(object),
        }
    )
    texts = table[["rule", "head", "relation", "tail"]]
    if most is not None and sum(int(texts[each].map(len).sum()) for each in texts) > most:
        raise too_long(most)
    for column in texts:
        for value in texts[column].unique():
            if value != value.strip() or not value or set(value) & set("\t\r\n"):
                raise KgdashError(
                    f"{column} {value!r} can not stand in a tab-separated table: it is empty, or "
                    "holds a tab, a line break or outer blanks; rename it first"
                )
    if extension == ".csv":
        return to_csv(table, index=False)
    lines = ["\t".join(row) for row in table.to_numpy().tolist()]
    return "\n".join(["\t".join(table.columns), *lines]) + "\n"


def _limited(rows: Iterator[tuple[int, list[str]]], shown: str) -> Iterator[tuple[int, list[str]]]:
    for count, row in enumerate(rows):
        if count == MAX_ROWS:
            raise KgdashError(f"{shown} holds more than {MAX_ROWS:,} rows; keep fewer instances")
        yield row


def _columns(header: list[str], where: str) -> dict[str, int]:
    names = [_FORMER.get(column.lower(), column.lower()) for column in header]
    missing = [column for column in COLUMNS if column not in names]
    twice = [column for column in (*COLUMNS, *OPTIONAL) if names.count(column) > 1]
    if missing or twice:
        fault = f"{', '.join(missing)} missing" if missing else f"{twice[0]} occurs twice"
        raise KgdashError(
            f"expected columns {', '.join(COLUMNS)} (optional: {', '.join(OPTIONAL)}), separated "
            f"by tabs or commas; found {', '.join(header)[:200]}: {fault} ({where}). "
            "Name the columns in the first line"
        )
    return {column: names.index(column) for column in (*COLUMNS, *OPTIONAL) if column in names}


def _record(
    value: dict[str, str], graph: KnowledgeGraph, texts: dict[str, int], where: str
) -> tuple[int, ...]:
    """Return what a row says, as `_NUMBERS` but the line; ``texts`` take new texts."""
    empty = [column for column in COLUMNS if not value[column]]
    if empty:
        raise KgdashError(f"expected a value in column {empty[0]}; found none ({where})")
    if value["rule"] == ALL:
        raise KgdashError(f"expected a rule not called {ALL!r}, which means all rules ({where})")
    label, role = value["label"].lower(), value.get("role", "").lower()
    if label not in LABELS:
        raise KgdashError(f"expected a label out of {', '.join(LABELS)}; found {label!r} ({where})")
    side = value.get("predicted_side", "").lower()
    _check_choice("role", role, _ROLES[1:], where)
    _check_choice("predicted_side", side, _SIDES[::-1], where)
    try:
        head, tail = graph.entity_id(value["head"]), graph.entity_id(value["tail"])
        relation = graph.relation_id(value["relation"])
    except KgdashError as error:
        raise KgdashError(f"{error} ({where})") from error
    group, name, grounding = (
        texts.setdefault(text, len(texts))
        for text in (value["rule"], value["instance"], value.get("grounding", ""))
    )
    choices = LABELS[label], _ROLES.index(role), side == _SIDES[1]
    return group, name, grounding, *choices, head, relation, tail


def _check_choice(column: str, given: str, allowed: Sequence[str], where: str) -> None:
    if given and given not in allowed:
        near = get_close_matches(given, allowed, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise KgdashError(
            f"expected {column} {' or '.join(allowed)}; found {given!r} ({where}){hint}"
        )


def _check_labels(table: pd.DataFrame, names: Sequence[str], shown: str) -> None:
    first = table.groupby("number")[["label", "line"]].transform("first")
    wrong = table[table["label"] != first["label"]]
    if len(wrong):
        row, before = wrong.iloc[0], first.loc[wrong.index[0], "line"]
        rule, name = names[row["group"]], names[row["name"]]
        found, was = ("true", "false") if row["label"] else ("false", "true")
        raise KgdashError(
            f"expected one label per instance; found {found} for instance {name!r} of rule "
            f"{rule[:60]!r}, {was} in line {before} ({shown}, line {row['line']}). "
            "Correct the label, or give the instances different names"
        )


def _instances(
    table: pd.DataFrame, names: Sequence[str], graph: KnowledgeGraph, shown: str
) -> Instances:
    table["grounding"] = table.groupby(["number", "grounding_name"], sort=False).ngroup()
    given = (table["role"] > 0).groupby(table["grounding"]).transform("any")
    last = ~table.duplicated("grounding", keep="last")
    table["is_answer_triple"] = np.where(given, table["role"] == _ROLES.index("head"), last)
    headless = table[~table.groupby("grounding")["is_answer_triple"].transform("any")]
    if len(headless):
        row = headless.iloc[0]
        rule, name = names[row["group"]], names[row["name"]]
        raise KgdashError(
            f"expected a triple with role head in instance {name!r} of rule "
            f"{rule[:60]!r}; found none ({shown}, line {row['line']}). Leave the role "
            "empty throughout to have the last triple taken"
        )
    table, repeated = _said_once(table, names, shown)
    concluded = table[table["is_answer_triple"]].drop_duplicates("number")
    asked, _, of, _ = distinct_rows(concluded[["relation", "head"]].to_numpy())
    questions = [tail_question(graph, h, r) for r, h in asked.tolist()]
    described = pd.DataFrame(
        {
            "instance": concluded["number"].to_numpy(),
            "question": pd.Series(texts_at(questions, of), dtype=object),
            "answer": pd.Series(
                graph.entity_lookup.distinct_labels(concluded["tail"].to_numpy()), dtype=object
            ),
        }
    )
    group = pd.Series(texts_at(names, table["group"].to_numpy()), table.index, dtype=object)
    side = pd.array(_SIDES, dtype="str").take(table["predicted_side"].to_numpy())
    rows = table.drop(columns=["name", "line"]).rename(columns={"number": "instance"})
    rows = rows.assign(group=group, predicted_side=side)
    notes = [f"read from {shown}"]
    if repeated:
        notes.append(f"{repeated:,} repeated under other names of instances, counted once")
    return make_instances(rows, described, notes)


def _said_once(table: pd.DataFrame, names: Sequence[str], shown: str) -> tuple[pd.DataFrame, int]:
    """Leave out instances that say what one before says under another name, and count them.

    :raises KgdashError: if one of them has another label
    """
    of_triple = table.groupby(["grounding", *IDS])["is_answer_triple"]
    rows = table.assign(is_answer_triple=of_triple.transform("any"))
    rows = rows.drop_duplicates(["grounding", *IDS], keep="last")
    said = pd.util.hash_pandas_object(
        rows[[*IDS, "is_answer_triple", "predicted_side"]], index=False
    )
    # Sets of sets: in whatever order they stand, and however often.
    ways = said.groupby(rows["grounding"]).sum().rename("way")
    of = rows.drop_duplicates("grounding")[["grounding", "number"]].join(ways, on="grounding")
    of = of.drop_duplicates(["number", "way"])
    whole = of.assign(way=pd.util.hash_array(of["way"].to_numpy())).groupby("number")["way"].sum()
    each = table.drop_duplicates("number").set_index("number")[["group", "label", "line", "name"]]
    each["whole"] = whole
    before = each.groupby(["group", "whole"])[["label", "line"]].transform("first")
    wrong = each[each["label"] != before["label"]]
    if len(wrong):
        row = next(wrong.itertuples())
        raise KgdashError(
            f"instance {names[row.name]!r} says what that of line {before.loc[row.Index, 'line']} "
            f"says, and has another label ({shown}, line {row.line}). Correct the label"
        )
    kept = each.index[each["line"] == before["line"]]
    return table[table["number"].isin(kept)], len(each) - len(kept)
