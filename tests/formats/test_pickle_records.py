"""What models' pickles may say, and what messages say of values of a pickle."""

import pickle
from collections import OrderedDict
from functools import partial

import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import brief, parse


def test_a_value_that_names_another_twice_is_described_in_a_few_characters():
    """Written whole, 30 levels of it are a gigabyte: 1.8 KB took minutes."""
    value = "x"
    for _ in range(60):
        value = [value, value]
    said = [brief(each) for each in (value, (value, value), {"a": value}, "y" * 2**20, 10**5000)]
    assert said == ["list", "(list, list)", "dict", said[3], "int"]
    assert len(said[3]) == 80


RELU = b"ctorch.nn.modules.activation\nReLU\n"
ORDERED = b"ccollections\nOrderedDict\n"
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n)R"
STATE = b"}X\1\0\0\0aK\1s"

#: what Python would make otherwise than it reads, written by hand
ODD = {
    "two states": (RELU + b")\x81" + (STATE + b"b") * 2, "a state of torch.nn.modules.activation"),
    "one state of two": (b"}q\0" + RELU + b")\x81h\0b" + RELU + b")\x81h\0b\x86", "a state of"),
    "a state that changes": (b"}q\0" + RELU + b")\x81h\0bh\0X\1\0\0\0aK\1s\x86", "that changes"),
    "contents in the call": (ORDERED + b"]X\1\0\0\0aK\1\x86a\x85R", "OrderedDict(list)"),
    "methods of a dict": (ORDERED + b")R}X\5\0\0\0itemsK\1sb", "a state of collections.Ordered"),
    "another state of a dict": (ORDERED + b")RN}\x86b", "a state of collections.OrderedDict"),
    "a tensor set anew": (TENSOR + STATE + b"b", "a state of torch._utils._rebuild_tensor_v2"),
    "a function called": (b"ctorch.nn.init\nzeros_\n)R", "a call of torch.nn.init.zeros_()"),
    "a class called": (RELU + b")R", "a call of torch.nn.modules.activation.ReLU()"),
    "a function's object": (ORDERED + b")\x81", "an object of collections.OrderedDict"),
    "keywords": (RELU + b")}\x92", "opcode NEWOBJ_EX"),
}


@pytest.mark.parametrize("case", ODD)
def test_what_no_pickler_writes_is_refused(case):
    pickled, message = ODD[case]
    with pytest.raises(KgdashError) as caught:
        parse(b"\x80\x02" + pickled + b".", lambda key: key, "x.pkl")
    assert f"x.pkl: refused: {message}" in str(caught.value) or message in str(caught.value)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_picklers_write_is_read(protocol):
    weights = OrderedDict(a=1)
    weights._metadata = OrderedDict(version=1)
    value = [weights, partial(torch.nn.functional.normalize, p=1), torch.nn.ReLU(), {"a"}]
    value.append(value[2])
    read = parse(pickle.dumps(value, protocol), lambda key: key, "x.pkl")
    assert read[0].items == {"a": 1}
    assert read[0].state["_metadata"].items == {"version": 1}
    assert read[1].state[2] == {"p": 1}
    assert read[2] is read[4]
