"""Plain containers out of pickles: the policy of `pickle_machine` for published sets of queries.

These are pickles of dicts, lists, tuples, sets, integers and text. The two names that they may
call, ``set`` and ``collections.defaultdict``, are never looked up either.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.byte_sizes import written_size
from kgdash.formats.pickle_machine import PickleMachine

#: bytes at which a file is refused
MAX_BYTES = 256 * 2**20

#: A tuple may be shared, and hashing it looks at every copy: without limits a short file could
#: keep Python busy for ever. Queries have some ten values, wherever they are nested.
_LONGEST, _DEEPEST, _MOST_VALUES = 8, 5, 64

#: times that tuples of one hash are keys or members: −1 and −2 have one, so that any number of
#: tuples may, and each would be compared with all before it
_MOST_ALIKE = 64

#: bytes of a file for each container that it makes, and those that it may make besides: one byte
#: makes an empty set, which takes two hundred, and a key and its answers take a dozen
_BYTES_EACH, _MOST_BESIDES = 8, 1_000

_MAKING = frozenset(["EMPTY_DICT", "EMPTY_LIST", "EMPTY_SET", "FROZENSET", "REDUCE"])

_SETS = ("builtins.set", "__builtin__.set", "builtins.frozenset", "__builtin__.frozenset")
_DEFAULT_DICT = "collections.defaultdict"
_FACTORIES = (*_SETS[:2], "builtins.list", "__builtin__.list")


class _Name(str):
    """A name that the file gives to a function: no text of its own."""

    __slots__ = ()


def read_plain_pickle(data: bytes, where: str) -> Any:
    """Read a pickle (protocols 2 to 5) that holds nothing but plain containers.

    :return: dicts, lists, tuples, sets, text, integers of 32 bits, booleans and None; a
        ``defaultdict`` comes back as a dict, a ``frozenset`` as a set
    :raises KgdashError: if it holds anything else, is damaged, or is too large
    """
    if len(data) > MAX_BYTES:
        raise KgdashError(f"{where} is larger than {written_size(MAX_BYTES)}; keep fewer queries")
    try:
        root = _ContainerMachine(where, len(data)).run(data)
    except KgdashError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise KgdashError(
            f"{where} is damaged or no pickle ({str(error) or type(error).__name__:.120}); "
            "fetch it again"
        ) from error
    if isinstance(root, _Name):
        raise KgdashError(f"{where} is damaged: expected containers of queries; fetch it again")
    return root


class _ContainerMachine(PickleMachine):
    """Admits containers only."""

    admitted = frozenset(["FROZENSET", "GLOBAL", "LONG1", "STACK_GLOBAL", "REDUCE"])
    remedy = (
        "a file of queries holds nothing but containers, integers and text, written with pickle "
        "protocol 2 or later. Save it as JSON"
    )

    def __init__(self, where: str, size: int) -> None:
        super().__init__(where)
        self.copies_left, self.most_memo = size, size // 2
        self.containers_left = size // _BYTES_EACH + _MOST_BESIDES
        self.alike = Counter[int]()

    def step(self, opcode: str, argument: Any) -> None:
        """Do one opcode, unless it makes a container too many."""
        if opcode in _MAKING:
            self.containers_left -= 1
            if self.containers_left < 0:
                raise self.refused("more containers than a file of its size has")
        super().step(opcode, argument)

    def admit(self, module: str, name: str) -> _Name:
        """Return the record of a name, refusing all but those of plain containers."""
        full = f"{module}.{name}"
        if full not in (*_SETS, *_FACTORIES, _DEFAULT_DICT):
            raise self.refused(f"{full:.120}")
        return _Name(full)

    def call(self, function: object, arguments: object) -> object:
        """Make the container that ``set(items)`` or ``defaultdict(set)`` would make."""
        match function, arguments:
            case _Name(), (list() | set() | tuple() as items,) if function in _SETS:
                # One list may be named again and again: no file holds more items than bytes.
                self.copies_left -= len(items)
                if self.copies_left >= 0:
                    self.check_keys(items, set)
                    return set(items)
            case _Name(), () if function in _SETS:
                return set()
            case _Name(), (() | (None,) | (_Name(),)) as factory if function == _DEFAULT_DICT and (
                factory in ((), (None,)) or factory[0] in _FACTORIES
            ):
                return {}
        raise self.refused(f"a call of {function!s:.60}")

    def check_number(self, number: float) -> None:
        # Python's hashes of large numbers collide as a file's author likes: sets become slow.
        if not -(2**31) <= number < 2**31:
            raise self.refused("a number of more than 32 bits")

    def check_tuple(self, made: tuple) -> None:
        if len(made) > _LONGEST or _depth(made) > _DEEPEST or _values(made) > _MOST_VALUES:
            raise self.refused(
                f"a tuple of more than {_LONGEST} values, {_DEEPEST} levels or {_MOST_VALUES} "
                "values on all of them"
            )

    def check_keys(self, keys: Iterable[Any], container: type) -> None:
        for key in keys:
            if isinstance(key, tuple):
                found = hash(key)
                self.alike[found] += 1
                if self.alike[found] > _MOST_ALIKE:
                    raise self.refused(f"more than {_MOST_ALIKE} keys of one hash")


def _depth(value: tuple) -> int:
    return 1 + max((_depth(inner) for inner in value if isinstance(inner, tuple)), default=0)


def _values(value: tuple) -> int:
    return sum(_values(inner) if isinstance(inner, tuple) else 1 for inner in value)
