"""Files of OBL2021: reading predictions without running anything.

Defined in numbers.md#10-obl2021.

A submission is one NPZ with ``pred_top10``, integers of shape (2n, 10), tails first, then heads;
or an NPZ, or a dict in a PT file, with ``top10_heads`` and ``top10_tails`` of shape (n, 10); or one
NPY or PT file with the (2n, 10) array; or two, with one of them each, named alike but for "heads"
and "tails".
"""

import io
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.regular import check_regular
from kgdash.formats.torch_archive import read_inert, rebuild_tensor
from kgdash.formats.zip_listing import open_zip
from kgdash.graph import KnowledgeGraph
from kgdash.studies.obl2021.entity_ids import check_ids, entity_numbers
from kgdash.studies.obl2021.top_ten import NOBODY, TOP

_BOTH, _PAIR = "pred_top10", ("top10_heads", "top10_tails")

_EXPECTED = (
    f"expected the array {_BOTH} of shape (2n, {TOP}), tails first, or {_PAIR[0]} and {_PAIR[1]} "
    f"of shape (n, {TOP})"
)
#: characters of the header of an array of numbers: NumPy takes seconds over longer ones
_HEADER = 512

_RESAVE = "save it with numpy.savez_compressed and an integer dtype"


@dataclass(frozen=True)
class Submission:
    """Predictions for n triples: ``heads`` and ``tails``, int64 ids of the graph, ``(n, 10)``."""

    name: str
    heads: np.ndarray
    tails: np.ndarray


def read_submissions(
    files: Sequence[tuple[str, bytes]], graph: KnowledgeGraph, count: int, ids: str = "graph"
) -> list[Submission]:
    """Read submissions and check all that can be checked without their triples.

    :param files: name and content of each; the name tells the format and shows in messages
    :param graph: whose entities are predicted
    :param count: n, the number of triples
    :param ids: whose ids the files hold: "graph", or "names" where entities are named by numbers
    :return: in the order of the files; those that come in two halves last
    :raises KgdashError: on another format, a damaged file, an array that is not of integers or not
        of that shape, an id that is no entity's, an entity twice in a row, a half without the
        other, or twice, or the same predictions twice
    """
    check_ids(graph, ids)
    found: list[Submission] = []
    halves: dict[str, dict[str, tuple[str, np.ndarray]]] = {}
    for name, content in files:
        arrays = read_arrays(content, name, count)
        if len(arrays) == 2:
            found.append(_submission(name, arrays, graph, ids))
            continue
        ((kind, array),) = arrays.items()
        side, path = _side(name, kind), Path(name)
        alike = str(path.with_name(re.sub("heads|tails", "…", path.name)))
        sides = halves.setdefault(alike, {})
        if side in sides:
            raise KgdashError(
                f"{name} and {sides[side][0]} both hold the {side} of one submission: name the "
                "files of each alike but for heads and tails, such as seed1_heads.npy"
            )
        sides[side] = (name, array)
    for sides in halves.values():
        (name, _), *_ = sides.values()
        if len(sides) == 1:
            other = "tails" if "heads" in sides else "heads"
            raise KgdashError(
                f"{name}: holds only {next(iter(sides))}; add the file of {other}, named alike, "
                f"or give one file: {_EXPECTED}"
            )
        arrays = dict(zip(_PAIR, (sides["heads"][1], sides["tails"][1]), strict=True))
        found.append(_submission(name, arrays, graph, ids))
    for a, b in combinations(found, 2):
        if np.array_equal(a.heads, b.heads) and np.array_equal(a.tails, b.tails):
            raise KgdashError(
                f"{a.name} and {b.name} hold the same predictions: leave one of them out"
            )
    return found


@reads
def read_arrays(source: Path | bytes, name: str | None = None, count: int = 0) -> dict[str, Any]:
    """Read the arrays of a .npy, .npz or .pt file; pickles in it are refused, never run.

    :param source: the file, or its content
    :param name: what messages call it; its extension tells the format (default: the path)
    :param count: number of triples; 0 if it is not known, which leaves the number of rows open
    :return: ``{"top10_heads": …, "top10_tails": …}``, integers of shape ``(n, 10)``; or one array
        under the key "array", if the file holds only one half
    :raises KgdashError: as `read_submissions`
    """
    shown = name or str(source)
    try:
        if not isinstance(source, bytes):
            check_regular(source)
        content = source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise KgdashError(f"can not read {shown}: {error.strerror or error}") from error
    readers = {".npy": _npy_file, ".npz": _npz, ".pt": _pt, ".pth": _pt}
    reader = readers.get(Path(shown).suffix.lower())
    if reader is None:
        raise KgdashError(f"{shown}: expected a .npy, .npz or .pt file; {_EXPECTED}")
    return _laid_out(reader(content, shown, count), shown, count)


def _submission(
    name: str, arrays: Mapping[str, np.ndarray], graph: KnowledgeGraph, ids: str
) -> Submission:
    heads, tails = (_checked(arrays[key], graph, ids, f"{name}: {key}") for key in _PAIR)
    return Submission(name, heads, tails)


def _checked(array: np.ndarray, graph: KnowledgeGraph, ids: str, where: str) -> np.ndarray:
    """Check ids and return them as the graph's."""
    if array.dtype.kind == "u":  # beyond int64 they would turn negative
        array = np.minimum(array.astype(np.uint64), np.uint64(np.iinfo(np.int64).max))
    array = array.astype(np.int64)
    names = np.arange(graph.num_entities) if ids == "graph" else entity_numbers(graph)
    order = np.argsort(names)
    place = np.minimum(np.searchsorted(names, array, sorter=order), len(names) - 1)
    found = np.where(array == NOBODY, NOBODY, order[place])
    known = (array == NOBODY) | (names[order[place]] == array)
    if not known.all():
        row, column = (int(part[0]) for part in np.nonzero(~known))
        raise KgdashError(
            f"{where}: row {row:,}, place {column + 1} holds {int(array[row, column])}, which is "
            f"no entity of graph {graph.name} (ids {names.min()} to {names.max()}); were the ids "
            "made on another graph?"
        )
    nobody = found == NOBODY
    early = np.flatnonzero((nobody[:, :-1] & ~nobody[:, 1:]).any(axis=1))
    if len(early):
        raise KgdashError(
            f"{where}: row {early[0]:,} holds {NOBODY} (no entity) before an entity; empty places "
            "come last"
        )
    ordered = np.sort(found, axis=1)
    double = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOBODY)
    if double.any():
        row = int(np.flatnonzero(double.any(axis=1))[0])
        entity = ordered[row, 1:][double[row]][0]
        raise KgdashError(
            f"{where}: row {row:,} holds the entity {names[entity]} twice "
            f"({int(double.any(axis=1).sum()):,} such rows); each may come once"
        )
    return found


def _side(name: str, kind: str) -> str:
    """Tell whether a file with one half holds heads or tails."""
    sides = {side for side in ("heads", "tails") if side in Path(name).name}
    if kind in _PAIR:
        sides = {kind.removeprefix("top10_")}
    if len(sides) != 1:
        raise KgdashError(
            f'{name}: holds one of two halves, and its name does not say which; put "heads" or '
            f'"tails" into it, or give one file: {_EXPECTED}'
        )
    return sides.pop()


def _laid_out(arrays: dict[str, np.ndarray], where: str, count: int) -> dict[str, np.ndarray]:
    """Bring arrays of any admitted layout into one."""
    if set(arrays) == {_BOTH}:
        array = _shaped(arrays[_BOTH], 2 * count, f"{where}: {_BOTH}", even=True)
        tails, heads = np.split(array, 2)
        return dict(zip(_PAIR, (heads, tails), strict=True))
    if set(arrays) == set(_PAIR):
        pair = {key: _shaped(arrays[key], count, f"{where}: {key}") for key in _PAIR}
        if len(pair[_PAIR[0]]) != len(pair[_PAIR[1]]):
            raise KgdashError(f"{where}: heads and tails have different numbers of rows")
        return pair
    if len(arrays) == 1 and set(arrays) <= {"array", *_PAIR}:
        ((key, array),) = arrays.items()
        if key == "array" and array.ndim == 2 and count and len(array) == 2 * count:
            return _laid_out({_BOTH: array}, where, count)
        return {key: _shaped(array, count, where)}
    found = ", ".join(sorted(arrays)) or "none"
    raise KgdashError(f"{where}: {_EXPECTED}; found the arrays {found:.200}")


def _shaped(array: np.ndarray, rows: int, where: str, even: bool = False) -> np.ndarray:
    _check_layout(array.shape, array.dtype, (rows,), where)
    if even and len(array) % 2:
        raise KgdashError(f"{where}: expected an even number of rows, tails first, then heads")
    return array


def _check_layout(shape: tuple[int, ...], dtype: Any, rows: Sequence[int], where: str) -> None:
    """Refuse a shape or dtype; ``rows`` are the numbers of rows that would do, 0 for any."""
    if dtype.hasobject:
        raise KgdashError(
            f"{where}: holds Python objects (a pickle), which are not read; {_RESAVE}"
        )
    if not np.issubdtype(dtype, np.integer):
        raise KgdashError(f"{where}: expected integer ids; found dtype {dtype}; {_RESAVE}")
    if len(shape) != 2 or shape[1] != TOP or (all(rows) and shape[0] not in rows):
        some = " or ".join(f"{n:,}" for n in dict.fromkeys(rows)) if all(rows) else "n"
        raise KgdashError(
            f"{where}: expected shape ({some}, {TOP}), a row per triple and the ten best entities "
            f"in it; found {shape}. Were the predictions made on another split or graph?"
        )


def _npy_file(content: bytes, where: str, count: int) -> dict[str, np.ndarray]:
    return {"array": _npy(io.BytesIO(content), len(content), where, (count, 2 * count))}


def _npy(stream: Any, size: int, where: str, rows: Sequence[int]) -> np.ndarray:
    """Read one array; its header is checked before anything is allocated for it."""
    try:
        version = np.lib.format.read_magic(stream)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, fortran, dtype = readers[version](stream, max_header_size=_HEADER)
    except Exception as error:  # NumPy reads the header as a piece of Python
        raise KgdashError(
            f"{where}: damaged, or not an array of numpy.save ({error!s:.120}); {_RESAVE}"
        ) from error
    _check_layout(shape, dtype, rows, where)
    wanted = shape[0] * shape[1] * dtype.itemsize
    # To its end, where a zip file's checksum is compared.
    data = stream.read(wanted) + stream.read(1) if wanted <= size else b""
    if len(data) != wanted:
        raise KgdashError(
            f"{where}: cut short or too long: expected {wanted:,} bytes of numbers; write it again"
        )
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _npz(content: bytes, where: str, count: int) -> dict[str, np.ndarray]:
    arrays = {}
    try:
        with open_zip(io.BytesIO(content), where) as archive:
            for entry in archive.infolist():
                key = entry.filename.removesuffix(".npy")
                if key not in (_BOTH, *_PAIR) or key in arrays:
                    found = ", ".join(archive.namelist())
                    raise KgdashError(f"{where}: {_EXPECTED}; found {found:.200}")
                rows = (2 * count,) if key == _BOTH else (count,)
                with archive.open(entry) as stream:
                    arrays[key] = _npy(stream, entry.file_size, f"{where}: {key}", rows)
    except KgdashError:
        raise
    except Exception as error:  # a damaged zip file trips whatever stands in its way
        raise KgdashError(
            f"{where}: damaged or cut short, or no NPZ ({error!s:.120}); copy or write it again"
        ) from error
    return arrays


def _pt(content: bytes, where: str, count: int) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "array.pt"
        path.write_bytes(content)
        try:
            tree, storages = read_inert(path)
        except KgdashError as error:
            cause = str(error).replace(str(path), where).split("; expected the trained_model")[0]
            raise KgdashError(f"{cause}; {_EXPECTED}, as plain tensors, or {_RESAVE}") from error
    records = tree if isinstance(tree, dict) else {"array": tree}
    tensors = {
        str(key): rebuild_tensor(record, storages, str(key), where)
        for key, record in records.items()
    }
    for tensor in tensors.values():
        if tensor.is_floating_point():  # NumPy does not know all of them
            raise KgdashError(
                f"{where}: expected integer ids; found dtype {tensor.dtype}; convert with .long()"
            )
    return {key: tensor.numpy() for key, tensor in tensors.items()}
