"""Characters in names from outside that are obeyed, not shown: where people read, they are written.

A terminal obeys control characters; it and browsers let others turn the direction of what follows,
so that a figure beside a name would be read backwards, and begin a line at separators. Letters that
are read from right to left are none of these.
"""

import re

#: control characters but tab, line feed and carriage return; what separates lines; and what turns
#: the reading direction
_OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def visible(text: str) -> str:
    r"""Write what would be obeyed as Python does: ``\x1b[31m``."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
