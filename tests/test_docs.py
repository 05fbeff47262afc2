"""What exists is documented, and what CI runs is what the README says."""

import re
from pathlib import Path

from kgdash.cli import app
from kgdash.ui.runtime import navigation
from tests.support.paths import ROOT


def test_every_command_is_documented():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    names = _names(app.registered_commands)
    for group in app.registered_groups:
        names |= {
            f"{group.name} {name}" for name in _names(group.typer_instance.registered_commands)
        }
    assert names >= {"runs", "metrics", "relik", "subgraph", "import", "train", "cache list"}
    assert not [name for name in names if f"| `{name}" not in text]


def _names(commands) -> set[str]:
    return {command.name or command.callback.__name__ for command in commands}


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
