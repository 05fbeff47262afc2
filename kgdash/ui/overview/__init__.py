"""What the page Overview shows: the answer, where to look first, and the training in a fold.

Imports: ui.subgraphs, ui.widgets, studies, charts and below. Start at `answer.py`.
"""
