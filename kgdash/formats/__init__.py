"""Other people's files and our run directory; everything that reads a pickle, none of which runs.

Imports: scoring and below. Start at `run_directory.py`.
"""
