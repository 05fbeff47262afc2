"""Other people's files and our run directory; everything that reads a pickle, none of which runs.

Imports: scoring, graph, files. Start at `run_directory.py`.
"""
