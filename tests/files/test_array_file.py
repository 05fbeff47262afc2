"""Arrays and texts come back as they were, mapped; a file with one other byte is refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from kgdash.files.array_file import read_arrays, read_schema, write_arrays
from kgdash.files.table_note import DAMAGED

TEXTS = st.lists(st.text(max_size=5), max_size=5)
ARRAYS = st.one_of(hn.arrays(dtype, hn.array_shapes(min_side=0)) for dtype in ("<i4", "<i8"))


@given(TEXTS, ARRAYS)
def test_what_is_written_is_read(tmp_path_factory, texts, numbers):
    path = tmp_path_factory.mktemp("arrays") / "x.arrow"
    parts = [("texts", pa.array(texts, pa.large_string())), ("numbers", numbers)]
    write_arrays(path, iter(parts), {b"note": b"of what"})
    found = read_arrays(path)
    assert list(found) == ["texts", "numbers"]
    assert found["texts"].to_pylist() == texts
    assert found["numbers"].dtype == numbers.dtype
    assert found["numbers"].tolist() == numbers.reshape(-1).tolist()
    assert read_schema(path).metadata == {b"note": b"of what"}


def test_arrays_can_be_written_to_without_changing_the_file(tmp_path):
    write_arrays(tmp_path / "x", [("a", np.arange(3))], {})
    found = read_arrays(tmp_path / "x")["a"]
    found[0] = 7
    assert read_arrays(tmp_path / "x")["a"].tolist() == [0, 1, 2]


def test_any_other_byte_and_any_other_length_are_refused(tmp_path):
    path = tmp_path / "x.arrow"
    write_arrays(path, [("a", np.arange(3)), ("b", pa.array(["q"], pa.large_string()))], {})
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DAMAGED):
            read_arrays(path)
    for length in (0, 1, 31, 32, 33, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DAMAGED):
            read_arrays(path)
