"""The same inputs and seeds give the same bytes: in any process, on one thread, on older chips."""

import json
import os
import subprocess
import sys

from llvmlite.binding import get_host_cpu_features, initialize_native_target

from tests.support.paths import ROOT

#: an inner product by a network, and a distance
RUNS = ("umls-conve", "umls-transe")


def digests(**environment: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.digests", *RUNS],
        cwd=ROOT,
        env=os.environ | {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"} | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def avx2() -> dict[str, str]:
    """Return what keeps kernels and torch from AVX-512; the name alone does not keep Numba."""
    initialize_native_target()
    newer = ("avx512", "avx10", "amx")
    features = get_host_cpu_features()
    kept = {name: has and not name.startswith(newer) for name, has in features.items()}
    named = ",".join(f"{'-+'[has]}{name}" for name, has in kept.items())
    return {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": named,
        "ATEN_CPU_CAPABILITY": "avx2",
    }


def test_one_thread_and_the_kernels_of_avx2_change_no_byte(tmp_path):
    data = str(tmp_path)  # for the models of the audit
    here = digests(KGDASH_DATA=data)
    one = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    assert digests(**one, **avx2(), KGDASH_DATA=data) == here
    assert len(set(here.values())) == len(here) == 4 * len(RUNS) + 4
