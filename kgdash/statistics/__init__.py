"""Statistics that know no graph: bootstrap intervals, paired tests, partial correlation, Holm.

Imports: files. Start at `bootstrap.py`.
"""
