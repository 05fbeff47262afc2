"""What is done ahead, and in which process."""

import pytest

from kgdash.ui.runtime import warm_up


class Line:
    def __init__(self, workers, done):
        self.workers, self._done = workers, done

    def get_ready(self):
        self._done.append("a worker")


@pytest.mark.parametrize(("workers", "compiled"), [(0, []), (1, ["kgdash.engine.warm"])])
def test_a_server_compiles_in_another_process_first(workers, compiled, monkeypatch):
    done = []

    class Program:
        def __init__(self, module):
            self._module = module

        def wait(self):
            done.append(self._module)

    monkeypatch.setattr(warm_up, "line", lambda: Line(workers, done))
    monkeypatch.setattr(warm_up, "start_module", Program)
    monkeypatch.setattr(warm_up, "warm", lambda: done.append("here"))
    warm_up._warm()
    assert done == [*compiled, "here", "a worker"]
    assert warm_up.kernels_ready()
