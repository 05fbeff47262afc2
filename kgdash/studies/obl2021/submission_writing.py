"""Writing a submission to OBL2021: one NPZ and the line that goes with it.

Defined in numbers.md#10-obl2021.
"""

import io
from pathlib import Path

import numpy as np

from kgdash.files.atomic import write_atomically
from kgdash.files.extensions import check_extension


def submission_bytes(heads: np.ndarray, tails: np.ndarray) -> bytes:
    """Return the compressed NPZ with ``pred_top10``: int32, shape ``(2n, 10)``, tails first."""
    stream = io.BytesIO()
    np.savez_compressed(stream, pred_top10=np.concatenate([tails, heads]).astype(np.int32))
    return stream.getvalue()


def write_submission(out: Path, heads: np.ndarray, tails: np.ndarray, h10: float) -> str:
    """Write a submission; it appears whole or not at all.

    :param out: a .npz file
    :param heads: ids as the file shall hold them, integers, shape ``(n, 10)``
    :param tails: the same for tails
    :param h10: Hits@10 of these predictions
    :return: the line that goes with the file, ``{'h10': value}``
    :raises KgdashError: if the extension is another, or the file can not be written
    """
    check_extension(out, (".npz",))
    write_atomically(out, lambda part: part.write_bytes(submission_bytes(heads, tails)))
    return submission_line(h10)


def submission_line(h10: float) -> str:
    """Return the line that a submission's form asks for."""
    return str({"h10": float(h10)})
