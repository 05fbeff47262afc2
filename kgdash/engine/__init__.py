"""Kernels that count while they score, in bounded memory, compiled by Numba.

Imports: graph, files. Start at `counting.py`.
"""
