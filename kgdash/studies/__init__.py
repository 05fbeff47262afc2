"""Questions asked of the tables of ranks and of ReliK, a package each.

Imports: runs and what these import, never charts. Start at `reliability`.
"""
