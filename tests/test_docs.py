"""What exists is documented, and what CI runs is what the README says."""

import re
from pathlib import Path

import typer

from kgdash.cli import app
from kgdash.ui.runtime import navigation
from tests.support.paths import ROOT


def test_every_command_is_documented():
    commands = _commands(typer.main.get_command(app))
    assert commands.keys() >= {"runs", "metrics", "relik", "subgraph", "import", "cache list"}
    assert commands.keys() == _sections().keys()


def test_options_in_the_docs_exist():
    commands = _commands(typer.main.get_command(app))
    wrong = []
    for name, section in _sections().items():
        options = {option for p in commands[name].params for option in p.opts} | {"--help"}
        named = re.findall(r"`(--[^`]+)`", section)
        named += re.findall(r"(?m)^kgdash .*", section)
        wrong += [
            (name, o)
            for text in named
            for o in re.findall(r"--[a-z0-9-]+", text)
            if o not in options
        ]
    assert not wrong


def _sections() -> dict[str, str]:
    """Return the text of each command in docs/commands.md, by the command's name."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^## (?:kgdash )?(.*)\n", text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    del sections["Settings by environment"]
    return sections


def _commands(group, path: str = "") -> dict:
    """Return the commands by what is typed: those of groups too, and groups that run alone."""
    commands = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            commands |= _commands(command, f"{path}{name} ")
        if getattr(command, "invoke_without_command", True):
            commands[f"{path}{name}"] = command
    return commands


def test_every_page_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = Path(navigation.__file__).read_text(encoding="utf-8")
    titles = re.findall(r'st\.Page\(\s*"[^"]+", title="([^"]+)"', code)
    assert len(titles) >= 11
    assert not [title for title in titles if f"| {title} |" not in readme]


def test_every_setting_is_documented():
    code = "".join(
        p.read_text(encoding="utf-8")
        for folder in ("kgdash", "tests/browser")
        for p in (ROOT / folder).rglob("*.py")
    )
    settings = set(re.findall(r"\bKGDASH_[A-Z_]+\b", code))
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert settings
    assert not [name for name in settings if name not in text]


def test_links_in_the_docs_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_readme_holds_one_test_command():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if "-m pytest" in line]) == 1
