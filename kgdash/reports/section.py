"""What reports are made of: sections of sentences, tables and charts, each with its command."""

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from kgdash.errors import KgdashError


@dataclass(frozen=True)
class Shown:
    """A table or a chart of a report, and the command that makes it.

    ``name``: of a chart, unique in the report; ``is_half``: it stands beside another.
    """

    caption: str
    command: str
    table: pd.DataFrame | None = None
    chart: go.Figure | None = None
    name: str = ""
    is_half: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a report: its heading, sentences, what there is to see, and what to look at."""

    title: str
    text: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()
    leads: tuple[str, ...] = ()


def refused_section(title: str, error: KgdashError) -> Section:
    """Make a section that says what its study refused."""
    text = str(error)
    return Section(title, (f"{text[0].upper()}{text[1:]}.",))
