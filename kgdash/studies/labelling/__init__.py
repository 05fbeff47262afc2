"""People's judgement of predictions: a queue, a journal on disk, the labels.

Imports: studies.rules, studies.instances and below. Start at `journal.py`.
"""
