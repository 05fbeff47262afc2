"""Old names of commands and options are refused, and the message says the new one."""

import pytest

from kgdash.commands.options import renamed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["foresee", "umls-transe"], "the command 'foresee' is now 'predict'"),
        (["predict", "umls-transe", "--old", "3"], "predict: the option --old is now --new"),
        (["predict", "umls-transe", "--old=3"], "predict: the option --old is now --new"),
    ],
)
def test_the_new_name_is_said(monkeypatch, refused, arguments, said):
    monkeypatch.setattr(renamed, "COMMANDS", {"foresee": "predict"})
    monkeypatch.setattr(renamed, "OPTIONS", {"predict": {"--old": "--new"}})
    assert refused(*arguments) == said


def test_every_new_name_exists():
    import typer

    from kgdash.cli import app

    commands = typer.main.get_command(app).commands
    assert set(renamed.COMMANDS.values()) | set(renamed.OPTIONS) <= set(commands)
    known = {
        name: {option for param in getattr(command, "params", ()) for option in param.opts}
        for name, command in commands.items()
    }
    for command, options in renamed.OPTIONS.items():
        assert not known[command] & set(options)
        for new in options.values():
            other, _, option = new.rpartition(" ")
            assert option in known[other or command]
