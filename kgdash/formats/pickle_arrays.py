"""NumPy arrays out of pickles: the policy of `pickle_machine` for dicts of arrays, text, numbers.

An array is a call of NumPy's that the file names, its bytes given as a state: both are recorded,
and the array is made of the bytes here.
"""

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.files.regular import open_regular
from kgdash.formats.pickle_machine import PickleMachine, is_plain_key

#: bytes of a file; of memory that what is no array takes for each opcode; containers, axes
_MOST, _PER_OPCODE, _MOST_CONTAINERS, _MOST_AXES = 2**40, 64, 1_000, 8

#: items of the longest tuple that NumPy writes; bytes of the longest of its texts that is a name: a
#: file may have one made into characters again and again
_LONGEST, _LONGEST_TEXT = 9, 4_000

#: what a file may name besides the class of its dicts → what stands for it
_CORE = ("numpy.core", "numpy._core")
_MADE = frozenset(f"{core}.multiarray._reconstruct" for core in _CORE)
_MADE_OF_BYTES = frozenset(f"{core}.numeric._frombuffer" for core in _CORE)
_SCALARS = frozenset(f"{core}.multiarray.scalar" for core in _CORE)
_DTYPE, _NDARRAY = "numpy.dtype", "numpy.ndarray"

#: floats by the names that NumPy gives them there
_FLOATS = {"f2": np.float16, "f4": np.float32, "f8": np.float64}

#: attributes that Python looks for itself
_SPECIAL = re.compile("__.*__").fullmatch

#: values that are equal without being one
_PLAIN = (int, float, str)

_BYTES = frozenset({"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"})
_KEPT = frozenset({"MEMOIZE", "BINPUT", "LONG_BINPUT"})


class _Name(str):
    """A name that the file gives to a function: no text of its own."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class _Dtype:
    """A type that the file describes."""

    code: object
    state: object = None


class _Object(dict):
    """A dict of the admitted class, whose items are its attributes, too: ``state``."""

    state: dict | None = None


@dataclass(slots=True, eq=False)
class PickledArray:
    """An array as the file describes it: of no bytes before `numbers` is asked."""

    state: object = None

    def numbers(self, where: str) -> np.ndarray:
        """Return the array, a view of the file's bytes.

        :param where: file and name of the array, for messages
        :raises KgdashError: if it is none of floats, or its shape and bytes do not fit
        """
        match self.state:
            case (
                1,
                tuple(shape),
                _Dtype() as kind,
                int(fortran),
                bytes() | bytearray() as content,
            ):
                pass
            case _:
                raise KgdashError(f"{where}: expected an array; found something else of NumPy's")
        match kind.state:
            case (int(), "<", None, None, None, *_) if kind.code in _FLOATS:
                dtype = np.dtype(_FLOATS[kind.code])
            case _:
                raise KgdashError(f"{where}: expected floats of 16 to 64 bits; found other numbers")
        sizes = len(shape) <= _MOST_AXES and all(type(n) is int and 0 <= n < 2**63 for n in shape)
        if not sizes or math.prod(shape) * dtype.itemsize != len(content) or not content:
            raise KgdashError(f"{where}: its shape and its {len(content):,} bytes do not fit")
        flat = np.frombuffer(content, dtype)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def read_array_pickle(path: Path, remedy: str, dicts: str | None = None) -> Any:
    """Read a pickle (protocols 3 to 5) of nested dicts with arrays, lists, text and numbers.

    :param remedy: what files should hold, for messages
    :param dicts: module and name of the class that its dicts may be of
    :return: dicts, lists, tuples, text, numbers and `PickledArray`
    :raises KgdashError: if it holds anything else, is damaged, or takes too much memory
    """
    try:
        with open_regular(path, _MOST) as stream:
            return _ArrayMachine(str(path), remedy, dicts).run(cast(IO[bytes], _Bounded(stream)))
    except KgdashError:
        raise
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise KgdashError(
            f"{path} is damaged or no pickle ({str(error) or type(error).__name__:.120}); {remedy}"
        ) from error


class _Bounded:
    """A stream of which no more is asked than it holds, and no line is long."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream, self._left = stream, stream.seek(0, io.SEEK_END)
        stream.seek(0)

    def read(self, size: int) -> bytes:
        return self._kept(self._stream.read(min(size, self._left)))

    def readline(self) -> bytes:
        return self._kept(self._stream.readline(2**16))

    def _kept(self, data: bytes) -> bytes:
        self._left -= len(data)
        return data


class _ArrayMachine(PickleMachine):
    """Admits arrays of NumPy and one class of dicts."""

    admitted = frozenset(
        ["BINFLOAT", "LONG1", "GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD", *_BYTES]
    )

    def __init__(self, where: str, remedy: str, dicts: str | None) -> None:
        super().__init__(where)
        self.dicts, self.remedy = dicts, remedy
        self.opcodes_left, self.containers_left = memory_budget() // _PER_OPCODE, _MOST_CONTAINERS
        self.objects: list[_Object] = []

    def run(self, data: bytes | IO[bytes]) -> Any:
        """Read a pickle in which attributes are items, of which libraries read either."""
        root = super().run(data)
        if not all(map(_is_as_its_state, self.objects)):
            raise self.refused(f"a {self.dicts} whose attributes are not its items")
        return root

    def step(self, opcode: str, argument: Any) -> None:
        # What is kept for later has a place of its own, by its number.
        self.opcodes_left -= 2 if opcode in _KEPT else 1
        self.containers_left -= opcode.startswith("EMPTY_")
        if self.opcodes_left < 0:
            raise KgdashError(f"{self.where} holds more names than fit; raise KGDASH_MEMORY")
        if self.containers_left < 0:
            raise self.refused(f"more than {_MOST_CONTAINERS:,} lists and dicts")
        super().step(opcode, argument)

    def special(self, opcode: str, argument: Any) -> None:
        if opcode in _BYTES:
            self.stack.append(argument)
        else:
            super().special(opcode, argument)

    def admit(self, module: str, name: str) -> _Name:
        full = f"{module}.{name}"
        if full not in (*_MADE, *_MADE_OF_BYTES, *_SCALARS, _DTYPE, _NDARRAY, self.dicts):
            raise self.refused(f"{full:.120}")
        return _Name(full)

    def call(self, function: object, arguments: object) -> object:
        match function, arguments:
            case _Name(), (_Name(), tuple(), bytes()) if function in _MADE:
                return PickledArray()
            case _Name(), (content, kind, shape, "C" | "F" as order) if function in _MADE_OF_BYTES:
                return PickledArray((1, shape, kind, order == "F", content))
            case _Name(), (
                _Dtype(code=str(code), state=(_, "<", None, None, None, size, *_)),
                bytes(text),
            ) if function in _SCALARS and code.startswith("U") and size == len(text):
                if len(text) > _LONGEST_TEXT:
                    raise self.refused(f"a text of NumPy's of more than {_LONGEST_TEXT:,} bytes")
                return text.decode("utf-32-le").rstrip("\0")
            case _Name(), (_Dtype(), bytes()) if function in _SCALARS:
                return PickledArray()  # a single number, which nobody needs
            # A type that is no copy may be that of another array, too.
            case _Name(), (str(code), 0, 1) if function == _DTYPE:
                return _Dtype(code)
        raise self.refused(f"a call of {function!s:.60}")

    def make(self, kind: object, arguments: object) -> object:
        if not isinstance(kind, _Name) or kind != self.dicts or arguments != ():
            raise self.refused(f"an object of {kind!s:.60}")
        self.containers_left -= 1
        self.objects.append(_Object())
        return self.objects[-1]

    def set_state(self, target: object, state: object) -> None:
        attributes = isinstance(target, _Object) and type(state) is dict
        if not attributes and not isinstance(target, _Dtype | PickledArray):
            raise self.refused(f"a state of {self.brief(target)} that no pickler writes")
        cast(Any, target).state = state

    def check_tuple(self, made: tuple) -> None:
        if len(made) > _LONGEST:
            raise self.refused(f"a tuple of more than {_LONGEST} values")

    def check_keys(self, keys: Sequence[Any], container: type) -> None:
        if container is not dict:
            raise self.refused("a set")
        for key in keys:
            if not is_plain_key(key):
                raise self.refused(f"a key of {type(key).__name__}")


def _is_as_its_state(made: _Object) -> bool:
    state = made.state or {}
    return made.keys() == state.keys() and all(
        type(key) is str and not _SPECIAL(key) and _same(value, state[key])
        for key, value in made.items()
    )


def _same(one: object, other: object) -> bool:
    """Tell whether two values are one, or equal text, numbers, or lists of these."""
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(_same_plain, one, other))
    return _same_plain(one, other)


def _same_plain(one: object, other: object) -> bool:
    return one is other or (type(one) in _PLAIN and type(one) is type(other) and one == other)
