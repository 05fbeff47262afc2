"""Serving the dashboard to others: the settings of a server, and who may do what there.

Imports: files, errors.
Start at `settings.py`, whose `read_settings` reads the file that `kgdash serve` is given.
"""
