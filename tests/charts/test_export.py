"""Figures as files: what is in them, what is behind them, and what is refused."""

import io
import re
import xml.etree.ElementTree as tree

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image
from plotly.offline import get_plotlyjs

from kgdash.charts import export as figure_files
from kgdash.charts.export import (
    FigureSize,
    check_figure_file,
    figure_bytes,
    on_background,
    write_figure,
)
from kgdash.charts.message import message_of
from kgdash.charts.style import finish
from kgdash.errors import KgdashError

HOSTILE = "</script><script>alert(1)</script> & <img src=x onerror=alert(2)>"


def figure(text="three bars", height=300) -> go.Figure:
    drawn = go.Figure(go.Bar(x=["a", "b", "c"], y=[1, 2, 3], name=text))
    drawn.update_layout(showlegend=True)
    return finish(drawn, f"{text}: 1, 2, 3.", height=height)


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def test_png_has_its_size_and_a_background_that_its_text_shows_on():
    """Here the dark one; the light one is that of the SVG below."""
    content = figure_bytes(figure(), ".png", dark=True, size=FigureSize(400, scale=1.5))
    drawn, background = pixels(content), (17, 20, 24)
    assert drawn.shape == (450, 600, 3)
    assert tuple(drawn[0, 0]) == tuple(drawn[-1, -1]) == background
    # The texts, drawn by the template's colour, stand against it as far as can be.
    farthest = np.abs(drawn.astype(int) - background).sum(axis=2).max()
    assert farthest > 500


def test_svg_is_vectors_with_the_texts_as_text():
    content = figure_bytes(figure("relation &lt;r&gt;"), ".svg", size=FigureSize(500, 250, 3))
    root = tree.fromstring(content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("height")) == ("500", "250"), "no scale of pixels"
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a", "b", "c", "relation <r>"} <= set(texts)
    assert not list(root.iter("{http://www.w3.org/2000/svg}image"))
    whole = next(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert "fill: rgb(255, 255, 255)" in whole.get("style")
    inks = {text.get("style") for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert all("fill: rgb(27, 31, 36)" in ink for ink in inks)
    assert b"http" not in re.sub(rb'"http://www\.w3\.org/[^"]+"', b"", content)


def test_what_sessions_share_is_not_changed_while_it_is_copied(monkeypatch):
    shared, seen = figure(), []

    class Watched(dict):
        def pop(self, *key):
            seen.append(key)
            return super().pop(*key)

        def __deepcopy__(self, memo):
            return dict(self)

    monkeypatch.setattr(shared, "_data", [Watched(each) for each in shared._data])
    before = shared.to_dict()
    copy = on_background(shared)
    assert not seen
    assert shared.to_dict() == before
    assert copy.data == shared.data


def test_pdf():
    content = figure_bytes(figure(), ".pdf")
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")


def page(content: bytes) -> str:
    """Return a page without the plotly.js in it, which is megabytes that no message should show."""
    text, library = content.decode(), get_plotlyjs()
    assert text.count(library) == 1
    return text.replace(library, "")


class TestHtml:
    def test_is_one_page_that_asks_for_nothing(self):
        text = page(figure_bytes(figure(), ".html", "Bars"))
        assert text.startswith("<!DOCTYPE html>")
        assert "<title>Bars</title>" in text
        assert "http" not in text
        assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)\s*=", text)

    def test_the_same_figure_gives_the_same_page(self):
        once, again, other = (figure_bytes(f, ".html") for f in (figure(), figure(), figure("x")))
        assert page(once) == page(again)
        assert page(once) != page(other)

    def test_labels_stay_text(self):
        text = page(figure_bytes(figure(HOSTILE), ".html", HOSTILE))
        assert "<script>alert(1)" not in text
        assert "<img src=x" not in text
        assert "<script>alert(1)</script>" in message_of(figure(HOSTILE))
        title = re.search("<title>(.*?)</title>", text)[1]
        assert title == HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        plain = page(figure_bytes(figure(), ".html"))
        assert text.count("</script>") == plain.count("</script>")

    @pytest.mark.parametrize(("dark", "colour"), [(False, "#ffffff"), (True, "#111418")])
    def test_background(self, dark, colour):
        text = page(figure_bytes(figure(), ".html", dark=dark))
        assert f"background: {colour}" in text
        assert f'"paper_bgcolor":"{colour}"' in text

    def test_says_its_message_and_where_it_comes_from(self):
        text = page(figure_bytes(figure("<b>"), ".html", caption="umls-transe · split <test>"))
        assert 'role="figure" aria-label="&lt;b&gt;: 1, 2, 3."' in text
        assert "umls-transe \\u00b7 split &lt;test&gt;" in text
        svg = figure_bytes(figure("<b>"), ".svg").decode()
        assert "<desc>&lt;b&gt;: 1, 2, 3.</desc>" in svg

    def test_no_name_breaks_the_file(self):
        svg = figure_bytes(figure("a\x01b\u202e"), ".svg")
        assert r"a\x01b\u202e: 1, 2, 3." in tree.fromstring(svg)[0].text

    def test_room_for_the_caption(self):
        assert "height:324px" in page(figure_bytes(figure(), ".html", caption="umls-transe"))

    def test_height(self):
        assert "height:300px" in page(figure_bytes(figure(), ".html"))
        assert "height:555px" in page(figure_bytes(figure(), ".html", size=FigureSize(height=555)))


def test_the_figure_is_left_as_it_was():
    drawn = figure()
    before = drawn.to_json()
    figure_bytes(drawn, ".html", dark=True, size=FigureSize(height=100))
    assert drawn.to_json() == before


def test_write_figure_by_extension_with_a_title(tmp_path):
    write_figure(figure(), tmp_path / "new" / "bars.html")
    assert "<title>bars</title>" in page((tmp_path / "new" / "bars.html").read_bytes())
    write_figure(figure(), tmp_path / "bars.html", title="other", dark=True)
    text = page((tmp_path / "bars.html").read_bytes())
    assert "<title>other</title>" in text
    assert "#111418" in text
    (tmp_path / "file").write_text("")
    with pytest.raises(KgdashError, match="can not write"):
        write_figure(figure(), tmp_path / "file" / "bars.html")


class TestRefusals:
    @pytest.mark.parametrize("name", ["x.gif", "x", "x.html.txt", "x.PNG"])
    def test_other_formats(self, tmp_path, name):
        with pytest.raises(KgdashError, match=r"expected an output file in \.html, \.svg, \.png"):
            check_figure_file(tmp_path / name)
        with pytest.raises(KgdashError, match=r"expected one of \.html"):
            figure_bytes(figure(), (tmp_path / name).suffix)

    @pytest.mark.parametrize(
        "sizes",
        [
            *({"width": 0}, {"height": 0}, {"height": -5}, {"scale": 0}, {"scale": float("nan")}),
            *({"width": 65_536}, {"height": 10**400}),
        ],
    )
    def test_sizes(self, sizes):
        with pytest.raises(KgdashError, match="expected sizes above 0, sides of at most 65,535"):
            FigureSize(**sizes)

    @pytest.mark.parametrize(
        ("name", "size"),
        [
            ("x.png", FigureSize(16_000, 16_000, 1)),  # took 3.4 GiB
            ("x.png", FigureSize(20_000, 20_000, 4)),  # came as 3 bytes
            ("x.png", FigureSize(scale=100)),
            ("x.png", FigureSize(scale=float("inf"))),
            ("x.pdf", FigureSize(20_000, 20_000)),
        ],
    )
    def test_sizes_that_take_much_memory(self, tmp_path, name, size):
        out = tmp_path / name
        for refused in (
            check_figure_file,
            lambda out, size: write_figure(figure(), out, size=size),
        ):
            with pytest.raises(KgdashError, match=r"at most 70,000,000 pixels.*or \.html"):
                refused(out, size)
        assert not out.exists()

    def test_posters_and_vectors_are_within_the_bounds(self, tmp_path):
        for size in (
            FigureSize(9_933, 7_016, 1),
            FigureSize(4_961, 3_508),
            FigureSize(480, 65_535, 1),
        ):
            check_figure_file(tmp_path / "x.png", size)
        check_figure_file(tmp_path / "x.svg", FigureSize(900, 65_535, 100))
        check_figure_file(tmp_path / "x.html", FigureSize(65_535, 65_535))

    def test_the_figures_own_height_counts(self):
        with pytest.raises(KgdashError, match="found 1,800 × 80,000: take"):
            figure_bytes(figure(height=40_000), ".png")
        with pytest.raises(KgdashError, match="found 900 × 80,024: take"):
            figure_bytes(figure(height=80_000), ".svg", caption="umls-transe")

    def test_more_points_than_can_be_drawn(self):
        drawn = go.Figure([go.Scatter(y=np.zeros(30_001)), go.Bar(x=np.zeros(30_000))])
        with pytest.raises(KgdashError, match="at most 60,000 points; found 60,001: draw fewer"):
            figure_bytes(drawn, ".svg")

    @pytest.mark.parametrize("extension", [".png", ".svg", ".pdf"])
    def test_what_is_none_of_the_format_is_not_written(self, tmp_path, monkeypatch, extension):
        """Chromium gives "data:," for a canvas that it can not make."""
        out = tmp_path / f"x{extension}"
        out.write_text("what stood there")
        monkeypatch.setattr("kaleido.calc_fig_sync", lambda *_, **__: b"u\xabZ")
        with pytest.raises(KgdashError, match=r"could not draw the figure \(no [A-Z]{3} came: b'u"):
            write_figure(figure(), out)
        assert out.read_text() == "what stood there"

    def test_no_browser(self, tmp_path, monkeypatch):
        monkeypatch.setattr("kgdash.files.chromium.find_browser", lambda: None)
        for refused in (check_figure_file, lambda out: write_figure(figure(), out)):
            with pytest.raises(KgdashError, match=r"install Debian's package chromium.*html needs"):
                refused(tmp_path / "x.svg")
        assert not list(tmp_path.iterdir())
        check_figure_file(tmp_path / "x.html")
        write_figure(figure(), tmp_path / "x.html")

    def test_a_browser_that_is_not_there(self, tmp_path, monkeypatch):
        monkeypatch.setenv("KGDASH_CHROMIUM", str(tmp_path / "none"))
        with pytest.raises(KgdashError, match=r"no Chromium at .*none \(KGDASH_CHROMIUM\)"):
            check_figure_file(tmp_path / "x.png")

    def test_a_browser_that_fails(self, tmp_path, monkeypatch):
        broken = tmp_path / "browser"
        broken.write_text("#!/bin/sh\nexit 3\n")
        broken.chmod(0o755)
        monkeypatch.setenv("KGDASH_CHROMIUM", str(broken))
        monkeypatch.setattr(figure_files, "_PATIENCE", 5)
        with pytest.raises(KgdashError, match="browser could not draw the figure"):
            write_figure(figure(), tmp_path / "x.svg")
        assert not (tmp_path / "x.svg").exists()
