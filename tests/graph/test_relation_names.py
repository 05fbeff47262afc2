"""Of a path, the end comes first; nothing else is changed."""

import pytest

from kgdash.graph.relation_names import end_first


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/film/film/genre", "genre · /film/film"),
        (
            "/people/person/spouse_s./people/marriage/type_of_union",
            "type_of_union · /people/person/spouse_s./people/marriage",
        ),
        ("/m/0bxtg", "/m/0bxtg"),
        ("location_of", "location_of"),
        ("a/b/c/d", "a/b/c/d"),
        ("/a/b/c/", "/a/b/c/"),
        ("genre · /film/film", "genre · /film/film"),
        ("", ""),
    ],
)
def test_paths(name, expected):
    assert end_first(name) == expected
