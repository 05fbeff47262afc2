"""Programs of the package are found from anywhere, and nothing else is."""

from kgdash.runs.own_program import start_module


def test_modules_of_the_folder_where_it_starts_are_not_found(tmp_path):
    for name in ("json", "kgdash"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    assert start_module("kgdash.version", cwd=tmp_path).wait() == 0
    assert start_module("kgdash.nothing", cwd=tmp_path, stderr=-3).wait() == 1
