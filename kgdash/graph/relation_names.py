"""Names of relations as people read them: of a path such as Freebase's, the end says most."""


def end_first(name: str) -> str:
    """Put the last part of a path in front: "/film/film/genre" is "genre · /film/film".

    Other names, and ids such as "/m/0bxtg", stay as they are.
    """
    before, _, last = name.rpartition("/")
    if not name.startswith("/") or before.count("/") < 2 or not last or " " in name:
        return name
    return f"{last} · {before}"
