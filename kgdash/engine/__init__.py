"""Kernels that count while they score, in bounded memory, compiled by Numba.

Imports: graph, files. Start at `counting.py`.
"""

from kgdash.engine.numba_settings import leave_those_of_this_folder

leave_those_of_this_folder()
