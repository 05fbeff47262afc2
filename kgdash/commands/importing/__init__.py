"""The command ``import``: models and embeddings of other libraries as runs.

Imports: runs and below. Start at `import_run.py`.
"""
