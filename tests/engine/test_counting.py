"""Counts by form: numbers.md#1-ranks and numbers.md#4-relik by their definitions, whatever the
form, the chunks and the threads."""

import itertools
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.engine import counting, tasks
from kgdash.engine.counting import count_both_sides, count_negatives, count_ranks
from kgdash.engine.form import Panels
from kgdash.graph.known_triples import KnownTriples
from tests.support import brute_force
from tests.support.fakes import array
from tests.support.plain_counts import plain
from tests.support.whole_numbers import SHAPES, WholeNumbers

ANCHOR = {"head": 0, "tail": 2}


@pytest.fixture
def threads():
    """Let a test choose how many threads count, and set it back."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture
def budget(monkeypatch):
    """Let a test choose how many bytes counting may take, fewer than may be asked for, too."""
    monkeypatch.setattr("kgdash.files.memory._LEAST", 1)
    return lambda memory: monkeypatch.setenv("KGDASH_MEMORY", str(memory))


def rows(counts):
    return np.stack(counts, axis=1).tolist()


def index(form, known):
    return KnownTriples(array(known), form.num_entities, form.num_relations)


def brute_ranks(form, triples, known, side):
    """List (better, equal, candidates) by numbers.md#1-ranks."""
    scorer, found = form.scorer(), []
    for triple in triples:
        low, _, high, left = brute_force.ranks(
            scorer, triple, side, known, form.num_entities, form.num_relations
        )
        found.append([low - 1, high - low, left])
    return found


def brute_negatives(form, triples, known, side):
    """List (better, equal) by numbers.md#4-relik."""
    scorer, found = form.scorer(), []
    for triple in triples:
        low, high = (
            brute_force.relik_rank(
                *(scorer, triple, side, known, form.num_entities, form.num_relations), rank_type
            )
            for rank_type in ("optimistic", "pessimistic")
        )
        found.append([low - 1, high - low])
    return found


def draw_triples(draw, form, count):
    limits = (form.num_entities, form.num_relations, form.num_entities)
    return [tuple(int(draw.integers(n)) for n in limits) for _ in range(count)]


@st.composite
def worlds(draw):
    """Draw a form, triples to evaluate and known ones; both may repeat and be self loops."""
    seed = draw(st.integers(0, 2**32 - 5))
    kind, fixed, inverse = draw(st.sampled_from(SHAPES))
    entities, relations = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    turns = draw(st.booleans())
    form = WholeNumbers.of(kind, entities, relations, seed, fixed, inverse, turns=turns)
    numbers = np.random.default_rng(seed)
    triples = draw_triples(numbers, form, draw(st.integers(1, 8)))
    known = draw_triples(numbers, form, draw(st.sampled_from([0, 1, 10, 40])))
    known += triples[: draw(st.integers(0, len(triples)))]
    return form, triples, known


@contextmanager
def counted_by(kernels):
    """Count with the kernels, or as on an accelerator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_uses_kernels", lambda form: kernels)
        yield


by_either = pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "device"])


@by_either
@given(world=worlds(), side=st.sampled_from(["head", "tail"]))
@settings(max_examples=30, derandomize=True)
def test_ranks_are_those_of_the_definition(kernels, world, side):
    form, triples, known = world
    with counted_by(kernels):
        check_ranks(form, triples, known, side)


def check_ranks(form, triples, known, side):
    filtered = count_ranks(form, array(triples), index(form, known), side)
    assert rows(filtered) == brute_ranks(form, triples, known, side)
    raw = count_ranks(form, array(triples), None, side)
    assert rows(raw) == brute_ranks(form, triples, [], side)
    assert all(part.dtype == np.int64 for part in (*filtered, *raw))


@by_either
@given(world=worlds())
@settings(max_examples=30, derandomize=True)
def test_negatives_are_those_of_the_definition(kernels, world):
    form, triples, known = world
    with counted_by(kernels):
        check_negatives(form, triples, known)


def check_negatives(form, triples, known):
    sides = []
    for side in ("head", "tail"):
        sides.append(rows(count_negatives(form, array(triples), index(form, known), side)))
        assert sides[-1] == brute_negatives(form, triples, known, side)
    if form.one_function:
        both = count_both_sides(form, array(triples), index(form, known))
        assert [rows(side) for side in both] == sides


@by_either
@given(world=worlds(), side=st.sampled_from(["head", "tail"]), data=st.data())
@settings(max_examples=20, derandomize=True)
def test_ranks_among_some_entities_only(kernels, world, side, data):
    """numbers.md#3-restriction: candidates are the chosen entities, all answers among them;
    filtering as before."""
    form, triples, known = world
    some = set(data.draw(st.lists(st.integers(0, form.num_entities - 1))))
    some |= {x[ANCHOR[side]] for x in triples}
    outside = [
        tuple(e if column == ANCHOR[side] else x[column] for column in range(3))
        for x in triples
        for e in range(form.num_entities)
        if e not in some
    ]
    with counted_by(kernels):
        for facts in (known, []):
            index_of = index(form, facts) if facts else None
            chosen = np.array(sorted(some))
            found = count_ranks(form, array(triples), index_of, side, entities=chosen)
            # Leaving an entity out is as if all its triples were known.
            assert rows(found) == brute_ranks(form, triples, [*facts, *outside], side)


class TestByHand:
    """Three entities on a line at 0, 1, 3; one relation, a step of 1; s = -|h + 1 - t|."""

    form = WholeNumbers(
        kind=1, entities=torch.tensor([[0.0], [1.0], [3.0]]), relations=torch.ones(1, 1)
    )

    def test_ranks(self):
        # (0, 0, ?): -1, 0, -2. (?, 0, 2): heads reach 1, 2, 4, that is -2, -1, -1 from 3.
        triples = array([(0, 0, 0), (0, 0, 1), (1, 0, 2)])
        # (1, 0, ?): -2, -1, -1.
        found = rows(count_ranks(self.form, triples, None, "tail"))
        assert found == [[1, 0, 3], [0, 0, 3], [0, 1, 3]]
        assert rows(count_ranks(self.form, triples[2:], None, "head")) == [[0, 1, 3]]
        known = index(self.form, [(2, 0, 2), (0, 0, 1)])
        assert rows(count_ranks(self.form, triples[2:], known, "head")) == [[0, 0, 2]]
        assert rows(count_ranks(self.form, triples[:2], known, "tail")) == [[0, 0, 2], [0, 0, 3]]

    def test_negatives(self):
        triples = array([(0, 0, 0)])
        assert rows(count_negatives(self.form, triples, index(self.form, []), "head")) == [[1, 0]]
        # (?, 0, 0): -1, -2, -4.
        assert rows(count_negatives(self.form, triples, index(self.form, []), "tail")) == [[0, 0]]
        known = index(self.form, [(0, 0, 1), (0, 0, 0)])
        assert rows(count_negatives(self.form, triples, known, "head")) == [[0, 0]]


class TestLarger:
    """So many entities and triples that there are several tiles, tasks, chunks and tables."""

    entities, relations = 530, 3

    def world(self, kind, fixed, inverse, **kwargs):
        form = WholeNumbers.of(kind, self.entities, self.relations, 7, fixed, inverse, **kwargs)
        draw = np.random.default_rng(8)
        triples = array(draw_triples(draw, form, 500))
        triples[:130, 0], triples[100:220, 2], triples[:60, 1] = 5, 529, 2
        triples[400:410] = triples[0]
        known = np.concatenate([triples[::2], array(draw_triples(draw, form, 3000))])
        known[100:600, 0], known[600:1100, 2] = 5, 529
        return form, triples, known

    def hidden_scores(self, form, known, side):
        """Return a side's scores with NaN at known triples."""
        scorer = form.scorer()
        scores = (scorer.heads if side == "head" else scorer.tails).numpy().copy()
        scores[tuple(array(known).T)] = np.nan
        return scores

    def expected_ranks(self, form, triples, known, side):
        own = self.hidden_scores(form, [], side)[tuple(triples.T)]
        scores = self.hidden_scores(form, known, side)
        found = []
        for (head, relation, tail), score in zip(triples.tolist(), own, strict=True):
            row = (scores[head, relation] if side == "tail" else scores[:, relation, tail]).copy()
            row[tail if side == "tail" else head] = np.nan
            left = 1 + (row == row).sum()
            found.append([(row > score).sum(), (row == score).sum(), left])
        return np.array(found).tolist()

    def expected_negatives(self, form, triples, known, side):
        as_candidate = "tail" if side == "head" else "head"
        own = self.hidden_scores(form, [], as_candidate)[tuple(triples.T)]
        scores = self.hidden_scores(form, known, as_candidate)
        around = (
            scores.reshape(self.entities, -1)
            if side == "head"
            else (scores.transpose(2, 1, 0).reshape(self.entities, -1))
        )
        found = np.array(plain(around, np.arange(self.entities), own, triples[:, ANCHOR[side]]))
        found[:, 1] -= ~index(form, known).contains(triples)
        return found.tolist()

    @pytest.mark.parametrize(("kind", "fixed", "inverse"), SHAPES[::3])
    def test_count_for_count(self, kind, fixed, inverse):
        form, triples, known = self.world(kind, fixed, inverse)
        facts = index(form, known)
        both = count_both_sides(form, triples, facts) if form.one_function else None
        for number, side in enumerate(("head", "tail")):
            ranks = self.expected_ranks(form, triples, known, side)
            negatives = self.expected_negatives(form, triples, known, side)
            for kernels in (True, False):
                with counted_by(kernels):
                    assert rows(count_ranks(form, triples, facts, side)) == ranks
                    assert rows(count_negatives(form, triples, facts, side)) == negatives
            if both:
                assert rows(both[number]) == negatives

    @pytest.mark.parametrize(
        ("fixed", "inverse", "elementwise"),
        [(True, False, True), (False, False, True), (True, True, True), (True, True, False)],
    )
    @pytest.mark.parametrize("turns", [True, False])
    def test_chunks_tasks_and_threads_change_nothing(
        self, monkeypatch, threads, budget, fixed, inverse, elementwise, turns
    ):
        form, triples, known = self.world(0, fixed, inverse, elementwise=elementwise, turns=turns)
        triples, facts = triples[::5], index(form, known)

        def everything(memory=2**31):
            budget(memory)
            found = [count_ranks(form, triples, facts, s) for s in ("head", "tail")]
            found += [count_negatives(form, triples, facts, s) for s in ("head", "tail")]
            if form.one_function:
                found += count_both_sides(form, triples, facts)
            return [rows(part) for part in found]

        threads(1)
        whole = everything()
        assert everything(memory=1) == whole
        threads(2)
        assert everything() == whole
        assert everything(memory=40_000) == whole
        threads(3)
        monkeypatch.setattr(tasks, "_TASK", 20_000)
        assert everything() == whole
        with counted_by(kernels=False):
            assert everything(memory=2**18) == whole


@pytest.mark.parametrize("side", ["head", "tail"])
def test_no_triples(side):
    form = WholeNumbers.of(0, 4, 2, 0)
    for count in (count_ranks, count_negatives):
        found = count(form, array([]), index(form, [(0, 0, 1)]), side)
        assert [len(part) for part in found] == [0] * len(found)


@pytest.mark.parametrize("count", ["ranks", "negatives", "both"])
def test_a_group_of_very_many_triples(count):
    """A hub's triples all stand in one group, whose table is large."""
    draw = np.random.default_rng(3)
    form = WholeNumbers(
        *(0, torch.from_numpy(draw.standard_normal((700, 1), dtype=np.float32))),
        torch.ones(2, 1) * torch.tensor([[0.25], [-3.0]]),
    )
    triples = np.stack([np.full(1400, 3), np.arange(1400) % 2, np.arange(1400) // 2], axis=1)
    facts = index(form, [])
    scores = form.scorer().tails.numpy()
    # float64 products of two float32 are exact, and so is one rounding to float32.
    own = scores[tuple(triples.T)]
    if count == "ranks":
        found = count_ranks(form, triples, None, "tail")[:2]
        group, around = triples[:, 1], scores[3]
        groups = np.arange(2)
    else:
        sides = count_both_sides(form, triples, facts)
        found = sides[0] if count == "both" else count_negatives(form, triples, facts, "head")
        groups, group, around = np.array([0]), np.zeros(1400, dtype=int), scores[3].reshape(1, -1)
    expected = np.array(plain(around, groups, own, group)) - [0, 1]
    assert rows(found) == expected.tolist()


class TestProgress:
    form = WholeNumbers.of(0, 400, 4, 1, fixed=False)
    triples = array(draw_triples(np.random.default_rng(2), form, 300))
    facts = index(form, triples[:100])

    def counts(self, name, progress):
        if name == "both":
            return count_both_sides(self.form, self.triples, self.facts, progress)
        count = count_ranks if name == "ranks" else count_negatives
        return count(self.form, self.triples, self.facts, "tail", progress)

    @pytest.mark.parametrize("name", ["ranks", "negatives", "both"])
    @pytest.mark.parametrize("memory", [2**31, 10_000])
    def test_grows_to_the_end(self, monkeypatch, budget, name, memory):
        budget(memory)
        monkeypatch.setattr(tasks, "_TASK", 20_000)
        seen = []

        def progress(done, total):
            seen.append(done / total)

        self.counts(name, progress)
        assert all(a <= b for a, b in itertools.pairwise(seen))
        assert seen[0] >= 0
        assert seen[-1] == pytest.approx(1)

    @pytest.mark.parametrize("name", ["ranks", "negatives", "both"])
    def test_raising_stops_the_work_and_its_threads(self, monkeypatch, threads, name):
        """There are some twenty tasks or more; the third one begins and waits for the end."""
        threads(2)
        monkeypatch.setattr(tasks, "_TASK", 1)
        kernel = "count_both" if name == "both" else "count_turned"
        real, begun, raised = getattr(counting, kernel), [], threading.Event()

        def slow(*args):
            begun.append(args)
            if len(begun) > 2:
                assert raised.wait(60)
                time.sleep(0.05)
            real(*args)

        def progress(done, total):
            if done > 0:
                raised.set()
                raise KeyboardInterrupt

        monkeypatch.setattr(counting, kernel, slow)
        with pytest.raises(KeyboardInterrupt):
            self.counts(name, progress)
        assert not [t for t in threading.enumerate() if t.name.startswith("kgdash_")]
        assert len(begun) < 10

    @pytest.mark.parametrize("name", ["ranks", "negatives", "both"])
    def test_what_fails_in_a_thread_reaches_the_caller(self, monkeypatch, threads, name):
        threads(2)

        def broken(*_):
            raise MemoryError("no room for panels")

        monkeypatch.setattr(Panels, "of", broken)
        with pytest.raises(MemoryError, match="no room"):
            self.counts(name, lambda done, total: None)
        assert not [t for t in threading.enumerate() if t.name.startswith("kgdash_")]
