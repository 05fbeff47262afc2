"""How much memory a computation may take, and how much a process has."""

import contextlib

from kgdash.files.byte_sizes import bytes_from_environment

_LEAST = 2**26


def memory_budget() -> int:
    """Return the bytes that a computation may take beyond the loaded model.

    Block sizes follow from it. ``$KGDASH_MEMORY`` sets it, such as 500M or 4G; default: 2 GiB.

    :raises KgdashError: if the setting is no size, or less than 64 MiB
    """
    return bytes_from_environment("KGDASH_MEMORY", "2G", _LEAST)


def block_bytes() -> int:
    """Return the bytes that a block of scores may take: it has copies and masks beside it."""
    return min(2**26, memory_budget() // 16)


def own_memory() -> int:
    """Return the bytes that this process has beyond mapped files; 0 where the system does not say.

    Of Linux: ``RssAnon`` of ``/proc/self/status``.
    """
    return _status("RssAnon:")


def data_memory() -> int:
    """Return the bytes that this process has reserved for data, as ``RLIMIT_DATA`` counts them.

    Of Linux: ``VmData`` of ``/proc/self/status``; 0 where the system does not say.
    """
    return _status("VmData:")


def free_memory() -> int:
    """Return the bytes of this machine that processes may still take, without swapping.

    Of Linux: ``MemAvailable`` of ``/proc/meminfo``; 0 where the system does not say.
    """
    return _status("MemAvailable:", "/proc/meminfo")


def _status(name: str, file: str = "/proc/self/status") -> int:
    with contextlib.suppress(OSError), open(file, encoding="ascii") as status:
        for line in status:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0
