"""Statistics that know no graph: bootstrap intervals, paired tests, partial correlation, Holm.

Imports: errors, progress, engine (kernels). Start at `bootstrap.py`.
"""
