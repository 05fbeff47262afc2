"""The command ``import``: models and embeddings of other libraries as runs.

Imports: as `kgdash.commands`.
"""
