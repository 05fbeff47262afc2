"""The file of a run's groupings: how large it may become."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kgdash.breakdowns.custom_grouping import TypeGrouping, condition_grouping
from kgdash.errors import KgdashError
from kgdash.graph.entity_types import EntityTypes, entity_types
from kgdash.runs.saved_groupings import groupings_file, save_grouping, saved_groupings
from tests.support.fakes import make_graph


def test_more_than_can_be_read_again_is_not_saved(tmp_path, monkeypatch):
    """A file of types of 0.6 MB made 250 MB of long names, and took the server 2.3 GB."""
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
    names = tuple(f"{number:03}" + "x" * 996 + "😀" for number in range(300))
    graph = replace(make_graph([(0, 0, 1)], entities=300), entities=names)
    run = SimpleNamespace(name="long", graph=graph, provenance={})

    def by(types):
        entities, kinds = np.repeat(np.arange(300), types), np.tile(np.arange(types), 300)
        named = tuple(f"{kind:03}" for kind in range(types))
        return TypeGrouping("types", "head", EntityTypes(named, entities, kinds))

    save_grouping(run, condition_grouping("rare", ["rare: frequency < 9"]))
    before = groupings_file(run).read_bytes()
    with pytest.raises(KgdashError, match="at most 32 MiB together"):
        save_grouping(run, by(112))
    assert groupings_file(run).read_bytes() == before
    save_grouping(run, by(100))
    assert saved_groupings(run)["types"].types.types.tolist() == by(100).types.types.tolist()


def test_more_types_than_are_read_at_once_are_not_saved(tmp_path, monkeypatch):
    """Others stood still for 3 s whenever 650,000 types of one visitor were read."""
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
    run = SimpleNamespace(name="tiny", graph=make_graph([(0, 0, 1)]), provenance={})
    pairs = [(0, f"t{kind}") for kind in range(2**14)]
    for number in range(4):
        save_grouping(run, TypeGrouping(f"g{number}", "head", entity_types(pairs)))
    with pytest.raises(KgdashError, match="at most 65,536 types together"):
        save_grouping(run, TypeGrouping("g4", "head", entity_types(pairs[:1])))
    assert len(saved_groupings(run)) == 4
    path = groupings_file(run)
    path.write_text(path.read_text().replace('"types": {', '"types": {' + '"x": [],' * 2**16))
    with pytest.raises(KgdashError, match="more than 131,072 objects, lists"):
        saved_groupings(run)


def test_more_groupings_than_a_page_could_list_are_not_saved(tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
    run = SimpleNamespace(name="tiny", graph=make_graph([(0, 0, 1)]), provenance={})
    for number in range(100):
        save_grouping(run, condition_grouping(f"g{number}", ["rare: frequency < 9"]))
    save_grouping(run, condition_grouping("g7", ["common: frequency > 9"]))
    with pytest.raises(KgdashError, match="delete one"):
        save_grouping(run, condition_grouping("another", ["rare: frequency < 9"]))
    assert len(saved_groupings(run)) == 100
