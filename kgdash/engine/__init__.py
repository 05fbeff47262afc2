"""Kernels that count while they score, in bounded memory, compiled by Numba.

Imports: graph (the index of known triples), files. Start at `counting.py`.
"""
