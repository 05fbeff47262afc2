"""Old names of commands and options are refused, and the message says the new one."""

import pytest

from kgdash.commands import renamed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["foretell", "umls-transe"], "the command 'foretell' is now 'predict'"),
        (["predict", "umls-transe", "--old", "3"], "predict: the option --old is now --new"),
        (["predict", "umls-transe", "--old=3"], "predict: the option --old is now --new"),
    ],
)
def test_the_new_name_is_said(monkeypatch, refused, arguments, said):
    monkeypatch.setattr(renamed, "COMMANDS", {"foretell": "predict"})
    monkeypatch.setattr(renamed, "OPTIONS", {"predict": {"--old": "--new"}})
    assert refused(*arguments) == said


def test_every_new_name_exists():
    import typer

    from kgdash.cli import app

    commands = typer.main.get_command(app).commands
    assert set(renamed.COMMANDS.values()) | set(renamed.OPTIONS) <= set(commands)
    for command, options in renamed.OPTIONS.items():
        known = {name for param in commands[command].params for name in param.opts}
        assert set(options.values()) <= known
        assert not known & set(options)
