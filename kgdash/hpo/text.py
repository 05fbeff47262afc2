"""What is searched, and what was found, as words of a command line."""

import inspect
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from kgdash.errors import KgdashError
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import model_class


def parse_values(text: str) -> Any:
    """Read a value, choices, or a range as it is typed.

    >>> parse_values("32"), parse_values("16,32"), parse_values("0.001:0.1:log")
    (32, [16, 32], {'low': 0.001, 'high': 0.1, 'log': True})

    :param text: ``VALUE``, ``A,B,C``, ``LOW:HIGH``, ``LOW:HIGH:log`` or ``LOW:HIGH:STEP``
    :raises KgdashError: if the ends of a range are no numbers
    """
    if ":" not in text:
        choices = [_scalar(part.strip()) for part in text.split(",")]
        return choices if len(choices) > 1 else choices[0]
    low, high, *rest = (_scalar(part.strip()) for part in text.split(":"))
    numbers = (low, high, *(part for part in rest if part != "log"))
    if len(rest) > 1 or not all(type(number) in (int, float) for number in numbers):
        raise KgdashError(f"expected LOW:HIGH, LOW:HIGH:log or LOW:HIGH:STEP; found {text!r}")
    more = {} if not rest else {"log": True} if rest[0] == "log" else {"step": rest[0]}
    return {"low": low, "high": high, **more}


def _scalar(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_settings(given: Mapping[str, str], more: Iterable[str]) -> dict[str, Any]:
    """Read parameters as they are typed, those with an option and those given by ``--set``.

    :param given: parameter -> text
    :param more: ``PART.NAME=VALUE`` each
    :return: parameter -> value, as `parse_values` reads it
    :raises KgdashError: if a parameter has no value, or two
    """
    texts = dict(given)
    for setting in more:
        key, equals, text = setting.partition("=")
        if not equals or not text:
            raise KgdashError(f"--set: expected PART.NAME=VALUE; found {setting!r}")
        if key in texts:
            raise KgdashError(f"{key} is given twice")
        texts[key] = text
    return {key: parse_values(text) for key, text in texts.items()}


#: parameter -> the option of ``train`` that sets it
_OPTIONS = {
    "model.embedding_dim": "--dim",
    "optimizer.lr": "--learning-rate",
    "negative_sampler.num_negs_per_pos": "--negatives",
}


def training_command(config: TrainingConfig, dataset: str, out: str = "OUT") -> str:
    """Return the command line that trains a configuration.

    :param config: with every value written out that differs from PyKEEN's default. The dimension
        is written where it does not, too, as the command has one of its own for all models
    :param dataset: PyKEEN name or folder
    :param out: directory to write; empty: into the folder of runs
    """
    parts = {
        "model": _own_dimension(config.model) | dict(config.model_kwargs),
        "loss": config.loss_kwargs,
        "regularizer": config.regularizer_kwargs,
        "optimizer": config.optimizer_kwargs,
        "negative_sampler": config.negative_sampler_kwargs,
        "loop": config.loop_kwargs,
    }
    words = ["kgdash", "train", *filter(None, [out])]
    words += ["--dataset", dataset, "--model", config.model]
    words += ["--epochs", str(config.epochs), "--seed", str(config.random_seed)]
    words += ["--batch-size", str(config.batch_size)] if config.batch_size else []
    words += ["--loss", config.loss] if config.loss else []
    words += ["--loop", config.training_loop, "--optimizer", config.optimizer]
    if config.create_inverse_triples is not None:
        words.append("--inverse" if config.create_inverse_triples else "--no-inverse")
    for part, arguments in parts.items():
        for name, value in arguments.items():
            option = _OPTIONS.get(f"{part}.{name}")
            words += [option, str(value)] if option else ["--set", f"{part}.{name}={value}"]
    return shlex.join(words)


def _own_dimension(model: str) -> dict[str, int]:
    """Return what PyKEEN takes where no dimension is named; nothing of a model without one."""
    arguments = inspect.signature(model_class(model, "train")).parameters
    own = arguments["embedding_dim"].default if "embedding_dim" in arguments else None
    return {"embedding_dim": own} if isinstance(own, int) else {}
