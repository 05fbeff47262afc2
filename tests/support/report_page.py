"""Reading a report as a browser's parser does: its scripts, its tables, its text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "input"}


@dataclass
class Page(HTMLParser):
    """``tables``: caption → rows of {column: what it is sorted by}, in order."""

    scripts: list[tuple[dict, str]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    text: str = ""
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self._caption, self._columns, self._row = "", [], []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.tags.append(tag)
        self.addresses += [named[name] for name in ("src", "href", "action") if name in named]
        if tag == "script":
            self.scripts.append((named, ""))
        elif tag == "meta":
            self.meta[named.get("name") or named.get("http-equiv") or "charset"] = named.get(
                "content", ""
            )
        elif tag == "figcaption":
            self._caption = ""
        elif tag == "table":
            self._columns = []
            self.tables[self._caption.strip()] = []
        elif tag == "th":
            self._columns.append("")
        elif tag == "tr":
            self._row = []
        elif tag == "td" and "data-value" in named:
            self._row.append(named["data-value"])
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, f"</{tag}> closes another element"
        if tag == "tr" and self._row:
            row = dict(zip(self._columns, self._row, strict=True))
            self.tables[self._caption.strip()].append(row)

    def handle_data(self, data):
        where = self._open[-1] if self._open else ""
        if where == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
            return
        if where == "style":
            return
        self.text += data
        if "figcaption" in self._open:
            self._caption += data
        elif "th" in self._open:
            self._columns[-1] += data

    def close(self):
        super().close()
        assert not self._open, f"left open: {self._open}"


def read_page(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


def table(page: Page, start: str) -> list[dict[str, str]]:
    """Return the one table whose caption starts so."""
    (found,) = [rows for caption, rows in page.tables.items() if caption.startswith(start)]
    return found
