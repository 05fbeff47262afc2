"""Models out of pickles, as records: the policy of `pickle_machine` for PyKEEN's files.

A function that the pickle names becomes a :class:`Global`, calling it a :class:`Call`. What the
records mean is for others to say. Names outside the lists below are refused even so, and so is what
picklers never write: of it Python could make something else than the records say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgdash.formats.pickle_machine import PickleMachine, is_plain_key

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
        "kge.config.Config",
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
_ORDERED = "collections.OrderedDict"

#: the attributes that torch gives to a dict of weights
_SAID = frozenset({"_metadata"})

#: what picklers call; of all else that is named they make an object, without its ``__init__``
_CALLED = frozenset(
    {
        "builtins.getattr",
        "builtins.set",
        _ORDERED,
        "functools.partial",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor_v2",
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
    """A function that the file calls, or a class of which it makes an object; never called."""

    name: str
    args: tuple[Any, ...]
    state: Any = None
    items: dict[str | int, Any] = field(default_factory=dict)


def parse(data: bytes, persistent: Callable[[object], Any], where: str) -> Any:
    """Read a pickle (protocols 2 to 5) into records.

    :param persistent: what to make of a persistent id
    :return: the root: dicts, lists, tuples, sets and scalars, :class:`Global`, :class:`Call`, and
        what ``persistent`` gave
    :raises KgdashError: if it names anything not admitted, or uses an opcode of no model
    """
    return _RecordMachine(where, persistent).run(data)


class _RecordMachine(PickleMachine):
    """Admits what models are made of, and records it."""

    admitted = frozenset(
        [
            "BINFLOAT",
            "LONG1",
            "BINPERSID",
            "GLOBAL",
            "STACK_GLOBAL",
            "REDUCE",
            "NEWOBJ",
            "BUILD",
        ]
    )
    remedy = NEEDLESS

    def __init__(self, where: str, persistent: Callable[[object], Any]) -> None:
        super().__init__(where)
        self._persistent = persistent

    def persistent(self, key: object) -> object:
        return self._persistent(key)

    def admit(self, module: str, name: str) -> Global:
        """Return the record of a class or function, refusing those on no list."""
        module = module.replace("__builtin__", "builtins")
        full = f"{module}.{name}"
        by_module = name.isidentifier() and f"{module}.".startswith(ADMITTED_MODULES)
        if full in ADMITTED_NAMES or by_module:
            return Global(full)
        raise self.refused(f"{full:.120}")

    def call(self, function: object, arguments: object) -> object:
        args = self.expect(arguments, tuple)
        name = self.expect(function, Global).name
        if name not in _CALLED or (name == _ORDERED and args):
            raise self.refused(f"a call of {name:.120}{brief(args)}")
        if name != "builtins.getattr":
            return Call(name, args)
        match args:
            case (Global(name="torch._C._VariableFunctionsClass"), str(attribute)) if (
                attribute in ADMITTED_FUNCTIONS
            ):
                return Global(f"torch.{attribute}")
        raise self.refused(f"builtins.getattr{brief(args)}")

    def make(self, kind: object, arguments: object) -> object:
        args = self.expect(arguments, tuple)
        name = self.expect(kind, Global).name
        if name in _CALLED:
            raise self.refused(f"an object of {name}")
        return Call(name, args)

    def set_state(self, target: object, state: object) -> None:
        call = self.expect(target, Call)
        of_tensor = call.name.startswith("torch._utils.")
        of_dict = call.name == _ORDERED and not (isinstance(state, dict) and set(state) <= _SAID)
        if of_tensor or of_dict:
            raise self.refused(f"a state of {call.name:.120} that no pickler writes")
        call.state = state

    def brief(self, value: object) -> str:
        return brief(value)

    def check_keys(self, keys: Sequence[Any], container: type) -> None:
        for key in keys:
            if not (is_plain_key(key) if container is dict else isinstance(key, str)):
                raise self.refused(f"the pickle puts {brief(key)} where a name belongs")

    def items_of(self, target: object) -> Any:
        if isinstance(target, Call) and target.name == _ORDERED:
            return target.items
        return target


def brief(value: object) -> str:
    """Describe a value of the tree in a few characters, whatever is nested in it."""
    if isinstance(value, Global | Call):
        return value.name[:120]
    if isinstance(value, tuple):
        inner = ", ".join("(…)" if isinstance(v, tuple) else brief(v) for v in value[:6])
        return f"({inner}{', …' if len(value) > 6 else ''})"
    if isinstance(value, str):
        return f"{value[:80]!r:.80}"
    if isinstance(value, float | None) or (isinstance(value, int) and abs(value) < 2**64):
        return repr(value)
    return type(value).__name__
