"""How a server's process gives memory back to the system, where the C library is glibc."""

import ctypes
import gc
import os
from contextlib import suppress

#: setting of glibc -> its number in malloc.h, and what a server takes
#:
#: By itself glibc keeps a heap for each thread, up to eight per core, of which little is given back
#: while any small piece at its end is in use, and lets blocks of up to 32 MiB into these heaps.
#: Pages run in threads that come and go, so what is free in one heap is not found by the next.
ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = -8, -3, -1
_SETTINGS = {
    "MALLOC_ARENA_MAX": (ARENA_MAX, 2),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, 2**20),
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 2**20),
}


def give_memory_back() -> bool:
    """Have this process keep less of the memory that it no longer uses; before it starts threads.

    What the environment says by glibc's own variables is left as it is.

    :return: whether the C library knows these settings; where it does not, nothing is done
    """
    if "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return False
    with suppress(OSError, TypeError, AttributeError):  # Windows, macOS, musl
        mallopt = ctypes.CDLL(None).mallopt
        wanted = [pair for name, pair in _SETTINGS.items() if name not in os.environ]
        taken = [mallopt(number, value) for number, value in wanted]
        return all(taken)
    return False


def give_back_now() -> None:
    """Give back what is left in circles, and free amid what is in use: of large runs gigabytes."""
    gc.collect()
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def keep_imported() -> None:
    """Have Python's collector pass over all that there is by now; once the modules are imported.

    A full collection looks at every object, and waits for a quarter of them to be new: so long
    stays what pages leave in cycles. It then looks at what came since.
    """
    gc.freeze()
