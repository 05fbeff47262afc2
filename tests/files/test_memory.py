"""The memory budget: what is understood, what is refused, and that block sizes follow it."""

import os

import numpy as np
import pytest
import torch

from kgdash.engine import tasks
from kgdash.engine.counting import count_negatives, count_ranks
from kgdash.errors import KgdashError
from kgdash.files.memory import block_bytes, free_memory, memory_budget
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking.ranks import rank_triples
from kgdash.ranking.relik_exact import relik_exact
from kgdash.scoring import pykeen_scorer
from tests.support.fakes import array, random_scorer
from tests.support.whole_numbers import WholeNumbers

MIB, GIB = 2**20, 2**30


@pytest.fixture
def budget(monkeypatch):
    """Set the variable."""
    return lambda text: monkeypatch.setenv("KGDASH_MEMORY", text)


@pytest.mark.skipif(not os.path.exists("/proc/meminfo"), reason="Linux alone says it")
def test_what_is_free():
    assert 0 < free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_two_gib_if_nothing_is_said(monkeypatch):
    monkeypatch.delenv("KGDASH_MEMORY", raising=False)
    assert memory_budget() == 2 * GIB


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("67108864", 64 * MIB),
        ("67108864 B", 64 * MIB),
        ("65536k", 64 * MIB),
        ("65536 KiB", 64 * MIB),
        ("500MB", 500 * MIB),
        ("500mb", 500 * MIB),
        ("500M", 500 * MIB),
        ("500 MiB", 500 * MIB),
        ("4 GiB", 4 * GIB),
        ("  4gib  ", 4 * GIB),
        ("0.5G", GIB // 2),
        ("1.25 GB", 5 * GIB // 4),
        ("0.0625GiB", 64 * MIB),
        ("100000 GB", 100_000 * GIB),
        ("2TB", 2048 * GIB),
    ],
)
def test_amounts(budget, text, expected):
    budget(text)
    assert memory_budget() == expected


@pytest.mark.parametrize(
    "text",
    [
        *(" ", "much", "GiB", "2 PB", "2 gigabytes", "2GiBB", "-2GiB", "+2GiB", "2,5GiB"),
        *("1e9", "0x1000000000", "2 GiB 1 MiB", ".5GiB", "1.GiB", "nan", "inf", "2\nGiB\n3"),
        "9" * 400,
        *("0", "64", "67108863", "63 MiB", "63.9MB", "1kb", "0.06GiB"),
    ],
)
def test_what_is_no_amount_or_too_little_is_refused(budget, text):
    budget(text)
    with pytest.raises(KgdashError, match="at least 64 MiB") as refused:
        memory_budget()
    assert repr(text) in str(refused.value)
    with pytest.raises(KgdashError, match="KGDASH_MEMORY"):
        block_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("64MiB", 4 * MIB), ("512MiB", 32 * MIB), ("1GiB", 64 * MIB), ("100 GiB", 64 * MIB)],
)
def test_blocks_take_a_sixteenth_of_a_budget_and_do_not_grow_for_ever(budget, text, expected):
    budget(text)
    assert block_bytes() == expected


class TestEffect:
    """A tenth of the memory, ten times the blocks, the same tables."""

    entities, relations = 40, 6
    triples = array(np.random.default_rng(0).integers(0, (40, 6, 40), size=(200, 3)))
    known = KnownTriples(triples[:150], 40, 6)

    @pytest.mark.parametrize("compute", [rank_triples, relik_exact])
    def test_rows_at_once(self, monkeypatch, budget, compute):
        scorer = random_scorer(self.entities, self.relations)
        budget("64MiB")
        whole = compute(scorer, self.triples, self.known)
        most = max(count for _, count in scorer.asked)
        # So small a graph needs a smaller budget than may be asked for.
        monkeypatch.setattr("kgdash.files.memory._LEAST", 1)
        budget(str(16 * 4 * self.entities * 18))
        scorer.asked.clear()
        parts = compute(scorer, self.triples, self.known)
        assert max(count for _, count in scorer.asked) == 18 < most
        assert parts.equals(whole)

    def test_counting_by_form_is_told_the_budget(self, monkeypatch, budget):
        told = []

        def query_chunks(form, count, queries_each, memory):
            told.append(memory)
            return []

        form = WholeNumbers.of(0, self.entities, self.relations, 0)
        monkeypatch.setattr("kgdash.engine.counting.query_chunks", query_chunks)
        budget("300MB")
        for side in ("head", "tail"):
            count_ranks(form, self.triples, self.known, side)
            count_negatives(form, self.triples, self.known, side)
        assert told == [300 * MIB] * 4

    def test_calls_into_pykeen(self, monkeypatch, budget):
        class Model:
            entity_representations = relation_representations = ()
            num_entities, num_real_relations, device = 1000, 5, torch.device("cpu")
            sizes: list[int] = []

            def eval(self):
                return self

            def predict_t(self, pairs):
                self.sizes.append(len(pairs))
                return torch.zeros(len(pairs), self.num_entities)

        model = Model()
        scorer, pairs = pykeen_scorer.PyKEENScorer(model), torch.zeros((2000, 2), dtype=torch.long)
        budget("64MiB")
        assert scorer.score_tails(pairs).shape == (2000, 1000)
        # A quarter of it, for rows of 1000 candidates with 3 × 64 floats each.
        assert model.sizes[0] == 64 * MIB // 4 // (4 * 3 * 64 * 1000)
        assert sum(model.sizes) == 2000
        model.sizes.clear()
        budget("10GiB")
        scorer.score_tails(pairs)
        assert model.sizes[0] == pykeen_scorer._TEMPORARY_BYTES // (4 * 3 * 64 * 1000)


@pytest.mark.parametrize("memory", [1, 10_000, 2**20, 2**31])
@pytest.mark.parametrize("elementwise", [True, False])
@pytest.mark.parametrize("queries_each", [1, 7])
def test_query_vectors_stay_within_their_part(memory, elementwise, queries_each):
    class Form:
        dimension = 50

    Form.elementwise = elementwise
    chunks = tasks.query_chunks(Form, 1001, queries_each, memory)
    starts, stops = zip(*chunks, strict=True)
    assert starts == (0, *stops[:-1])
    assert stops[-1] == 1001
    sizes = [stop - start for start, stop in chunks]
    affordable = memory // (4 * 50 * queries_each)
    assert all(size == 1 or size <= affordable / 8 for size in sizes)
    assert max(sizes) == sizes[0] > 0
