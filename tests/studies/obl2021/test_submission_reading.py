"""Submissions as files: what is written can be read, and all else is refused with its cause."""

import io
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.studies.obl2021.entity_ids import as_written
from kgdash.studies.obl2021.submission_reading import read_arrays, read_submissions
from kgdash.studies.obl2021.submission_writing import (
    submission_bytes,
    submission_line,
    write_submission,
)
from tests.support.fakes import make_graph

COUNT = 3
GRAPH = make_graph([(0, 0, 1)], entities=30)


def rows(start: int = 0) -> np.ndarray:
    return np.stack([np.arange(i, i + 10) for i in range(start, start + COUNT)])


HEADS, TAILS = rows(), rows(12)


def npy(value: np.ndarray, **options) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value, **options)
    return stream.getvalue()


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def pt(value) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def read(*files, ids="graph", graph=GRAPH):
    return read_submissions(list(files), graph, COUNT, ids)


BOTH = np.concatenate([TAILS, HEADS])
TENSORS = {"top10_heads": torch.from_numpy(HEADS), "top10_tails": torch.from_numpy(TAILS)}


@pytest.mark.parametrize(
    "files",
    [
        [("a.npz", npz(pred_top10=BOTH))],
        [("a.npz", npz(pred_top10=BOTH.astype(np.int32)))],
        [("a.npz", npz(top10_heads=HEADS, top10_tails=TAILS))],
        [("a.npy", npy(BOTH))],
        [("a.npy", npy(np.asfortranarray(BOTH)))],
        [("a.npy", npy(BOTH.astype(">u2")))],
        [("a.pt", pt(TENSORS))],
        [("a.pt", pt(torch.from_numpy(BOTH)))],
        [("a.pt", pt({"pred_top10": torch.from_numpy(BOTH)}))],
        [("a.pt", pt(torch.from_numpy(BOTH.T.copy()).T))],
        [("top10_heads.npy", npy(HEADS)), ("top10_tails.npy", npy(TAILS))],
        [("s1/tails.pt", pt(torch.from_numpy(TAILS))), ("s1/heads.pt", pt(TENSORS["top10_heads"]))],
        [("heads.npz", npz(top10_heads=HEADS)), ("tails.npz", npz(top10_tails=TAILS))],
    ],
    ids=range(13),
)
def test_layouts(files):
    (found,) = read(*files)
    np.testing.assert_array_equal(found.heads, HEADS)
    np.testing.assert_array_equal(found.tails, TAILS)
    assert found.heads.dtype == np.int64


def test_round_trip(tmp_path):
    out = tmp_path / "deep" / "mine.npz"
    line = write_submission(out, HEADS, TAILS, 0.25)
    assert line == submission_line(0.25) == "{'h10': 0.25}"
    with np.load(out, allow_pickle=False) as stored:
        assert stored.files == ["pred_top10"]
        assert stored["pred_top10"].dtype == np.int32
        np.testing.assert_array_equal(stored["pred_top10"], BOTH)
    with zipfile.ZipFile(out) as archive:
        assert archive.infolist()[0].compress_type == zipfile.ZIP_DEFLATED
    (found,) = read((out.name, out.read_bytes()))
    np.testing.assert_array_equal(found.heads, HEADS)
    arrays = read_arrays(out)
    np.testing.assert_array_equal(arrays["top10_tails"], TAILS)
    with pytest.raises(KgdashError, match=r"expected an output file in \.npz"):
        write_submission(tmp_path / "mine.csv", HEADS, TAILS, 0.25)


def test_several_submissions_and_pairs():
    found = read(
        ("a.npz", submission_bytes(TAILS, TAILS)),
        ("heads-1.npy", npy(HEADS)),
        ("tails-2.npy", npy(HEADS)),
        ("tails-1.npy", npy(TAILS)),
        ("heads-2.npy", npy(TAILS)),
    )
    assert len(found) == 3
    np.testing.assert_array_equal(found[1].tails, TAILS)
    np.testing.assert_array_equal(found[2].heads, TAILS)


def test_empty_places_come_last():
    few = HEADS.copy()
    few[:, 7:] = -1
    (found,) = read(("a.npz", submission_bytes(few, TAILS)))
    np.testing.assert_array_equal(found.heads, few)
    few[1, 8] = 3
    with pytest.raises(KgdashError, match=r"top10_heads: row 1 holds -1 \(no entity\) before"):
        read(("a.npz", submission_bytes(few, TAILS)))


def test_ids_that_are_names():
    numbers = tuple(str(n) for n in range(100, 130))
    graph = replace(GRAPH, entities=numbers[::-1])
    few = HEADS.copy()
    few[0, 9] = -1
    written = as_written(few, graph, "names")
    assert written[0].tolist() == [*range(129, 120, -1), -1]
    content = submission_bytes(written, as_written(TAILS, graph, "names"))
    (found,) = read(("a.npz", content), ids="names", graph=graph)
    np.testing.assert_array_equal(found.heads, few)
    with pytest.raises(KgdashError, match=r"no entity of graph tiny \(ids 100 to 129\)"):
        read(("a.npz", submission_bytes(HEADS, TAILS)), ids="names", graph=graph)
    with pytest.raises(KgdashError, match="named by numbers; found 'e0'"):
        read(("a.npz", content), ids="names")
    with pytest.raises(KgdashError, match="unknown kind of ids 'own'"):
        as_written(HEADS, GRAPH, "own")


def changed(row: int, place: int, value: int) -> np.ndarray:
    heads = HEADS.copy()
    heads[row, place] = value
    return heads


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def bad_magic() -> bytes:
    return b"\x93NUMPY\x07\x00" + npy(HEADS)[8:]


REFUSED = [
    ("a.npz", submission_bytes(changed(1, 4, 30), TAILS), "row 1, place 5 holds 30, which is no"),
    ("a.npz", submission_bytes(changed(2, 0, -2), TAILS), "row 2, place 1 holds -2"),
    ("a.npy", npy(BOTH.astype(np.uint64) + np.uint64(2**64 - 7)), "which is no entity"),
    ("a.npz", submission_bytes(changed(2, 0, 5), TAILS), "row 2 holds the entity 5 twice (1 such"),
    ("a.npz", npz(pred_top10=BOTH[:-1]), "expected shape (6, 10)"),
    ("a.npz", npz(pred_top10=BOTH[:, :9]), "expected shape (6, 10)"),
    ("a.npz", npz(top10_heads=HEADS, top10_tails=TAILS[:2]), "a.npz: top10_tails: expected shape"),
    ("a.npy", npy(HEADS[:2]), "expected shape (3 or 6, 10)"),
    ("a.npy", npy(HEADS[0]), "found (10,)"),
    ("a.npy", npy(BOTH.astype(float)), "expected integer ids; found dtype float64"),
    ("a.npy", npy(BOTH > 3), "expected integer ids; found dtype bool"),
    ("a.pt", pt(torch.zeros(6, 10)), "expected integer ids; found dtype torch.float32"),
    ("a.pt", pt(torch.zeros(6, 10, dtype=torch.bfloat16)), "dtype torch.bfloat16"),
    ("a.npy", npy(np.array([[Evil()] * 10] * 6)), "holds Python objects"),
    ("a.npz", npz(pred_top10=np.array([[Evil()] * 10] * 6)), "holds Python objects"),
    ("a.npy", pickle.dumps(Evil()), "damaged, or not an array"),
    ("a.pt", pt(Evil()), "refused: _pytest.outcomes"),
    ("a.pt", pickle.dumps(Evil()), "a plain pickle"),
    ("a.pt", pt({"model": TENSORS["top10_heads"]}), "found the arrays model"),
    ("a.pt", pt([TENSORS["top10_heads"]]), "expected a plain tensor"),
    ("a.pt", pt(TENSORS)[:-400], "damaged or cut short"),
    ("a.npz", npz(heads=HEADS, tails=TAILS), "found heads.npy, tails.npy"),
    ("a.npz", npz(top10_heads=HEADS, pred_top10=BOTH), "found the arrays"),
    ("a.npz", npz(), "found the arrays none"),
    ("a.npz", npz(pred_top10=BOTH)[:-60], "damaged or cut short"),
    ("a.npz", b"", "damaged or cut short"),
    ("a.npy", npy(BOTH)[:-8], "cut short"),
    ("a.npy", npy(BOTH) + b"x", "too long"),
    ("a.npy", npy(BOTH)[:20], "damaged"),
    ("a.npy", bad_magic(), "damaged"),
    ("a.npy", b"", "damaged"),
    ("a.csv", b"1,2", "expected a .npy, .npz or .pt file"),
    ("heads.npy", npy(HEADS), "holds only heads; add the file of tails"),
    ("a.npy", npy(HEADS), "its name does not say which"),
    ("heads_tails.npy", npy(HEADS), "its name does not say which"),
]


@pytest.mark.parametrize(("name", "content", "message"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refusals_name_the_file_and_the_cause(name, content, message):
    with pytest.raises(KgdashError) as caught:
        read((name, content))
    assert str(caught.value).startswith(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damage_anywhere_is_refused_or_harmless():
    content = npz(pred_top10=BOTH)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x15
        try:
            (found,) = read(("a.npz", bytes(damaged)))
        except KgdashError:
            continue
        np.testing.assert_array_equal(found.heads, HEADS)


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_a_long_listing_is_refused_before_it_is_read(ending):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(20):
            archive.writestr(f"a/{number}" + "x" * 60_000, b"")
    with pytest.raises(KgdashError, match=f"x.{ending} lists its files in 1,"):
        read_arrays(stream.getvalue(), f"x.{ending}")


def test_a_header_that_claims_too_much_allocates_nothing():
    content = npy(BOTH).replace(b"(6, 10)", b"(6000000000000, 10)".ljust(7))
    with pytest.raises(KgdashError):
        read_arrays(content, "a.npy")


def test_files_that_are_missing():
    with pytest.raises(KgdashError, match=r"can not read nowhere\.npz: No such file"):
        read_arrays(Path("nowhere.npz"))


@pytest.mark.parametrize("folders", [("", ""), ("1_heads/", "1_heads/")])
def test_two_submissions_of_one_name(folders):
    files = [
        (f"{folder}top10_{side}.npy", npy(rows(start)))
        for folder, start in zip(folders, (0, 5), strict=True)
        for side in ("heads", "tails")
    ]
    with pytest.raises(KgdashError, match="both hold the heads of one submission"):
        read(*files)


def test_folders_that_differ_by_heads_and_tails_alone_are_two():
    files = [
        (f"by_{folder}/top10_{side}.npy", npy(rows(start)))
        for folder, start in (("heads", 0), ("tails", 5))
        for side in ("heads", "tails")
    ]
    first, second = read(*files)
    np.testing.assert_array_equal(first.heads, first.tails)
    np.testing.assert_array_equal(second.heads, rows(5))


def test_the_same_predictions_twice_are_no_two_seeds():
    both = npz(pred_top10=BOTH)
    with pytest.raises(KgdashError, match=r"a\.npz and best\.npy hold the same predictions"):
        read(("a.npz", both), ("best.npy", npy(BOTH)))
