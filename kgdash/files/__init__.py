"""Files on disk: written whole or not at all, locked, read as text, cached as tables.

Imports: errors, progress, version.
Start at `table_cache.py`, whose `cached_table` keeps what is expensive.
"""
