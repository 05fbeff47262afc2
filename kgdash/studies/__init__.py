"""Questions asked of the tables of ranks and of ReliK, a package each.

Imports: runs and below; never charts, which draw what studies compute. Start at `reliability`.
"""
