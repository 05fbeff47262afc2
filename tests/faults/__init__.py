"""Faults: kills at system calls, full disks, lost writes, clocks, processes at once.

``python -m tests.faults --kills 1000`` runs them all; start at `__main__.py`. docs/trust.md tells
what was found.
"""
