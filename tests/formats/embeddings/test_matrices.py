"""Matrices in three kinds of files, and what is refused of them."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.torch
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.matrices import (
    check_finite,
    check_same_order,
    find_matrix,
    read_matrix,
    single_precision,
)
from tests.support.tensor_files import listing

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)


def lists(values, kind=None):
    return pa.array([row.tolist() for row in values], type=kind)


WRITERS = {
    "npy": lambda p: np.save(p / "a.npy", VALUES),
    "npy, by columns": lambda p: np.save(p / "a.npy", np.asfortranarray(VALUES)),
    "npy, wide": lambda p: np.save(p / "a.npy", VALUES.astype(np.float64)),
    "npy, big-endian": lambda p: np.save(p / "a.npy", VALUES.astype(">f4")),
    "safetensors": lambda p: safetensors.torch.save_file(
        {"any": torch.from_numpy(VALUES)}, p / "a.safetensors"
    ),
    "safetensors, several": lambda p: safetensors.torch.save_file(
        {"a": torch.from_numpy(VALUES), "b": torch.zeros(1)}, p / "a.safetensors"
    ),
    "parquet, columns": lambda p: parquet(
        p / "a.parquet", **{str(k): VALUES[:, k] for k in range(3)}
    ),
    "parquet, columns in another order": lambda p: parquet(
        p / "a.parquet", **{f"d2_{k}": VALUES[:, k - 9] for k in (10, 11, 9)}
    ),
    "parquet, named columns": lambda p: parquet(
        p / "a.parquet", **{name: VALUES[:, k] for k, name in enumerate(("z1", "y0", "x"))}
    ),
    "parquet, an index of pandas": lambda p: pd.DataFrame(
        VALUES.astype(float), columns=list("cab"), index=[0.5, 1.5, 2.5, 9]
    ).to_parquet(p / "a.parquet"),
    "parquet, lists": lambda p: parquet(p / "a.parquet", v=lists(VALUES)),
    "parquet, lists of one length": lambda p: parquet(
        p / "a.parquet", v=lists(VALUES, pa.list_(pa.float32(), 3))
    ),
}


def test_two_files_of_the_same_columns_in_another_order(tmp_path):
    one, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    parquet(one, re_0=VALUES[:, 0], im_0=VALUES[:, 1])
    parquet(other, im_0=VALUES[:, 1], re_0=VALUES[:, 0])
    with pytest.raises(KgdashError, match="have the same columns in another order"):
        check_same_order(one, other)
    check_same_order(one, one)
    parquet(other, im_0=VALUES[:, 1])
    check_same_order(one, other)
    check_same_order(one, tmp_path / "b.npy")


@pytest.mark.parametrize("name", WRITERS)
def test_is_read(name, tmp_path):
    WRITERS[name](tmp_path)
    found = read_matrix(find_matrix(tmp_path, "a"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VALUES)


def test_complex_and_half_precision(tmp_path):
    np.save(tmp_path / "a.npy", VALUES.astype(np.complex128))
    assert read_matrix(tmp_path / "a.npy").dtype == np.complex64
    half = torch.from_numpy(VALUES).bfloat16()
    safetensors.torch.save_file({"x": half}, tmp_path / "a.safetensors")
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.safetensors"), half.float().numpy())
    with pytest.raises(KgdashError, match=r"a\.npy and a\.safetensors, which may differ"):
        find_matrix(tmp_path, "a")


def saved(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def says(shape: str, count: int) -> bytes:
    """Return a file of so many floats whose header says a shape."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(245) + "\n"
    return (
        b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(4 * count)
    )


REFUSED = {
    "a pickle": (saved(np.array([{}], dtype=object)), "expected floating point numbers"),
    "text": (saved(np.array(["a"])), "expected floating point numbers; found <U1"),
    "cut short": (saved(VALUES)[:-4], "cut short or damaged: shape"),
    "too long": (saved(VALUES) + b"\0", "cut short or damaged"),
    "no NumPy file": (b"hello", "is no NumPy file"),
    "a wild shape": (saved(VALUES).replace(b"(4, 3)", b"(4e9,)"), "is no NumPy file"),
    "a shape below nothing": (saved(VALUES).replace(b"(4, 3)", b"(-4,3)"), "no shape of a matrix"),
    "twice below nothing": (says("(-4,-3)", 12), "no shape of a matrix"),
    "a shape of truths": (says("(True, True)", 1), "no shape of a matrix"),
    "far too many axes": (says(str((1,) * 33), 1), "no shape of a matrix"),
    "an axis beyond all": (says(f"(0, {10**30})", 0), "no shape of a matrix"),
    "a header that never ends": (saved(VALUES).replace(b"}", b"("), "is no NumPy file"),
    "empty": (b"", "is no NumPy file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name, tmp_path):
    content, message = REFUSED[name]
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(KgdashError, match=message):
        read_matrix(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("ending", "write", "message"),
    [
        ("parquet", lambda p: p.write_bytes(b"PAR1xx"), "is no Parquet file of numbers"),
        ("parquet", lambda p: parquet(p, a=["x"]), "expected a column of floating point"),
        (
            "parquet",
            lambda p: pd.DataFrame({"at": VALUES[0], "0": VALUES[1]}).set_index("at").to_parquet(p),
            "found at beside them. Write the file without an index",
        ),
        ("parquet", lambda p: parquet(p, a=[[1.0], [1.0, 2.0]]), "lists of one length"),
        ("parquet", lambda p: parquet(p, a=[[1.0], None]), "lists of one length"),
        (
            "parquet",
            lambda p: parquet(p, v=pa.nulls(50, pa.list_(pa.float32(), 1_000))),
            "lists of one length",
        ),
        ("safetensors", lambda p: p.write_bytes(b"x" * 20), "not a whole safetensors file"),
        (
            "safetensors",
            lambda p: safetensors.torch.save_file({k: torch.zeros(1) for k in "bc"}, p),
            "expected one tensor, or one named a; found b, c",
        ),
    ],
)
def test_other_files_that_are_refused(ending, write, message, tmp_path):
    path = tmp_path / f"a.{ending}"
    write(path)
    with pytest.raises(KgdashError, match=message):
        read_matrix(path)


def test_tensors_that_no_array_can_be(tmp_path):
    safetensors.torch.save_file({"a": torch.zeros((1,) * 65)}, tmp_path / "a.safetensors")
    with pytest.raises(KgdashError, match="expected numbers; found 65 axes"):
        read_matrix(tmp_path / "a.safetensors")


def test_more_tensors_than_a_model_has(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(listing(20_000))
    with pytest.raises(KgdashError, match=r"a\.safetensors has a header of 1,"):
        read_matrix(tmp_path / "a.safetensors")


def test_a_table_that_says_one_number_again_and_again(tmp_path):
    # Two of 5 KB together took 4 GB.
    numbers = pa.array(np.full(2**23, 0.5))
    rows = pa.ListArray.from_arrays(np.array([0, 2**22, 2**23], np.int32), numbers)
    parquet(tmp_path / "a.parquet", v=rows)
    with pytest.raises(KgdashError, match=r"unpacks to 8,388,\d+ numbers, nearly all alike"):
        read_matrix(tmp_path / "a.parquet")


def test_numbers_beyond_single_precision():
    with pytest.raises(KgdashError, match=r"here, row 2: a number beyond 3.4e38"):
        single_precision(np.array([[1.0], [1e39]]), "here")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"here, row 2 \('y'\): the vector is NaN, as are 0 others"),
        (np.inf, r"row 2 \('y'\): the vector is infinite.*float16 ends at 65,504"),
    ],
)
def test_rows_that_are_not_finite(value, message):
    with pytest.raises(KgdashError, match=message):
        check_finite(np.array([[1.0], [value]], dtype=np.float16), ("x", "y"), "here")


SAME_TEXT = pa.DictionaryArray.from_arrays(np.zeros(100, np.int32), ["x" * 2**10])

#: of bytes that stand for gigabytes: 293 for a thousand texts of a megabyte, 530 for lists that are
#: not there, each as long as the others
UNREAD = {
    "one text": (SAME_TEXT, "expected a column of floating point numbers"),
    "lists of one text": (
        pa.ListArray.from_arrays(np.array([0, 50, 100], np.int32), SAME_TEXT),
        "expected lists of numbers; found lists of",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_no_matrix_is_not_read(name, tmp_path, monkeypatch):
    values, message = UNREAD[name]
    parquet(tmp_path / "a.parquet", v=values)
    monkeypatch.delattr(pq.ParquetFile, "read")
    with pytest.raises(KgdashError, match=message):
        read_matrix(tmp_path / "a.parquet")
