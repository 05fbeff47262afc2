"""Read a pickle without running anything that it says.

A pickle is a program: it names functions and calls them. Python's unpickler, restricted or not,
lets it reach real objects (hashes, ``__setstate__``, memo tables of any size), so this module walks
over the opcodes itself and builds nothing but records: a function that the pickle names becomes a
:class:`Global`, calling it a :class:`Call`. What the records mean is for others to say. Names
outside the lists below are refused even so.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgdash.errors import KgdashError

CURE = (
    "expected the trained_model.pkl that PyKEEN's PipelineResult.save_to_directory or "
    "save_model writes"
)

NEEDLESS = f"no model that can be read needs it; {CURE}"

ADMITTED_MODULES = (
    "pykeen.models.",
    "pykeen.nn.",
    "pykeen.losses.",
    "pykeen.regularizers.",
    "pykeen.inverse.",
    "torch.nn.modules.",
    "torch.nn.init.",
)
ADMITTED_NAMES = frozenset(
    {
        "builtins.getattr",
        "builtins.set",
        "collections.OrderedDict",
        "functools.partial",
        "pykeen.utils.Bias",
        "pykeen.utils.clamp_norm",
        "pykeen.utils.complex_normalize",
        "pykeen.utils.compose",
        "torch._C._VariableFunctionsClass",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor_v2",
        "torch.nn.functional.normalize",
        "torch.nn.functional.softmax",
        *(
            f"torch.{kind}Storage"
            for kind in (
                *("Float", "Double", "Half", "BFloat16", "ComplexFloat", "ComplexDouble"),
                *("Long", "Int", "Short", "Char", "Byte", "Bool"),
            )
        ),
    }
)
#: the only attributes that PyKEEN's files take from anything: torch.mean and the like
ADMITTED_FUNCTIONS = frozenset({"mean", "sum", "clamp"})


@dataclass(frozen=True, slots=True)
class Global:
    """A class or function that the file names; never looked up."""

    name: str


@dataclass(slots=True, eq=False)
class Call:
    """A class or function that the file calls; never called."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    state: Any = None
    items: dict[str | int, Any] = field(default_factory=dict)


def parse(data: bytes, persistent: Callable[[object], Any], where: str) -> Any:
    """Read a pickle (protocols 2 to 5) into records.

    :param data: the pickle
    :param persistent: what to make of a persistent id
    :param where: named in messages
    :return: the root: dicts, lists, tuples, sets and scalars, :class:`Global`, :class:`Call`, and
        what ``persistent`` gave
    :raises KgdashError: if it names anything not admitted, or uses an opcode of no model
    """
    machine = _Machine(persistent, where)
    for opcode, argument, _ in pickletools.genops(data):
        machine.step(opcode.name, argument)
    return machine.stack.pop()


class _Machine:
    """The stack machine of a pickle, over records."""

    def __init__(self, persistent: Callable[[object], Any], where: str) -> None:
        self.persistent = persistent
        self.where = where
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def step(self, opcode: str, argument: Any) -> None:
        """Do one opcode."""
        match opcode:
            case "PROTO" | "FRAME" | "STOP":
                pass
            case "BININT" | "BININT1" | "BININT2" | "LONG1" | "BINFLOAT":
                self.stack.append(argument)
            case "SHORT_BINUNICODE" | "BINUNICODE" | "BINUNICODE8":
                self.stack.append(argument)
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                self.stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[opcode])
            case "MEMOIZE":
                self.memo[len(self.memo)] = self.stack[-1]
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = self.stack[-1]
            case "BINGET" | "LONG_BINGET":
                self.stack.append(self.memo[argument])
            case "BINPERSID":
                self.stack.append(self.persistent(self.stack.pop()))
            case "GLOBAL":
                self.stack.append(self.admit(*argument.split(" ", 1)))
            case "STACK_GLOBAL":
                name, module = self.stack.pop(), self.stack.pop()
                self.stack.append(self.admit(module, name))
            case "REDUCE" | "NEWOBJ" | "NEWOBJ_EX" | "BUILD":
                self.call(opcode)
            case _:
                self.container(opcode)

    def container(self, opcode: str) -> None:
        """Do one opcode that makes or fills a container."""
        match opcode:
            case "MARK":
                self.marks.append(self.stack)
                self.stack = []
            case "EMPTY_DICT" | "EMPTY_LIST" | "EMPTY_SET" | "EMPTY_TUPLE":
                kinds = {"DICT": dict, "LIST": list, "SET": set, "TUPLE": tuple}
                self.stack.append(kinds[opcode.removeprefix("EMPTY_")]())
            case "TUPLE":
                items = self.unmark()
                self.stack.append(tuple(items))
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                self.stack[-int(opcode[-1]) :] = [tuple(self.stack[-int(opcode[-1]) :])]
            case "APPEND" | "APPENDS":
                items = self.unmark() if opcode == "APPENDS" else [self.stack.pop()]
                self.expect(self.stack[-1], list).extend(items)
            case "ADDITEMS":
                items = self.unmark()
                self.expect(self.stack[-1], set).update(self.expect(i, str) for i in items)
            case "SETITEM" | "SETITEMS":
                items = self.unmark() if opcode == "SETITEMS" else self.stack[-2:]
                if opcode == "SETITEM":
                    del self.stack[-2:]
                target = self.stack[-1].items if self.is_ordered() else self.stack[-1]
                for key, value in zip(items[::2], items[1::2], strict=True):
                    self.expect(target, dict)[self.expect(key, str | int)] = value
            case _:
                raise KgdashError(f"{self.where}: opcode {opcode}; {NEEDLESS}")

    def call(self, opcode: str) -> None:
        """Do one opcode that makes an object or gives it its state."""
        argument = self.stack.pop()
        if opcode == "BUILD":
            self.expect(self.stack[-1], Call).state = argument
            return
        kwargs = self.expect(argument, dict) if opcode == "NEWOBJ_EX" else {}
        args = self.expect(self.stack.pop() if opcode == "NEWOBJ_EX" else argument, tuple)
        name = self.expect(self.stack.pop(), Global).name
        if name != "builtins.getattr":
            self.stack.append(Call(name, args, kwargs))
            return
        match args:
            case (Global(name="torch._C._VariableFunctionsClass"), str(attribute)) if (
                attribute in ADMITTED_FUNCTIONS
            ):
                self.stack.append(Global(f"torch.{attribute}"))
            case _:
                raise KgdashError(f"{self.where}: refused: builtins.getattr{brief(args)}; {CURE}")

    def admit(self, module: Any, name: Any) -> Global:
        """Return the record of a class or function, refusing those on no list."""
        module = self.expect(module, str).replace("__builtin__", "builtins")
        name = self.expect(name, str)
        full = f"{module}.{name}"
        by_module = name.isidentifier() and f"{module}.".startswith(ADMITTED_MODULES)
        if full in ADMITTED_NAMES or by_module:
            return Global(full)
        raise KgdashError(f"{self.where}: refused: {full:.120}; {NEEDLESS}")

    def unmark(self) -> list[Any]:
        """Take what was pushed since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    def is_ordered(self) -> bool:
        """Tell whether the top of the stack is an ordered dictionary."""
        top = self.stack[-1]
        return isinstance(top, Call) and top.name == "collections.OrderedDict"

    def expect(self, value: Any, kind: Any) -> Any:
        """Return the value if it is of this kind (real types only, nothing is duck-typed)."""
        if isinstance(value, kind):
            return value
        raise KgdashError(
            f"{self.where}: the pickle puts {brief(value)} where {getattr(kind, '__name__', kind)} "
            f"belongs; {CURE}"
        )


def brief(value: object) -> str:
    """Describe a value of the tree in a few characters, whatever is nested in it."""
    if isinstance(value, Global | Call):
        return value.name[:120]
    if isinstance(value, tuple):
        inner = ", ".join("(…)" if isinstance(v, tuple) else brief(v) for v in value[:6])
        return f"({inner}{', …' if len(value) > 6 else ''})"
    if isinstance(value, str | int | float | None):
        return f"{value!r:.80}"
    return type(value).__name__
