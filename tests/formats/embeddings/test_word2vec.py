"""Vectors of words as gensim 4.4.0 wrote them (``written/gensim.txt``)."""

from pathlib import Path

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.word2vec import read_word2vec
from kgdash.runs.importing import import_embedding
from tests.support.embeddings import GRAPH

GENSIM = Path(__file__).parent / "written" / "gensim.txt"


def test_cosines_are_gensims(tmp_path):
    run = import_embedding(GENSIM, tmp_path / "out", "word2vec", "nations", Options())
    assert run.provenance["dataset"] == "nations"
    brazil, burma = map(GRAPH.entities.index, ("brazil", "burma"))
    found = run.scorer.score_triples(torch.tensor([[brazil, 0, burma], [burma, 3, brazil]]))
    # model.wv.similarity("brazil", "burma")
    np.testing.assert_allclose(found.numpy(), 0.12827853858470917, rtol=1e-5)
    assert "55 entities of the embedding were left out" in "".join(run.notes)


def test_words_are_scaled_where_that_is_asked_for():
    plain, scaled = (read_word2vec(GENSIM, Options("dot", unit=unit)) for unit in (None, True))
    lengths = np.linalg.norm(plain.parts.entities, axis=1, keepdims=True)
    np.testing.assert_allclose(scaled.parts.entities, plain.parts.entities / lengths, rtol=1e-6)


def test_relations_are_words_too(tmp_path):
    options = Options("TransE-L2")
    run = import_embedding(GENSIM, tmp_path / "out", "word2vec", "nations", options)
    rows = {line.split()[0]: line.split()[1:] for line in GENSIM.read_text().splitlines()[1:]}
    h, r, t = (
        np.array(rows[name], dtype=float)
        for name in (GRAPH.entities[2], GRAPH.relations[7], GRAPH.entities[5])
    )
    found = run.scorer.score_triples(torch.tensor([[2, 7, 5]]))
    np.testing.assert_allclose(found.item(), -np.linalg.norm(h + r - t), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\n", r"expected how many words and dimensions .*line 1\)"),
        ("1 2\na 1\n", r"expected a word and 2 numbers; found 1 numbers .*line 2\)"),
        ("1 2\na 1 x\n", r"could not convert string to float.*line 2\)"),
        # Python takes these for 10 and 1.
        ("1 2\na 1 1_0\n", r"expected a word and 2 numbers; found '_' in them .*line 2\)"),
        ("1 2\na \u0661 1\n", r"found '\u0661' in them .*line 2\)"),
        ("1 2\na \uff11 1\n", r"found '\uff11' in them .*line 2\)"),
        ("2 1\na 1\n", "line 1 tells of 2 words, 1 follow"),
        ("0 1\n", "holds no vectors"),
        ("1 0\na\n", "expected a word and 0 numbers"),
        ("1 1\na 1\nb 2\n", "line 1 tells of 1 words, 2 follow"),
        ("999999999999 9999999\na 1\n", "more than the file can hold"),
        ("3 1\na 1\na 2\na x\n", "'a' stands at 2 already"),  # before all are kept
        ("", "line 1"),
    ],
)
def test_what_is_refused(text, message, tmp_path):
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(KgdashError, match=message):
        read_word2vec(tmp_path / "w.txt", Options())


def test_names_with_blanks(tmp_path):
    (tmp_path / "w.txt").write_text("2 2\nnew_york \u0661 1 2\nparis 3 4 \n")
    found = read_word2vec(tmp_path / "w.txt", Options())
    assert found.entity_names == ("new_york \u0661", "paris")
    assert found.parts.entities.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("head", ["", "1 600000\n"])
def test_numbers_of_a_long_line_are_not_made(head, tmp_path):
    (tmp_path / "v.txt").write_text(head + "1 " * 600_000)
    with pytest.raises(KgdashError, match="rows of less than 1,048,576 characters"):
        read_word2vec(tmp_path / "v.txt", Options())
