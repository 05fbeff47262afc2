"""The forms that take a run into the folder of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.formats.zipped_run import MOST_FILES, MOST_MIB, MOST_UNPACKED
from kgdash.runs.adding import add_folder, add_zip
from kgdash.ui.library.message import say
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.visitors import lets

_DATASET_HELP = (
    "Only for a PyKEEN directory: what the model was trained on, by PyKEEN name or by folder."
)


def show_adding() -> None:
    """Offer to train a run, or to copy one from a folder on this machine or from a zip file."""
    ways = [
        ("train", "Train one", _show_training),
        ("add", "From a folder on this machine", _show_folder),
        ("add", "From a zip", _show_upload),
    ]
    given = [right for right in ("train", "add") if lets(right)]
    ways = [way for way in ways if way[0] in given]
    tabs = st.tabs([name for _, name, _ in ways]) if ways else []
    for tab, (_, _, show) in zip(tabs, ways, strict=True):
        with tab:
            show()


def _show_training() -> None:
    st.caption("A dataset, a model and a recipe; loss and MRR on valid can be watched.")
    if st.button("Train a run …", icon=":material/model_training:", key="train"):
        # Imported here: it takes seconds, which nobody waits for who does not train.
        from kgdash.ui.library.training_form import ask_training

        ask_training()


def _show_folder() -> None:
    path = st.text_input("Folder", key="added_folder", placeholder="path/to/run")
    dataset, name = _dataset_and_name("folder")
    if st.button("Add", icon=":material/add:", key="add_folder"):
        _add(lambda: add_folder(path.strip(), dataset, name), bool(path.strip()))
    st.caption(
        "Written by `kgdash train` or `kgdash import`, or by PyKEEN's `save_to_directory`: "
        "that is converted, and nothing in its pickle runs."
    )


def _show_upload() -> None:
    file = st.file_uploader("Zip file", "zip", key="added_zip", max_upload_size=MOST_MIB)
    dataset, name = _dataset_and_name("zip")
    if st.button("Add", icon=":material/add:", key="add_zip"):
        _add(
            lambda: add_zip(file.getvalue() if file else b"", _shown(file), dataset, name),
            file is not None,
        )
    st.caption(
        f"The folder of one run, packed: at most {MOST_MIB} MiB, {MOST_FILES} files, "
        f"{MOST_UNPACKED // 2**30} GiB unpacked; no links. Only the run's files are taken."
    )


def _dataset_and_name(form: str) -> tuple[str | None, str]:
    left, right = st.columns(2)
    dataset = left.text_input(
        "Dataset", key=f"{form}_dataset", placeholder="umls", help=_DATASET_HELP
    )
    name = right.text_input("Name", key=f"{form}_name", placeholder="as the folder's or file's")
    return dataset.strip() or None, name.strip()


def _shown(file: object) -> str:
    return Path(str(getattr(file, "name", ""))).name


def _add(add: Callable[[], Path], given: bool) -> None:
    if not given:
        st.error("Choose what to add first.", icon=":material/error:")
        return
    try:
        with st.spinner("Copying and checking the run …"):
            kept = add()
    except KgdashError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    say(f"Added {kept.name}: click it to open it.")
    st.rerun()
