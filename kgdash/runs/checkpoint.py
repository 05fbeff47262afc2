"""Where a long training is after an epoch, kept in the cache: the same training goes on from it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from kgdash.errors import KgdashError
from kgdash.files.atomic import draft_folder, move, sync
from kgdash.files.bounds import check_room
from kgdash.files.cache_folder import (
    PLACE,
    TRAININGS,
    cache_directory,
    cache_limit,
    make_room,
)
from kgdash.formats.tensor_file import open_tensors

#: seconds of training after which its place is written down again
_EVERY = 60.0

#: bytes of a file's header, which holds what was said: a number per epoch
_MOST_SAID = 2**24


class Checkpoint:
    """The place of one training; a disk that is full or read-only only costs going on."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        """Name a training.

        :param about: all that it depends on, as JSON can hold it
        """
        text = json.dumps({**about, "torch": torch.__version__}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:40]
        self._path = cache_directory() / TRAININGS.replace("*", digest)
        self._last = time.monotonic()

    def read(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]] | None:
        """Return what was said and the tensors that were kept; None if they are not as written."""
        try:
            with open_tensors(self._path, most_header=_MOST_SAID) as file:
                said = file.metadata()["kgdash"]
                kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                whole = file.metadata()["sha256"] == _digest(said, kept)
            return (json.loads(said), kept) if whole else None
        except (OSError, SafetensorError, KeyError, TypeError, ValueError, RecursionError):
            return None

    def is_due(self) -> bool:
        """Tell whether the place is to be written down again."""
        return time.monotonic() - self._last >= _EVERY

    def write(self, said: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> None:
        """Write a place down in place of the one before.

        Places of other trainings, which nobody may ask for again, go as tables do; this one stays.
        """
        kept = {name: each.detach().clone().contiguous() for name, each in tensors.items()}
        text = json.dumps(dict(said))
        about = {"kgdash": text, "sha256": _digest(text, kept)}
        with contextlib.suppress(OSError, SafetensorError, KgdashError):
            check_room(self._path.parent)
            with draft_folder(self._path) as folder:  # `save_file` puts another in a file's place
                save_file(kept, folder / "place", about)
                sync(folder / "place")
                move(folder / "place", self._path, over=True)
            make_room(max(cache_limit(), self._path.stat().st_size), PLACE)
        self._last = time.monotonic()

    def remove(self) -> None:
        """Forget it: the training came to its end."""
        with contextlib.suppress(OSError):
            Path(self._path).unlink(missing_ok=True)


def _digest(said: str, tensors: Mapping[str, torch.Tensor]) -> str:
    digest = hashlib.sha256(said.encode())
    for name in sorted(tensors):
        each = tensors[name]
        digest.update(f"\n{name} {each.dtype} {list(each.shape)}\n".encode())
        digest.update(each.contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
