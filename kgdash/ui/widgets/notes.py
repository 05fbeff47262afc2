"""Notes on what a page shows."""

from collections.abc import Iterable

import streamlit as st

from kgdash.ui.runtime.markdown import plain


def show_notes(notes: Iterable[str]) -> None:
    """Show each note as a sentence of its own."""
    for note in notes:
        st.caption(f"{plain(note[:1].upper() + note[1:].removesuffix('.'))}.")
