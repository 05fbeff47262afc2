"""What exists is documented, and what CI runs is what the README says."""

import ast
import re
from functools import cache
from pathlib import Path

import typer

from kgdash.cli import app
from kgdash.commands.options import renamed
from kgdash.ui.runtime import navigation
from tests import test_layers
from tests.support.paths import ROOT


def test_every_command_is_documented():
    commands = _commands(typer.main.get_command(app))
    assert commands.keys() >= {"runs", "metrics", "relik", "subgraph", "import", "cache list"}
    assert commands.keys() == _sections().keys()


def test_options_in_the_docs_exist():
    commands = _commands(typer.main.get_command(app))
    wrong = []
    for name, section in _sections().items():
        taken = commands[name].params
        options = {each for p in taken for each in (*p.opts, *p.secondary_opts)} | {"--help"}
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
    for other in ("Configuration files", "Settings by environment"):
        del sections[other]
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
    titles = [title for pages in navigation.MENU.values() for title in pages.values()]
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
    dead = []
    for page in (path for path in _texts() if path.suffix == ".md"):
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            to = page.parent / name if name else page
            if not to.exists() or (anchor and anchor not in _anchors(to)):
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead


def test_sections_of_the_numbers_that_code_refers_to_exist():
    used = {
        (path.relative_to(ROOT), anchor)
        for path in _texts()
        for anchor in re.findall(r"numbers\.md#([\w-]+)", path.read_text(encoding="utf-8"))
    }
    anchors = _anchors(ROOT / "docs" / "numbers.md")
    assert len(used) > 50
    assert not sorted((path, anchor) for path, anchor in used if anchor not in anchors)


def test_summaries_of_docstrings_are_one_line():
    long = []
    for path in (ROOT / "kgdash").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                summary = (ast.get_docstring(node) or "").split("\n\n")[0]
                if "\n" in summary:
                    long.append(f"{path.relative_to(ROOT)}: {summary}")
    assert not long


def test_no_text_refers_to_sections_by_a_sign():
    sign = chr(0xA7)  # such references once led to a text that is not in the repository
    assert not [path for path in _texts() if sign in path.read_text(encoding="utf-8")]


def _texts() -> list[Path]:
    """List the repository's texts: code and Markdown."""
    top = [*ROOT.glob("*.py"), *ROOT.glob("*.md")]
    folders = ("kgdash", "pages", "tests", "benchmarks", "docs", "scripts")
    inside = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return [*top, *(path for path in inside if path.suffix in (".py", ".md"))]


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a Markdown page's headings, as GitHub makes them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    slugs: list[str] = []
    for heading in re.findall(r"(?m)^#+ (.+?)\s*$", text):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        slugs.append(f"{slug}-{slugs.count(slug)}" if slug in slugs else slug)
    return set(slugs)


def test_readme_holds_one_test_command():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if "-m pytest" in line]) == 1


def test_the_drawing_of_the_rooms_is_the_layer_rule():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("│")[1].split() for line in text.splitlines() if line.startswith("│")]
    height = {name: len(rows) - i for i, row in enumerate(rows) for name in row}
    assert height.keys() == {test_layers.room(m) for m in test_layers.MODULES} - {
        "__main__",
        "kgdash",
        "studies",
        "ui",
    }
    upward = [
        (module, other)
        for module, path in test_layers.MODULES.items()
        for other in test_layers.imports(path) & test_layers.MODULES.keys()
        if height.get(test_layers.room(other), 0) > height.get(test_layers.room(module), len(rows))
    ]
    assert not upward


def test_packages_say_what_they_import_and_where_to_start():
    wrong = []
    for path in (ROOT / "kgdash").glob("*/**/__init__.py"):
        package = ".".join(path.parent.relative_to(ROOT / "kgdash").parts)
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        said = re.search(
            r"Imports: ([^;.]*(?:\.\w[^;.]*)*)[.;].*Start at `([\w/.]+)`", text, re.DOTALL
        )
        if said is None:
            wrong.append(f"{package} says too little")
            continue
        if not (path.parent / said[2]).exists():
            wrong.append(f"{package}: {said[2]} is not there")
        named = re.findall(r"[a-z]+(?:\.[a-z0-9_]+)*", said[1].removesuffix(" and below"))
        highest = max(map(_height, named))
        if highest > _height(package):
            wrong.append(f"{package} lies below what it says it imports")
        inside = (m for m in test_layers.MODULES if test_layers.room(m) == package)
        for other in set().union(*(test_layers.imports(test_layers.MODULES[m]) for m in inside)):
            room = test_layers.room(other) if other in test_layers.MODULES else package
            below = said[1].endswith(" and below") and _height(room) < highest
            if room not in (package, "errors", "progress", "version", *named) and not below:
                wrong.append(f"{package} imports {other}, and does not say so")
    assert not wrong


@cache
def _height(package: str) -> int:
    modules = (m for m in test_layers.MODULES if f"{m}.".startswith(f"{package}."))
    return max(map(test_layers.place, modules))


def test_names_of_code_in_the_docs_exist():
    gone = []
    for page in (ROOT / "docs").glob("*.md"):
        for name in re.findall(r"`kgdash\.([\w.]+)`", page.read_text(encoding="utf-8")):
            gone += [] if _defined(name) else [f"{page.name}: kgdash.{name}"]
    assert not gone


def _defined(name: str) -> bool:
    """Tell whether kgdash has a module, function, class, method or constant of a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        path = ROOT.joinpath("kgdash", *parts[:cut])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                code = file.read_text(encoding="utf-8")
                return all(
                    re.search(rf"(?m)^ *(?:def|class) {part}\b|^{part}\b", code)
                    for part in parts[cut:]
                )
    return False


def test_the_changelog_says_what_was_renamed():
    rows = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    pairs = [("", old, new) for old, new in renamed.COMMANDS.items()]
    pairs += [(c, o, n) for c, options in renamed.OPTIONS.items() for o, n in options.items()]
    missing = [
        (command, old, new)
        for command, old, new in pairs
        if not any(
            command in row and re.search(rf"`{old}\b", row) and new.split()[0] in row
            for row in rows
            if row.startswith("|")
        )
    ]
    assert not missing
