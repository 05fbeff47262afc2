"""Walking through the inert record of a pickled model: modules, dictionaries, tensors."""

from collections.abc import Iterator
from typing import Any

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import CURE, Call
from kgdash.scoring.build_model import is_train_only

#: values in a description, counted wherever they are shared, and characters of all their paths:
#: far more than any model has
MAX_NODES, MAX_LETTERS = 50_000, 2**24

#: modules, and what they hold, counted likewise, and levels
_MAX_MODULES, _DEEPEST = 10_000, 64

_TENSORS = ("_parameters", "_buffers")


def is_module(record: object) -> bool:
    """Tell whether a record is that of a torch module."""
    parts = ("_modules", *_TENSORS)
    return (
        isinstance(record, Call)
        and isinstance(record.state, dict)
        and all(mapping(record.state.get(part)) is not None for part in parts)
    )


def mapping(record: object) -> dict[str | int, Any] | None:
    """Return the items of a plain or ordered dictionary."""
    if isinstance(record, Call) and record.name == "collections.OrderedDict":
        return record.items
    return record if isinstance(record, dict) else None


def walk_modules(root: Call, where: str) -> Iterator[tuple[str, Call]]:
    """Go through a model's modules as (path, record), without those that serve training only."""
    pending, seen, letters = [("", root)], 0, 0
    while pending:
        prefix, module = pending.pop()
        held = [mapping(module.state[part]) or {} for part in ("_modules", *_TENSORS)]
        seen += 1 + sum(map(len, held))
        if seen <= _MAX_MODULES:
            letters += sum(len(prefix) + len(str(name)) for part in held for name in part)
        if seen > _MAX_MODULES or letters > MAX_LETTERS or prefix.count(".") > _DEEPEST:
            raise KgdashError(f"{where}: more modules than any model has; {CURE}")
        yield prefix, module
        for name, child in mapping(module.state["_modules"]).items():  # type: ignore[union-attr]
            child_path = f"{prefix}{name}."
            if is_module(child) and not is_train_only(f"{child_path}*"):
                pending.append((child_path, child))


def own_tensors(module: Call) -> Iterator[tuple[str | int, object]]:
    """Go through the parameters and buffers of one module, absent ones (None) included."""
    for part in _TENSORS:
        yield from (mapping(module.state[part]) or {}).items()
