"""Readers of OBL2021's arrays."""

import io
from pathlib import Path

import numpy as np
import torch

from kgdash.studies.obl2021.submission_reading import read_submissions
from tests.fuzz.mutation.containers import pack, unpack
from tests.fuzz.reader import Reader
from tests.support.fakes import make_graph

_COUNT = 3
_GRAPH = make_graph([(0, 0, 1)], entities=30)

_TAILS, _HEADS = (np.stack([np.arange(i, i + 10) for i in range(k, k + _COUNT)]) for k in (12, 0))
_BOTH = np.concatenate([_TAILS, _HEADS])


def _npy() -> list[bytes]:
    return [_saved(_BOTH), _saved(np.asfortranarray(_BOTH.astype(np.uint16))), _saved(_HEADS)]


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _npz() -> list[bytes]:
    pair = {"top10_heads.npy": _saved(_HEADS), "top10_tails.npy": _saved(_TAILS)}
    return [pack({"pred_top10.npy": _saved(_BOTH)}), pack(pair, deflated=True)]


def _pt() -> list[bytes]:
    found = []
    pair = {"top10_heads": torch.from_numpy(_HEADS), "top10_tails": torch.from_numpy(_TAILS)}
    for value in (torch.from_numpy(_BOTH), pair, torch.from_numpy(_BOTH.astype(np.int32))):
        stream = io.BytesIO()
        torch.save(value, stream)
        found.append(pack(unpack(stream.getvalue())))
    return found


def _read(path: Path) -> None:
    read_submissions([(path.name, path.read_bytes())], _GRAPH, _COUNT)


READERS = (
    Reader("arrays-npy", _npy, _read, "heads.npy"),
    Reader("arrays-npz", _npz, _read, "case.npz"),
    Reader("arrays-pt", _pt, _read, "case.pt"),
)
