"""The dashboard's parts; the only package that knows Streamlit.

Imports: reports, studies, charts and below; never commands. Start at `runtime`.
"""
