"""Names that commands and options had before, refused with the name that they have now."""

from collections.abc import Sequence

from kgdash.errors import KgdashError

#: old command -> new one
COMMANDS: dict[str, str] = {"explain": "confounders", "prognosis": "predict-performance"}

#: command, by its new name -> its old options and what they are now, perhaps of another command
OPTIONS: dict[str, dict[str, str]] = {
    "classify": {"--evaluate": "--evaluated"},
    "metrics": {"--beside": "--with"},
    "predict-performance": {"--evaluate": "--evaluated"},
    "reliability": {"--dealt": "--null-model"},
    "study": {
        "--evaluate": "--evaluated",
        "--cv": "cross-validate --folds",
        **{
            option: f"cross-validate {option}"
            for option in (
                *("--models", "--dimension", "--epochs", "--batch-size", "--folds-only"),
                *("--workdir", "--results"),
            )
        },
    },
    "subgraph": {"--evaluate": "--evaluated"},
    "which-model": {"--regions": "--parts"},
    "queries": {"--chains": "--aggregate", "--credible": "--plausible"},
    "rules": {"--chains": "--aggregate", "--credible": "--plausible"},
}


def refuse_old_names(arguments: Sequence[str]) -> None:
    """Refuse a command line that uses an old name.

    :param arguments: of the command line, without the program
    :raises KgdashError: which says the new name
    """
    if not arguments:
        return
    command, *options = arguments
    if command in COMMANDS:
        raise KgdashError(f"the command {command!r} is now {COMMANDS[command]!r}")
    renamed = OPTIONS.get(command, {})
    for option in (text.split("=")[0] for text in options):
        if option in renamed:
            raise KgdashError(f"{command}: the option {option} is now {renamed[option]}")
