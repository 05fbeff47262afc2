"""Files on disk: written whole or not at all, locked, read as text, cached as tables.

Imports: errors, progress, version. Start at `table_cache.py` (`cached_table`).
"""
