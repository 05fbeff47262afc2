"""What glibc is told in a process of its own, counted by glibc, and nothing where there is none."""

import ctypes
import os
import subprocess
import sys

import pytest

from kgdash.serving import allocator

#: imports little, so that no other library's threads have heaps yet; prints the number of heaps
#: that twelve threads at once used, and the bytes of one block that lie in no heap
_COUNT = """
import ctypes, gc, importlib.util, sys, tempfile, threading
spec = importlib.util.spec_from_file_location("allocator", sys.argv[1])
allocator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(allocator)
if sys.argv[2] == "set":
    assert allocator.give_memory_back()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
all_here = threading.Barrier(12)
def work():
    all_here.wait()
    libc.malloc(50_000)
    all_here.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as told:
    file = ctypes.c_void_p(libc.fopen(told.name.encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(told.read().count(b"<heap nr"))
class Info(ctypes.Structure):
    _fields_ = [(str(n), ctypes.c_size_t) for n in range(10)]
libc.mallinfo2.restype = Info
libc.free(libc.malloc(8 * 2**20))
before = getattr(libc.mallinfo2(), "4")
libc.malloc(8 * 2**20)
print(getattr(libc.mallinfo2(), "4") - before)
allocator.keep_imported()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


def counted(asked: str, **env: str) -> tuple[int, int, int, int]:
    """Return heaps, bytes of a block of 8 MiB in none, and objects passed over and looked at."""
    plain = {name: text for name, text in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", _COUNT, allocator.__file__, asked]
    done = subprocess.run(command, env=plain | env, capture_output=True, text=True, check=True)
    heaps, apart, passed, looked = map(int, done.stdout.split())
    return heaps, apart, passed, looked


glibc = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "mallinfo2"),
    reason="the C library is no glibc",
)


@glibc
def test_threads_share_two_heaps_and_large_blocks_lie_in_none():
    heaps, apart, _, _ = counted("set")
    assert heaps <= 2
    assert apart >= 8 * 2**20
    heaps, apart, _, _ = counted("not")
    assert heaps > 2
    assert apart == 0


@glibc
def test_what_the_environment_says_stays():
    assert counted("set", MALLOC_ARENA_MAX="5")[0] == 5
    assert counted("set", MALLOC_MMAP_THRESHOLD_=str(2**24))[1] == 0


@glibc
def test_the_collector_passes_over_what_is_imported():
    *_, passed, looked = counted("not")
    assert passed > 1000 > looked


@pytest.mark.parametrize("library", [OSError, TypeError, object()])
def test_nothing_is_done_where_the_c_library_is_another(monkeypatch, library):
    def missing(_):
        if isinstance(library, type):
            raise library
        return library

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not allocator.give_memory_back()


def test_nothing_is_done_beside_tunables(monkeypatch):
    def fail(_):
        raise AssertionError

    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=8")
    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert not allocator.give_memory_back()
