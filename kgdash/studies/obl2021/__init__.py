"""The OpenBioLink challenge of 2021: ten best answers, and the files it takes.

Imports: runs and below. Start at `top_ten.py`.
"""
