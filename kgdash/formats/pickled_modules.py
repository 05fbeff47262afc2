"""Walking through the inert record of a pickled model: modules, dictionaries, tensors."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pykeen.regularizers import Regularizer

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import CURE, Call, brief
from kgdash.scoring.build_model import is_train_only

#: values in a description, counted wherever they are shared, and characters of all their paths:
#: far more than any model has
MAX_NODES, MAX_LETTERS = 50_000, 2**24

#: modules, and what they hold, counted likewise, and levels
_MAX_MODULES, _DEEPEST = 10_000, 64

_TENSORS = ("_parameters", "_buffers")

#: of a module's state, what holds its parts
PARTS = ("_modules", *_TENSORS)


def is_module(record: object) -> bool:
    """Tell whether a record is that of a torch module."""
    return (
        isinstance(record, Call)
        and not record.args
        and isinstance(record.state, dict)
        and all(mapping(record.state.get(part)) is not None for part in PARTS)
    )


def mapping(record: object) -> dict[str | int, Any] | None:
    """Return the items of a plain or ordered dictionary."""
    if isinstance(record, Call) and record.name == "collections.OrderedDict":
        return record.items
    return record if isinstance(record, dict) else None


def walk_modules(root: Call, where: str) -> Iterator[tuple[str, Call]]:
    """Go through a model's modules as (path, record), without those that serve training only.

    :raises KgdashError: if there are too many, or one, be it for training, has parts of odd names
    """
    pending, seen, letters = [("", root)], 0, 0
    while pending:
        prefix, module = pending.pop()
        held = [mapping(module.state[part]) or {} for part in PARTS]
        seen += 1 + sum(map(len, held))
        if seen <= _MAX_MODULES:
            names = chain(*held, module.state)
            letters += sum(len(prefix) + len(str(name)) for name in names)
        if seen > _MAX_MODULES or letters > MAX_LETTERS or prefix.count(".") > _DEEPEST:
            raise KgdashError(f"{where}: more modules than any model has; {CURE}")
        _check_names([*chain(*held), *(module.state.keys() - PARTS)], prefix, where)
        if not is_train_only(f"{prefix}*"):
            yield prefix, module
        for name, child in held[0].items():
            if child is None:
                continue
            # Nothing else is looked at in a regularizer, which is called with what scores are of.
            kind = "pykeen.regularizers." if name == "regularizer" else ""
            if not is_module(child) or not child.name.startswith(kind):
                raise KgdashError(f"{where}: {prefix}{name}: found {brief(child)}; {CURE}")
            pending.append((f"{prefix}{name}.", child))


def _check_names(names: list[str | int], prefix: str, where: str) -> None:
    """Refuse names of a module's parts and attributes by which it does, or is, something else."""
    for name, count in Counter(names).items():
        # What is called of a module whatever it is for: torch's methods, and a regularizer's.
        plain = isinstance(name, str) and name and "." not in name
        if not plain or count > 1 or hasattr(Regularizer, str(name)):
            raise KgdashError(
                f"{where}: {prefix.rstrip('.')[:80] or 'the model'} has a part {name!r:.80}, as no "
                f"module has, or two of this name; {CURE}"
            )


def own_tensors(module: Call) -> Iterator[tuple[str | int, object]]:
    """Go through the parameters and buffers of one module, absent ones (None) included."""
    for part in _TENSORS:
        yield from (mapping(module.state[part]) or {}).items()
