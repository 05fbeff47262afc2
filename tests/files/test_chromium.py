"""The Chromium that draws figures reads and asks nothing but what it is given."""

import os
import time

import plotly.graph_objects as go
import pytest

from kgdash.charts import export
from kgdash.charts.export import figure_bytes
from kgdash.errors import KgdashError
from kgdash.files.chromium import find_browser


@pytest.mark.skipif(os.name == "nt", reason="the browser here is a script of a shell's")
def test_it_starts_elsewhere_and_asks_nobody(tmp_path, monkeypatch):
    """Called in a stranger's folder, it loaded what the settings of Vulkan there named."""
    (tmp_path / "browser").write_text(
        "#!/bin/sh\n"
        '(echo "$*"; pwd; ls -A; echo "$XDG_DATA_DIRS"; stat -c %a ..) > "$SEEN"\n'
        "exit 3\n"
    )
    (tmp_path / "browser").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGDASH_CHROMIUM", "browser")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.delenv("XDG_DATA_DIRS", raising=False)
    monkeypatch.setattr(export, "_PATIENCE", 5)
    with pytest.raises(KgdashError, match=r"could not draw the figure \(.+\)"):
        figure_bytes(go.Figure(go.Bar(y=[1])), ".svg")
    options, folder, *others = (tmp_path / "seen").read_text().splitlines()
    assert folder != str(tmp_path)
    assert others == ["/usr/share", "700"], "nothing lies there, and nobody else may look"
    end = time.monotonic() + 30
    while os.path.exists(os.path.dirname(folder)):  # by the thread that drew, on a loaded machine
        assert time.monotonic() < end
        time.sleep(0.05)
    # It asked for updates and experiments, and where searches go.
    assert "--disable-background-networking" in options
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in options


def test_none_is_looked_for_where_kgdash_is_called(tmp_path, monkeypatch):
    """Windows looks there first."""
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "chromium").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KGDASH_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", os.curdir)
    found = find_browser()
    assert found is None or os.path.isabs(found)
