"""What a call into a model would take of memory, found without data: shapes are reckoned, no more.

A few weights of a stranger's model may make large layers, whichever model it is.
"""

import copy
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def shadow(model: torch.nn.Module) -> Any:
    """Return a copy of a model whose weights have shapes and types but no data."""
    tensors = [*model.parameters(), *model.buffers()]
    bare: dict[int, Any] = {id(each): _without_data(each) for each in tensors}
    return copy.deepcopy(model, bare)


def most_bytes(call: Callable[[], Any]) -> int | None:
    """Return the bytes that a call of a `shadow` would have in use at once, what it has left out.

    :return: None if it can not be told: the call looks at data
    """
    counting = _Counting()
    try:
        with torch.inference_mode(), counting:
            call()
    except Exception:  # a model is PyKEEN's and raises whatever it pleases without data
        return None
    return counting.most


def _without_data(tensor: torch.Tensor) -> torch.Tensor:
    bare = torch.empty_like(tensor, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(bare, requires_grad=False)
    return bare


class _Counting(TorchDispatchMode):
    """Counts the bytes of tensors that are made while it is on, as long as they live."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to be kept from the compiler would import it, for a second or two

    def __init__(self) -> None:
        super().__init__()
        self.most = self._now = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        with self:  # what is made of several is reckoned step by step
            found = function.decompose(*args, **(kwargs or {}))
        if found is not NotImplemented:
            return found
        given = {each.untyped_storage()._cdata for each in _tensors((args, kwargs))}
        found = function(*args, **(kwargs or {}))
        for each in _tensors(found):
            storage = each.untyped_storage()
            if storage._cdata not in self._known | given:
                self._count(storage)
        return found

    def _count(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()
        self._known.add(key)
        self._now += size
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._freed, key, size)

    def _freed(self, key: int, size: int) -> None:
        self._known.discard(key)
        self._now -= size


def _tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]
