"""Read a pickle of plain containers without running anything that it says.

Published sets of queries are pickles of dicts, lists, tuples, sets, integers and text. Python's own
unpickler is not asked: this module walks over the opcodes and knows those of such containers only.
The two names that it admits, ``set`` and ``collections.defaultdict``, are never looked up either.
"""

from __future__ import annotations

import pickletools
from typing import Any

from kgdash.errors import KgdashError

#: bytes at which a file is refused
MAX_BYTES = 256 * 2**20

#: A tuple may be shared, and hashing it looks at every copy: without limits a short file could
#: keep Python busy for ever.
_LONGEST, _DEEPEST = 8, 5

_SETS = ("builtins.set", "__builtin__.set", "builtins.frozenset", "__builtin__.frozenset")
_DEFAULT_DICT = "collections.defaultdict"
_FACTORIES = (*_SETS[:2], "builtins.list", "__builtin__.list")

_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set, "EMPTY_TUPLE": tuple}
_SCALARS = frozenset(
    {
        *("BININT", "BININT1", "BININT2", "LONG1"),
        *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    }
)


class _Name(str):
    """A name that the file gives to a function: no text of its own."""

    __slots__ = ()


def read_plain_pickle(data: bytes, where: str) -> Any:
    """Read a pickle (protocols 2 to 5) that holds nothing but plain containers.

    :param data: the pickle
    :param where: what messages call it
    :return: dicts, lists, tuples, sets, text, integers, booleans and None; a ``defaultdict`` comes
        back as a dict, a ``frozenset`` as a set
    :raises KgdashError: if it holds anything else, is damaged, or is too large
    """
    if len(data) > MAX_BYTES:
        raise KgdashError(f"{where} is larger than {MAX_BYTES // 2**20} MiB; keep fewer queries")
    machine = _Machine(where, len(data))
    try:
        for opcode, argument, _ in pickletools.genops(data):
            machine.step(opcode.name, argument)
        (root,) = machine.stack
    except KgdashError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise KgdashError(
            f"{where} is damaged or no pickle ({str(error) or type(error).__name__:.120}); "
            "fetch it again"
        ) from error
    if machine.marks or isinstance(root, _Name):
        raise KgdashError(f"{where} is damaged: expected containers of queries; fetch it again")
    return root


class _Machine:
    """The stack machine of a pickle, for containers."""

    def __init__(self, where: str, size: int) -> None:
        self.where = where
        self.copies_left = size
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def step(self, opcode: str, argument: Any) -> None:
        """Do one opcode; those that files are full of come first."""
        if opcode in _SCALARS:
            self.stack.append(argument)
        elif opcode == "MEMOIZE":
            self.memo[len(self.memo)] = self.stack[-1]
        elif opcode in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(opcode[-1])
            self.stack[-count:] = [self.tuple(self.stack[-count:], count)]
        elif opcode == "MARK":
            self.marks.append(self.stack)
            self.stack = []
        elif opcode == "ADDITEMS":
            items = self.unmark()
            self.top(set).update(items)
        elif opcode in ("BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[argument])
        elif opcode in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = self.stack[-1]
        elif opcode in _EMPTY:
            self.stack.append(_EMPTY[opcode]())
        elif opcode in _VALUES:
            self.stack.append(_VALUES[opcode])
        elif opcode not in ("PROTO", "FRAME", "STOP"):
            self.rarely(opcode, argument)

    def rarely(self, opcode: str, argument: Any) -> None:
        """Do one of the opcodes that stand once per container."""
        match opcode:
            case "TUPLE":
                items = self.unmark()
                self.stack.append(self.tuple(items, len(items)))
            case "SETITEMS" | "SETITEM":
                items = self.unmark() if opcode == "SETITEMS" else [self.stack.pop(-2), self.pop()]
                self.top(dict).update(zip(items[::2], items[1::2], strict=True))
            case "APPENDS" | "APPEND":
                items = self.unmark() if opcode == "APPENDS" else [self.pop()]
                self.top(list).extend(items)
            case "FROZENSET":
                items = self.unmark()
                self.stack.append(set(items))
            case "GLOBAL":
                self.stack.append(self.admit(argument.replace(" ", ".", 1)))
            case "STACK_GLOBAL":
                name, module = self.text(), self.text()
                self.stack.append(self.admit(f"{module}.{name}"))
            case "REDUCE":
                arguments, name = self.pop(), self.pop()
                self.stack.append(self.made(name, arguments))
            case _:
                raise KgdashError(
                    f"{self.where}: refused: opcode {opcode}; a file of queries holds plain "
                    "containers only, written with pickle protocol 2 or later. Save it as JSON"
                )

    def admit(self, name: str) -> _Name:
        """Return the record of a name, refusing all but those of plain containers."""
        if name not in (*_SETS, *_FACTORIES, _DEFAULT_DICT):
            raise KgdashError(
                f"{self.where}: refused: {name:.120}; a file of queries needs no more than "
                "containers, integers and text. Save it as JSON"
            )
        return _Name(name)

    def made(self, name: Any, arguments: Any) -> dict | set:
        """Make the container that ``set(items)`` or ``defaultdict(set)`` would make."""
        match name, arguments:
            case _Name(), [list() | set() | tuple()] if name in _SETS:
                # One list may be named again and again: no file holds more items than bytes.
                self.copies_left -= len(arguments[0])
                if self.copies_left >= 0:
                    return set(arguments[0])
            case _Name(), [] if name in _SETS:
                return set()
            case _Name(), ([] | [None] | [_Name()]) if name == _DEFAULT_DICT and (
                not arguments or arguments[0] in (None, *_FACTORIES)
            ):
                return {}
        raise KgdashError(
            f"{self.where}: refused: a call of {name!s:.60} as no file of queries has it. "
            "Save it as JSON"
        )

    def tuple(self, items: list[Any], count: int) -> tuple:
        """Make a tuple, within limits of length and depth."""
        made = tuple(items)
        if len(made) != count:
            raise IndexError("the stack is empty")
        if count > _LONGEST or _depth(made) > _DEEPEST:
            raise KgdashError(
                f"{self.where}: refused: a tuple of more than {_LONGEST} values or {_DEEPEST} "
                "levels, which no query needs"
            )
        return made

    def unmark(self) -> list[Any]:
        """Take what was pushed since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    def pop(self) -> Any:
        """Take the top of the stack."""
        return self.stack.pop()

    def text(self) -> str:
        """Take the top of the stack, which must be text."""
        value = self.stack.pop()
        if not isinstance(value, str):
            raise TypeError(f"a {type(value).__name__} where text belongs")
        return value

    def top(self, kind: type) -> Any:
        """Return the top of the stack if it is such a container."""
        if type(self.stack[-1]) is not kind:
            raise TypeError(f"a {type(self.stack[-1]).__name__} where a {kind.__name__} belongs")
        return self.stack[-1]


def _depth(value: tuple) -> int:
    return 1 + max((_depth(inner) for inner in value if isinstance(inner, tuple)), default=0)
