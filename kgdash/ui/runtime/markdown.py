"""Names in Streamlit's texts, which it reads as Markdown."""

from __future__ import annotations

import re

from kgdash.files.visible import visible

#: where a character that nobody sees (U+2060) stands between two that would be read together, even
#: behind backslashes: addresses as links, icons and emojis by name, arrows of signs
_APART = re.compile(
    r"(?<=:)(?=//|material/|[a-z+-][\w+-]*:)|(?<=www)(?=\.)|(?<=[\w.+-])(?=@[\w-]+\.)"
    r"|(?<=(?<!\S)[<>~-])(?=(?:->|[-=>])(?!\S))",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Escape what Markdown, LaTeX or Streamlit's colours and icons would read into a name.

    What browsers would obey is written, as `kgdash.files.visible.visible` has it.

    >>> plain("a_b*c $x$ :red[y]")
    'a\\\\_b\\\\*c \\\\$x\\\\$ \\\\:red\\\\[y\\\\]'
    >>> plain("http://x.y")
    'http\\\\:\\u2060//x\\\\.y'
    """
    line = re.sub(r"[\r\n]+[ \t]*", " ", visible(text))  # what follows could make it a heading
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$~|<>:&])", r"\\\1", _APART.sub("\u2060", line))
