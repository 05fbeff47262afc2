"""Embeddings of other libraries, and of none: matrices, lists of names, an interaction by name.

Imports: scoring and below. Start at `embedding.py`; each library has a module of its own.
"""
