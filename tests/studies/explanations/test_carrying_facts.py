"""Ranks without the carrying facts are those of a model refitted without them."""

import re

import numpy as np
import pytest
import torch

import kgdash
from kgdash.files import table_cache
from kgdash.graph import default_filter
from kgdash.studies.explanations import carrying_facts as carrying
from kgdash.studies.explanations.carrying_facts import (
    CANDIDATES,
    ENOUGH,
    MOST,
    affine_form,
    carrying_facts,
)
from kgdash.studies.explanations.entity_loss import EntityLoss, facts_around
from kgdash.studies.explanations.refit import EntityRefit
from kgdash.studies.inspection.candidates import side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from tests.studies.explanations.conftest import Written
from tests.support.embeddings import ENTITIES, GRAPH, RELATIONS, vectors
from tests.support.fakes import FakeScorer, fake_run, make_graph


def found_of(run, triple, side):
    asked = InspectedTriple(*triple)
    candidates = side_candidates(run, asked, side, default_filter(None))
    return carrying_facts(run, np.array(triple), side, candidates)


def direct_rank(made: Written, triple, side, x):
    """Rank with the entity's vector replaced in PyKEEN's model, by comparing one by one."""
    h, r, t = triple
    entity, answer, query = (h, t, (h, r)) if side == "tail" else (t, h, (r, t))
    scores = made.rows(entity, x, side, np.array([query]))[0].tolist()
    known = {tuple(row) for row in made.graph.all_triples.tolist()}
    rank = 1.0
    for e, score in enumerate(scores):
        other = (h, r, e) if side == "tail" else (e, r, t)
        if e != answer and other not in known:
            rank += (score > scores[answer]) + (score == scores[answer]) / 2
    return rank


def test_ranks_are_those_of_refitted_models(written):
    shown = 0
    for name in ("DistMult", "ComplEx"):
        made = written(name)
        test = made.graph.split("test")
        for triple in test[:8].tolist():
            for side in ("tail", "head"):
                found = found_of(made.run, triple, side)
                assert found.rank == direct_rank(
                    made, triple, side, made_vector(made, found.entity)
                )
                if np.isnan(found.rank_before):
                    continue
                refit = EntityRefit(
                    EntityLoss(
                        affine_form(made.run), found.entity, facts_around(made.graph, found.entity)
                    )
                )
                assert found.rank_before == direct_rank(made, triple, side, refit.whole)
                reproduced = abs(np.log(found.rank_before / found.rank)) <= np.log(2) + 1e-9
                assert reproduced == ("reproduce" not in found.missing)
                if not len(found.facts):
                    continue
                shown += 1
                rows = [refit.loss.facts.tolist().index(fact) for fact in found.facts.tolist()]
                x = refit.without(rows)
                assert found.rank_after == direct_rank(made, triple, side, x)
                assert found.effect == pytest.approx(np.log(found.rank_after / found.rank_before))
                assert found.effect > 0
                assert len(rows) <= MOST
                tried = np.argsort(-found.influences, kind="stable")[:CANDIDATES]
                assert set(rows) <= set(tried.tolist())
                for count, row in enumerate(rows):
                    x = refit.without(rows[:count]) if count else refit.whole
                    slope = refit.loss.slope(side, triple[1], triple[2 if side == "tail" else 0], x)
                    now = refit.influences(slope, x, rows[:count])
                    assert row == max(set(tried.tolist()) - set(rows[:count]), key=now.__getitem__)
    assert shown > 3


def made_vector(made, entity):
    return EntityLoss(affine_form(made.run), entity, facts_around(made.graph, entity)).trained


def test_the_set_is_the_smallest_that_is_enough(written):
    made = written("ComplEx")
    for triple in made.graph.split("test").tolist():
        found = found_of(made.run, triple, "tail")
        if len(found.facts) < 2 or found.rank_after < ENOUGH * found.rank_before:
            continue
        refit = EntityRefit(
            EntityLoss(affine_form(made.run), found.entity, facts_around(made.graph, found.entity))
        )
        rows = [refit.loss.facts.tolist().index(fact) for fact in found.facts.tolist()]
        fewer = direct_rank(made, triple, "tail", refit.without(rows[:-1]))
        assert fewer < ENOUGH * found.rank_before


def test_the_triple_itself_is_no_reason(written):
    made = written("DistMult")
    for triple in made.graph.split("train")[::15].tolist():
        assert triple not in found_of(made.run, triple, "tail").facts.tolist()


@pytest.mark.parametrize(
    ("triple", "why"),
    [((0, 0, 0), "the same entity"), ((0, 0, 3), "has no refit in linear time")],
)
def test_without_a_refit(triple, why):
    graph = make_graph([(0, 0, 1), (1, 0, 2)], entities=4)
    tensor = np.random.default_rng(0).normal(size=(4, 1, 4))
    found = found_of(fake_run(graph, FakeScorer(tensor)), triple, "tail")
    assert why in (found.missing if triple[2] else "the same entity")
    assert not len(found.facts)
    assert np.isnan(found.rank_after)


def tiny(written, facts, zero=False):
    """Return a run of the small model, with other facts, or with all scores equal."""
    from dataclasses import replace

    made = written("DistMult")
    splits = {
        "train": np.array(facts),
        "valid": np.empty((0, 3), int),
        "test": np.empty((0, 3), int),
    }
    run = replace(made.run, graph=replace(made.graph, splits=splits))
    if zero:
        fresh = Written("DistMult", {"embedding_dim": 6}, False)
        fresh.weights().zero_()
        from kgdash.runs.loading import assemble
        from kgdash.scoring.build_model import scoring_state

        state = scoring_state(fresh.model)
        run = assemble("zero", run.graph, made.run.spec, state, {}, {})
    return run


def test_an_entity_without_facts(written):
    run = tiny(written, [(1, 0, 2)])
    found = found_of(run, (0, 0, 2), "tail")
    assert found.missing.endswith("has no training fact besides")
    assert not len(found.facts)


def test_the_only_fact_is_the_triple(written):
    run = tiny(written, [(0, 0, 2)])
    assert found_of(run, (0, 0, 2), "tail").missing.endswith("has no training fact besides")


def test_all_tied(written):
    run = tiny(written, [(0, 1, 3), (1, 0, 2)], zero=True)
    found = found_of(run, (0, 0, 2), "tail")
    assert found.missing == "all candidates have the same score"
    assert found.rank == 7.5


def test_what_was_found_is_kept(written, keep_all, monkeypatch):
    run, kinds = written("DistMult").run, set()
    triples = run.graph.split("test")[:6].tolist()
    first = [found_of(run, triple, side) for triple in triples for side in ("tail", "head")]
    monkeypatch.setattr(carrying, "EntityRefit", None)  # none is made again
    again = [found_of(run, triple, side) for triple in triples for side in ("tail", "head")]
    for one, other in zip(first, again, strict=True):
        for name in ("own", "influences", "facts"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.side, one.entity, one.missing) == (other.side, other.entity, other.missing)
        ranks = [(each.rank, each.rank_before, each.rank_after) for each in (one, other)]
        np.testing.assert_array_equal(*ranks)
        kinds.add((bool(len(one.facts)), bool(len(one.influences))))
    assert len(kinds) > 1
    assert set(table_cache.list_cache()["kind"]) == {"why"}


def test_a_small_file_that_asks_for_large_matrices(written, monkeypatch):
    """D numbers in an entity's vector ask for D² in a matrix, for each query that names it."""
    run = written("DistMult").run
    triple = written("DistMult").graph.split("test")[0].tolist()
    assert "too many to refit" not in found_of(run, triple, "tail").missing
    monkeypatch.setattr(carrying, "_WIDEST", 5)
    missing = found_of(run, triple, "tail").missing
    assert re.fullmatch(r"6 numbers in \d+ kinds of queries are too many to refit", missing)
    monkeypatch.setattr(carrying, "_WIDEST", 6)
    kinds = int(missing.split()[3])
    monkeypatch.setattr(carrying, "_CURVATURES", 36 * kinds)
    assert "too many to refit" not in found_of(run, triple, "tail").missing
    monkeypatch.setattr(carrying, "_CURVATURES", 36 * kinds - 1)
    assert found_of(run, triple, "tail").missing == missing


def test_many_facts_of_an_entity_with_a_wide_vector(written, monkeypatch):
    run = written("DistMult").run
    triple = written("DistMult").graph.split("test")[0].tolist()
    facts = len(found_of(run, triple, "tail").own)
    assert facts
    monkeypatch.setattr(carrying, "_SLOPES", 6 * facts)
    assert "too many" not in found_of(run, triple, "tail").missing
    monkeypatch.setattr(carrying, "_SLOPES", 6 * facts - 1)
    missing = f"6 numbers and {facts:,} facts are too many to refit"
    assert found_of(run, triple, "tail").missing == missing


def test_what_takes_too_much_memory_is_told_before(written, monkeypatch):
    run = written("ComplEx").run
    triple = written("ComplEx").graph.split("test")[0].tolist()
    assert "too many" not in found_of(run, triple, "tail").missing
    monkeypatch.setattr(carrying, "_GIGABYTES", 1e-6)
    monkeypatch.setattr(carrying, "EntityRefit", None)
    assert re.fullmatch(
        r"6 numbers in \d+ kinds of queries and \d+ facts are too many to refit: "
        r"they take \d.\d GB, and at most 1e-06 are taken",
        found_of(run, triple, "tail").missing,
    )


@pytest.mark.parametrize("tied", [False, True])
def test_of_cp(tied):
    """Why of every triple of a CP ended in a traceback; SimplE's and PBG's are tied ones."""
    entities, relations = (vectors(len(names), 4, seed=1) for names in (ENTITIES, RELATIONS))
    more = entities[:, ::-1] if tied else vectors(len(ENTITIES), 4, seed=2)
    both = np.concatenate([entities, more], axis=1)
    run = kgdash.run_from_arrays((ENTITIES, both), (RELATIONS, relations), "CP", GRAPH)
    loss = EntityLoss(affine_form(run), 4, facts_around(GRAPH, 4))
    rows = np.array([[4, 2, t] for t in range(len(ENTITIES))])
    expected = run.scorer.score_triples(torch.from_numpy(rows)).numpy()
    found = loss.scores("tail", 2, loss.trained)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-4)
    why = run.why(ENTITIES[4], RELATIONS[2], ENTITIES[7])
    assert [each.missing.endswith("constant or repeated") for each in why.carried] == [tied, tied]
