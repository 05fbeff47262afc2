"""What the page Overview shows: the answer, where to look first, and the training in a fold.

Imports: ui.widgets, ui.runtime, studies.overview and below. Start at `answer.py`.
"""
