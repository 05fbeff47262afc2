"""What is being written, under a hidden name, until it is whole.

Imports: errors. Start at `draft.py`; `held_folder.py` is the folder that drafts lie in.
"""
