"""Few runs stay loaded, unless they are small."""

from kgdash.runs.bundled import DEMO
from kgdash.ui.runtime.run_picker import _stamp, is_small


def test_bundled_runs_of_a_small_graph_are():
    names = ("umls-transe", "umls-transe-seed4", "umls-conve", "umls-rotate")
    assert all(is_small(_stamp(DEMO / name)) for name in names)
    assert not is_small(_stamp(DEMO / "fb15k-237-complex"))


def test_what_can_not_be_known_to_be_is_not(tmp_path):
    """Of many files only some are looked at, and those of other forms lie in folders below."""
    assert not is_small(_stamp(tmp_path / "none"))
    (tmp_path / "trained_model.pkl").write_bytes(b"x")
    assert not is_small(_stamp(tmp_path))
    (tmp_path / "run.json").write_bytes(b"{}")
    assert is_small(_stamp(tmp_path))
    for number in range(64):
        (tmp_path / f"{number}").touch()
    (tmp_path / "weights.safetensors").write_bytes(bytes(2**20))
    assert not is_small(_stamp(tmp_path))


def test_nor_is_what_is_large(tmp_path):
    (tmp_path / "run.json").write_bytes(bytes(2**18 + 1))
    assert not is_small(_stamp(tmp_path))
