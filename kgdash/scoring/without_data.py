"""Modules whose tensors have shapes and types but no data, made without torch's compiler.

Without data torch draws and calculates by Python references, which import its compiler: a second or
two. So random initialisation is left out, where there is nothing to fill.
"""

from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

_M = TypeVar("_M", bound=torch.nn.Module)


def without_data(kind: type[_M], **arguments: Any) -> _M:
    """Make a module, a model of PyKEEN's or a part of one, on the device "meta"."""
    made: Any = object.__new__(kind)
    made.__dict__["reset_parameters_"] = lambda: made  # PyKEEN's models call it when they are made
    with torch.device("meta"), _NothingDrawn():
        made.__init__(**arguments)
    del made.__dict__["reset_parameters_"]
    return made


class _NothingDrawn(TorchFunctionMode):
    """Leaves out drawing that torch's own layers begin with."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        if function.__name__ in ("normal_", "uniform_"):
            tensor = args[0] if args else given["tensor"]
            if tensor.is_meta:
                return tensor
        return function(*args, **given)
