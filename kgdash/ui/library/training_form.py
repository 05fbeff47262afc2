"""The form that trains a run: dataset, model and recipe; all else is folded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from pykeen.datasets import dataset_resolver
from pykeen.losses import loss_resolver

from kgdash.errors import KgdashError
from kgdash.files.roots import opened
from kgdash.graph.datasets import check_folder
from kgdash.hpo.recipes import MODELS, RECIPES, STRONG, Recipe, recipe, trainable_models
from kgdash.hpo.space import SearchSpace, fixed_configuration
from kgdash.hpo.text import read_settings, training_command
from kgdash.runs.library import check_new_name, own_names, runs_folder, suggested_name
from kgdash.runs.rehearsal import rehearse
from kgdash.runs.softmax_training import SOFTMAX
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import check_arguments
from kgdash.ui.library.trainings import trainings
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.page_turns import page_turn

_BUNDLED = {"nations": "Nations", "kinships": "Kinships", "umls": "UMLS"}
_FOLDER = "A folder on this machine …"

_RECIPES = {
    "strong": "Strong: at most {} dimensions and {} epochs, softmax over all entities; ends where "
    "MRR on valid no longer rises. Seconds on a bundled dataset, minutes on FB15k-237.",
    "quick": "Quick: {} dimensions, {} epochs. Seconds on a bundled dataset.",
    "good": "Good: {} dimensions, {} epochs, much as the bundled runs were trained. Half a "
    "minute to five minutes on UMLS.",
    "PyKEEN's": "PyKEEN's defaults: {} dimensions, {} epochs, as PyKEEN has them.",
}

#: what keys of the form's widgets begin with, and where their values are kept
_PREFIX, _CHOICES = "train_", "choices_of_training"

_NEGATIVES = "negative_sampler.num_negs_per_pos"

#: epochs of a training, each of which the server keeps and draws while it runs
_EPOCHS = 100_000

#: parameter -> label, the least and the greatest value
_NUMBERS: dict[str, tuple[str, Any, Any]] = {
    "model.embedding_dim": ("Dimension", 1, 4096),
    "training.num_epochs": ("Epochs", 1, _EPOCHS),
    "optimizer.lr": ("Learning rate", 1e-6, 10.0),
    "training.batch_size": ("Batch size", 1, 1_000_000),
    _NEGATIVES: ("Negatives per positive", 1, 10_000),
}


@st.dialog("Train a run", width="medium")
def ask_training() -> None:
    """Ask what to train, first what this session trained last, and start that."""
    if st.session_state.get(_CHOICES, {}).get(f"{_PREFIX}name") in own_names():
        del st.session_state[_CHOICES][f"{_PREFIX}name"]
    left, right = st.columns(2)
    with left:
        dataset = _dataset()
    model = right.selectbox(
        "Model",
        trainable_models(),
        key=_kept("model"),
        help=f"The first {len(MODELS)} have recipes of their own.",
    )
    has_strong = model in STRONG
    chosen = st.segmented_control(
        "Recipe",
        [name for name in RECIPES if has_strong or name != "strong"],
        default="strong" if has_strong else "good",
        required=True,
        key=_kept("recipe" if has_strong else "recipe without strong"),
    )
    st.caption(_RECIPES[chosen].format(*RECIPES[chosen]))
    with st.expander("Settings", icon=":material/tune:"):
        config = _settings(recipe(chosen, model), model, f"{chosen} {model}")
    name = _name(dataset, model)
    ready = config is not None and dataset is not None and name is not None
    label, icon = "Train", ":material/play_arrow:"
    pressed = st.button(label, "start_training", icon=icon, type="primary", disabled=not ready)
    if config is None or dataset is None or name is None:
        return
    command = training_command(config, dataset, str(runs_folder() / name) if name else "")
    if pressed:
        _start(dataset, config, name, command)
    st.caption("Nothing is kept before it is done. The same on the command line:")
    st.code(command, language=None, wrap_lines=True)


def _dataset() -> str | None:
    """Ask for a dataset; None where none is named, or what is named is none."""
    others = sorted(set(dataset_resolver.lookup_dict) - set(_BUNDLED))
    chosen = st.selectbox(
        "Dataset",
        [*_BUNDLED, *others, _FOLDER],
        format_func=lambda name: _BUNDLED.get(name, name),
        key=_kept("dataset"),
        help="All but the first three are PyKEEN's downloads, at their first use.",
    )
    if chosen != _FOLDER:
        if chosen not in _BUNDLED:
            st.caption("Downloaded at its first use.")
        return str(chosen)
    folder = st.text_input(
        "Folder",
        key=_kept("folder"),
        placeholder="path/to/dataset",
        help="With train, valid and test triples: .tsv, .txt or .csv, plain or .gz.",
    ).strip()
    if not folder:
        return None
    found: list[Path] = []

    def find() -> None:
        found.append(opened(folder))
        check_folder(found[0])

    return str(found[0]) if _accepted(find) else None


def _name(dataset: str | None, model: str) -> str | None:
    """Ask for the run's name; "" to have one made, None where it can not be had."""
    suggested = suggested_name(Path(dataset).name, model) if dataset else ""
    name = st.text_input("Name", key=_kept("name"), placeholder=suggested).strip()
    return name if not name or _accepted(lambda: check_new_name(name)) else None


def _settings(recipe: Recipe, model: str, key: str) -> TrainingConfig | None:
    """Show what a recipe says, to be changed; None where it can not be trained.

    :param key: of the recipe, whose widgets keep what is changed
    """
    # Row by row, so that a phone has them in this order.
    cells = [cell for _ in range(3) for cell in st.columns(3)]
    values = dict(
        _number(cells[place], parameter, recipe, key)
        for place, parameter in enumerate(list(_NUMBERS)[:4])
    )
    loop, loss = recipe.training_loop, recipe.loss
    if loop != SOFTMAX:
        loop = cells[4].selectbox("Training loop", ["sLCWA", "LCWA"], key=_kept(f"loop {key}"))
        losses = ["", *sorted(cls.__name__ for cls in loss_resolver)]
        loss = cells[5].selectbox(
            "Loss",
            losses,
            format_func=lambda name: name or "the model's own",
            key=_kept(f"loss {key}", recipe.loss),
        )
    if loop == "sLCWA":
        values |= dict([_number(cells[6], _NEGATIVES, recipe, key)])
    seed = cells[4 if loop == SOFTMAX else 7].number_input(
        "Random seed", 0, 10**9, key=_kept(f"seed {key}")
    )
    kept = {"loss": loss == recipe.loss, "negative_sampler": loop == "sLCWA"}
    others = "\n".join(
        f"{parameter}={value}"
        for parameter, value in recipe.values.items()
        if parameter not in _NUMBERS and kept.get(parameter.partition(".")[0], True)
    )
    more = st.text_area(
        "More arguments",
        key=_kept(f"more {key} {loop} {loss}", others),
        help="One PART.NAME=VALUE a line, as `--set` of `kgdash train` takes them.",
    )
    lines = [line.strip() for line in more.splitlines() if line.strip()]
    found: list[TrainingConfig] = []

    def configure() -> None:
        space = SearchSpace(
            (model,),
            (loss,) if loss else (),
            read_settings({k: v for k, v in values.items() if v}, lines),
            recipe.optimizer,
            loop,
            random_seed=int(seed),
        )
        config = fixed_configuration(space)
        check_arguments(config.spec(), "train")
        if config.epochs > _EPOCHS:  # given in words
            raise KgdashError(f"expected at most {_EPOCHS:,} epochs; found {config.epochs:,}")
        found.append(config)

    return found[0] if _accepted(configure) else None


def _number(cell: Any, parameter: str, recipe: Recipe, key: str) -> tuple[str, str]:
    """Show a number that a recipe has, or leaves to PyKEEN: then its text is empty."""
    label, least, most = _NUMBERS[parameter]
    value = cell.number_input(
        label,
        least,
        most,
        None,
        format="%g" if isinstance(least, float) else None,
        placeholder="PyKEEN's",
        key=_kept(f"{parameter} {key}", recipe.values.get(parameter)),
    )
    return parameter, "" if value is None else str(value)


def _accepted(check: Callable[[], Any]) -> bool:
    """Check what stands in a field; a refusal is shown under it."""
    try:
        check()
    except KgdashError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    return True


def _start(dataset: str, config: TrainingConfig, name: str, command: str) -> None:
    def start() -> None:
        with st.spinner("Trying the settings …"), page_turn():
            rehearse(config)
        trainings().start(dataset, config, name, command)

    # Before it is tried: who closes the form after a refusal finds it as it was.
    named = {str(key): value for key, value in st.session_state.items()}
    st.session_state[_CHOICES] = {k: v for k, v in named.items() if k.startswith(_PREFIX)}
    if _accepted(start):
        st.rerun()


def _kept(name: str, default: Any = None) -> str:
    """Return a widget's key; its value is first what was chosen for the session's last training.

    :param default: None for the widget's own
    """
    key = _PREFIX + name
    kept = st.session_state.get(_CHOICES, {})
    if key not in st.session_state and (key in kept or default is not None):
        st.session_state[key] = kept.get(key, default)
    return key
