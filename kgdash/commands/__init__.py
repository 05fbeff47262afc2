"""The commands of ``python -m kgdash`` that have a file of their own."""
