"""Vectors of words as text: word2vec's format, as gensim's ``save_word2vec_format`` writes it.

A line of two numbers, how many words and dimensions; then one line a word: the word, then its
numbers, separated by blanks. RDF2Vec writes entities and relations so, among other words.
"""

import re
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content, text_lines
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.interactions import unit_rows
from kgdash.formats.embeddings.name_lists import add_name
from kgdash.formats.embeddings.options import Options, interaction_and_norm
from kgdash.formats.embeddings.parts import Parts

#: bytes, unpacked
_MOST = 2**32

#: what Python takes in numbers, and no other reader: 1_0 for 10, and digits of other scripts
_OTHER = re.compile(r"[^\x00-\x7f]|_")

_ENTITIES_ALONE = ("dot", "cosine")


def read_word2vec(path: Path, options: Options) -> Embedding:
    """Read vectors of words; without an interaction they are compared by their cosine.

    :raises KgdashError: if the file is not of that form
    """
    interaction, norm = interaction_and_norm(options.interaction or "cosine", options.norm)
    names, vectors = _read(path)
    if options.unit:
        vectors = unit_rows(vectors, str(path))
    alone = interaction in _ENTITIES_ALONE
    parts = Parts(
        vectors,
        None if alone else vectors,
        None,
        options.layout,
        norm,
        where=str(path),
    )
    source = Source(str(path), str(path), str(path))
    return Embedding(interaction, names, () if alone else names, parts, source, vocabulary=True)


def _read(path: Path) -> tuple[tuple[str, ...], np.ndarray]:
    text = decode_text(read_content(path, str(path), _MOST), str(path))
    lines = text_lines(text, str(path))
    first = next(lines)[1].split()
    if len(first) != 2 or not all(t.isascii() and t.isdecimal() and len(t) < 19 for t in first):
        raise KgdashError(
            f"expected how many words and dimensions there are, as in 14541 100; found "
            f"{' '.join(first)!r:.60} ({path}, line 1). Binary files are not read: save as text"
        )
    count, width = map(int, first)
    if count * width > len(text):
        raise KgdashError(
            f"{path}: line 1 tells of {count:,} words with {width:,} numbers each, more than the "
            "file can hold; write it again"
        )
    rows, lines_of = np.empty((count, width), np.float32), dict[str, int]()
    for number, line in lines:
        line = line.rstrip()
        columns = line.rsplit(" ", width) if line else []
        if not columns:
            continue
        place = len(lines_of)
        try:
            if len(columns) != width + 1 or not width:
                raise ValueError(f"{len(columns) - 1} numbers")
            if other := _OTHER.search(line, len(columns[0])):
                raise ValueError(f"{other[0]!r} in them")
            if place < count:
                rows[place] = np.array(columns[1:], dtype=np.float32)
        except ValueError as error:
            raise KgdashError(
                f"expected a word and {width:,} numbers; found {error!s:.80} ({path}, line "
                f"{number})"
            ) from error
        add_name(lines_of, columns[0].strip(), number, f"{path}, line")
    if len(lines_of) != count:
        raise KgdashError(
            f"{path}: line 1 tells of {count:,} words, {len(lines_of):,} follow; write it again"
        )
    if not count:
        raise KgdashError(f"{path} holds no vectors")
    return tuple(lines_of), rows
