"""The stack machine that reads every foreign pickle, and runs nothing that it says.

A pickle is a program: it names functions and calls them. Python's unpickler, restricted or not,
lets it reach real objects (hashes, ``__setstate__``, memo tables of any size), so this machine
walks over the opcodes itself and builds dicts, lists, tuples, sets, text and numbers. Nothing is
ever imported, looked up or called. What stands for a name or a call, and which opcodes may occur
besides those of containers, a subclass decides: `pickle_records` for models, `pickle_containers`
for sets of queries. Whatever neither admits is refused.
"""

import math
import pickletools
from collections.abc import Sequence
from typing import IO, Any

from kgdash.errors import KgdashError

_IGNORED = frozenset({"PROTO", "FRAME", "STOP"})
_NUMBERS = frozenset(["BININT", "BININT1", "BININT2"])
_TEXTS = frozenset(["SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"])
_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set, "EMPTY_TUPLE": tuple}
_CONTAINERS = frozenset(["TUPLE", "SETITEM", "SETITEMS", "APPEND", "APPENDS"])

#: containers that are begun and not ended; each is a byte of the file and a list here
_MOST_MARKS = 1_000

_LONGEST_NAME = 500


def is_plain_key(key: object) -> bool:
    """Tell whether a key is text, or a number of 32 bits: larger ones may all have one hash.

    Each would be compared with all before it, and no other thread comes to a turn meanwhile.
    """
    return isinstance(key, str) or (type(key) is int and abs(key) < 2**31)


class PickleMachine:
    """Reads one pickle of protocol 2 to 5; see `run`. A subclass is the policy."""

    #: opcodes that the policy admits besides those of containers, text and whole numbers
    admitted: frozenset[str] = frozenset()
    #: values that may be kept for later, each by a byte of the file
    most_memo: float = math.inf
    #: what messages add to what is refused
    remedy: str

    def __init__(self, where: str) -> None:
        """Begin with an empty stack."""
        self.where = where
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.texts: dict[str, str] = {}
        self.closed: dict[int, object] = {}

    def run(self, data: bytes | IO[bytes]) -> Any:
        """Read a pickle and return its root.

        :raises KgdashError: if it uses an opcode, or names or calls anything, that is not admitted
        :raises Exception: ValueError, LookupError, TypeError, and what else damaged bytes trip
        """
        for opcode, argument, _ in pickletools.genops(data):
            self.step(opcode.name, argument)
        (root,) = self.stack
        if self.marks:
            raise ValueError("a mark is left open")
        return root

    # The policy: what a subclass does not say is refused

    def admit(self, module: str, name: str) -> object:
        """Return what stands for a class or function that the file names."""
        raise self.refused(f"{module}.{name:.120}")

    def call(self, function: object, arguments: object) -> object:
        """Return what stands for a call."""
        raise self.refused(f"a call of {function!s:.60}")

    def make(self, kind: object, arguments: object) -> object:
        """Return what stands for an object of a class, made without its ``__init__``."""
        return self.call(kind, arguments)

    def set_state(self, target: object, state: object) -> None:
        """Note the one state that the file gives to what `call` or `make` returned."""
        raise self.refused("a state")

    def persistent(self, key: object) -> object:
        """Return what stands for a persistent id."""
        raise self.refused("a persistent id")

    def check_tuple(self, made: tuple) -> None:
        """Refuse a tuple that is too large."""

    def check_number(self, number: float) -> None:
        """Refuse a whole number of more than 32 bits, or a fraction."""

    def check_keys(self, keys: Sequence[Any], container: type) -> None:
        """Refuse what may not be hashed: keys of a dict, or items of a set."""

    def items_of(self, target: object) -> Any:
        """Return the dict that SETITEMS fills."""
        return target

    def brief(self, value: object) -> str:
        """Describe a value for a message, whatever is nested in it."""
        return type(value).__name__

    # The machine

    def step(self, opcode: str, argument: Any) -> None:
        """Do one opcode; those that files are full of come first."""
        if opcode in _NUMBERS:
            self.stack.append(argument)
        elif opcode in _TEXTS:
            # Equal ones as one object: two would be compared letter by letter at each use as a key.
            self.stack.append(self.texts.setdefault(argument, argument))
        elif opcode == "MEMOIZE":
            if len(self.memo) >= self.most_memo:
                raise self.refused("more values kept for later than there are")
            self.memo[len(self.memo)] = self.stack[-1]
        elif opcode in ("TUPLE1", "TUPLE2", "TUPLE3"):
            self.pack(self.last(int(opcode[-1])))
        elif opcode == "MARK":
            if len(self.marks) >= _MOST_MARKS:
                raise self.refused(f"more than {_MOST_MARKS:,} containers within each other")
            self.marks.append(self.stack)
            self.stack = []
        elif opcode == "ADDITEMS":
            items = self.unmark()
            self.check_keys(items, set)
            self.expect(self.stack[-1], set).update(items)
        elif opcode in ("BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[argument])
        elif opcode in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = self.stack[-1]
        elif opcode in _EMPTY:
            self.stack.append(_EMPTY[opcode]())
        elif opcode in _VALUES:
            self.stack.append(_VALUES[opcode])
        elif opcode in _CONTAINERS:
            self.fill(opcode)
        elif opcode in self.admitted:
            self.special(opcode, argument)
        elif opcode not in _IGNORED:
            raise self.refused(f"opcode {opcode}")

    def fill(self, opcode: str) -> None:
        """Do one opcode that stands once per container."""
        if opcode == "TUPLE":
            self.pack(self.unmark())
        elif opcode.startswith("APPEND"):
            items = self.unmark() if opcode == "APPENDS" else self.last(1)
            self.expect(self.stack[-1], list).extend(items)
        else:
            items = self.unmark() if opcode == "SETITEMS" else self.last(2)
            self.check_keys(items[::2], dict)
            if id(self.stack[-1]) in self.closed:
                raise self.refused("a state that changes after it was given")
            target = self.expect(self.items_of(self.stack[-1]), dict)
            target.update(zip(items[::2], items[1::2], strict=True))

    def special(self, opcode: str, argument: Any) -> None:
        """Do one opcode that only a policy can admit."""
        match opcode:
            case "BINFLOAT" | "LONG1":
                self.check_number(argument)
                self.stack.append(argument)
            case "FROZENSET":
                items = self.unmark()
                self.check_keys(items, set)
                self.stack.append(set(items))
            case "BINPERSID":
                self.stack.append(self.persistent(self.stack.pop()))
            case "GLOBAL":
                module, name = argument.split(" ", 1)
                self.name(module, name)
            case "STACK_GLOBAL":
                self.name(*(self.expect(part, str) for part in self.last(2)))
            case "REDUCE":
                self.stack.append(self.call(*self.last(2)))
            case "NEWOBJ":
                self.stack.append(self.make(*self.last(2)))
            case "BUILD":
                (state,) = self.last(1)
                self.build(self.stack[-1], state)
            case _:
                raise self.refused(f"opcode {opcode}")

    def build(self, target: object, state: object) -> None:
        """Give a state, which Python copies: one for each object, and neither changes after it."""
        if id(target) in self.closed or id(state) in self.closed:
            raise self.refused(f"a state of {self.brief(target)} that no pickler writes")
        self.set_state(target, state)
        self.closed[id(target)] = target
        if isinstance(state, dict):
            self.closed[id(state)] = state

    def name(self, module: str, name: str) -> None:
        """Push what stands for a class or function."""
        # The file may name it again and again, each time by a byte or two.
        if len(module) + len(name) > _LONGEST_NAME:
            raise self.refused(f"a name of more than {_LONGEST_NAME:,} characters")
        self.stack.append(self.admit(module, name))

    def pack(self, items: list[Any]) -> None:
        """Push a tuple."""
        made = tuple(items)
        self.check_tuple(made)
        self.stack.append(made)

    def last(self, count: int) -> list[Any]:
        """Take the last values off the stack, in the order in which they were pushed."""
        if len(self.stack) < count:
            raise IndexError("the stack is empty")
        items = self.stack[-count:]
        del self.stack[-count:]
        return items

    def unmark(self) -> list[Any]:
        """Take what was pushed since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    def expect(self, value: Any, kind: Any) -> Any:
        """Return the value if it is of this kind (real types only, nothing is duck-typed)."""
        if isinstance(value, kind):
            return value
        name = getattr(kind, "__name__", kind)
        raise self.refused(f"the pickle puts {self.brief(value)} where {name} belongs")

    def refused(self, what: str) -> KgdashError:
        """Return the refusal of something in the file."""
        return KgdashError(f"{self.where}: refused: {what}; {self.remedy}")
