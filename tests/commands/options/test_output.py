"""A call as it is written into results."""

import typer
from typer.testing import CliRunner

from kgdash.commands.options.output import command_text


def test_where_things_lie_here_is_not_written(tmp_path):
    """Results are for others: where data lie here is not their business."""
    (tmp_path / "my data").mkdir()
    (tmp_path / "rules.tsv").touch()
    app, told = typer.Typer(), []

    @app.command()
    def count(
        context: typer.Context,
        run: str,
        rules: str = "",
        k: list[int] = (),
        results: str = "",
        deep: bool = False,
    ) -> None:
        told.append(command_text(context))

    typed = [
        str(tmp_path / "my data"),
        "--rules",
        str(tmp_path / "rules.tsv"),
        "--k",
        "3",
        "--k",
        "5",
        "--results",
        str(tmp_path),
        "--deep",
    ]
    assert CliRunner().invoke(app, typed).exit_code == 0
    assert CliRunner().invoke(app, ["nations"]).exit_code == 0
    whole, bare = told
    assert whole == "python -m kgdash count 'my data' --rules rules.tsv --k 3 --k 5 --deep"
    assert bare == "python -m kgdash count nations"
