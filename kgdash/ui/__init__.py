"""The dashboard's parts; the only package that knows Streamlit.

Imports: everything but commands. Start at `runtime`.
"""
