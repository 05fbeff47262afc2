"""Options that several commands share as a group: a dataclass whose fields are their options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import pandas as pd
import typer

from kgdash.commands.options.common import (
    ClusterOption,
    DatasetOption,
    DirectionOption,
    FilterOption,
    HopsOption,
    JsonOption,
    OutOption,
    RelikMethodOption,
    RestartOption,
    RunArgument,
    RunsArgument,
    SeedOption,
    SubgraphMethodOption,
)
from kgdash.commands.options.output import load_run, print_json, write_or_print

if TYPE_CHECKING:
    from kgdash.graph.subgraph import SubgraphSampling
    from kgdash.runs import Run
    from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups: each parameter that is a dataclass becomes its fields' options.

    :return: a command for Typer; the same where it has no groups
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Callable[..., Any]] = {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind):
            kept = parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
            parameters.append(kept)
            continue
        groups[parameter.name] = hints[parameter.name]
        kinds = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=parameter.empty if field.default is MISSING else field.default,
                annotation=kinds[field.name],
            )
            for field in fields(kind)
        ]

    if not groups:
        return command

    @functools.wraps(command)
    def spread(**arguments: Any) -> None:
        for name, kind in groups.items():
            names = inspect.signature(kind).parameters
            arguments[name] = kind(**{each: arguments.pop(each) for each in names})
        command(**arguments)

    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {each.name: each.annotation for each in parameters}
    return spread


@dataclass(frozen=True)
class RunOptions:
    """Which run a command is about."""

    run: RunArgument
    dataset: DatasetOption = None

    def load(self) -> Run:
        """Load the run and print its notes to standard error."""
        return load_run(self.run, self.dataset)


@dataclass(frozen=True)
class HelpedRunOptions(RunOptions):
    """Which run a command is about, and who helps to count."""

    cluster: ClusterOption = None

    @contextmanager
    def opened(self, *others: str) -> Iterator[list[Run]]:
        """Load the run and others; during the block a cluster does their work, if one is named.

        :param others: what `kgdash.runs.loading.load` takes
        :raises KgdashError: as `kgdash.runs.cluster.Cluster`, and before any is loaded if there are
            too many to compare
        """
        from kgdash.studies.comparison.comparison import check_number

        sources = (self.run, *others)
        check_number(len(sources), alone=True)
        if self.cluster is None:
            yield [load_run(source, self.dataset) for source in sources]
            return
        from kgdash.runs.cluster import Cluster

        with Cluster(self.cluster) as opened:
            loaded = [load_run(source, self.dataset) for source in sources]
            yield [
                opened.run(run, source, self.dataset)
                for run, source in zip(loaded, sources, strict=True)
            ]


@dataclass(frozen=True)
class RunsOptions:
    """Which runs a command compares."""

    runs: RunsArgument
    dataset: DatasetOption = None

    def load(self) -> list[Run]:
        """Load the runs; those in our form hold their own graph, and need no dataset.

        :raises KgdashError: as `kgdash.runs.loading.load`, and before any is loaded if there are
            too many to compare
        """
        from kgdash.formats.pykeen_directory import MODEL_FILE
        from kgdash.studies.comparison.comparison import check_number

        check_number(len(self.runs), alone=True)
        pykeen = [(Path(source) / MODEL_FILE).is_file() for source in self.runs]
        return [
            load_run(source, self.dataset if given else None)
            for source, given in zip(self.runs, pykeen, strict=True)
        ]


@dataclass(frozen=True)
class Output:
    """Where the answer of a command goes."""

    as_json: JsonOption = False
    out: OutOption = None

    @property
    def printed(self) -> bool:
        """Tell whether the table is printed, neither written nor followed by JSON."""
        return self.out is None and not self.as_json

    def show(
        self, table: pd.DataFrame, about: Callable[[], dict[str, Any]], index: bool = False
    ) -> None:
        """Write or print a table, and print JSON where that was asked for.

        :param about: makes the JSON
        """
        if self.out is not None or self.printed:
            write_or_print(table, self.out, index, silent=self.as_json)
        if self.as_json:
            print_json(about())


@dataclass(frozen=True)
class SubgraphOptions:
    """How random subgraphs are drawn, and what is computed of them."""

    subgraphs: Annotated[int, typer.Option(help="How many subgraphs are drawn.")] = 100
    method: SubgraphMethodOption = "rwr"
    restart: RestartOption = 0.2
    hops: HopsOption = 1
    direction: DirectionOption = "either"
    seed: SeedOption = 0
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test"
    filter: FilterOption = None
    relik_method: RelikMethodOption = "exact"

    @property
    def filter_used(self) -> str:
        """Name the filter of the ranks, the default one where none was chosen."""
        return self.filter or "train+valid+test"

    def sampling(self, size: int = 60) -> SubgraphSampling:
        """Return how subgraphs of so many entities are drawn."""
        from kgdash.graph.subgraph import SubgraphSampling

        way = (self.method, self.restart, self.hops, self.direction)
        return SubgraphSampling(self.subgraphs, size, *way, self.seed)


@dataclass(frozen=True)
class TaskOptions:
    """Of which sizes subgraphs are, and what ReliK is correlated with besides MRRs."""

    size: Annotated[
        list[int] | None,
        typer.Option(help="Entities in each; repeat for several sizes. Default: by the graph."),
    ] = None
    k: Annotated[
        list[int] | None, typer.Option(help="Of Hits@k; repeat for several. Default: 1, 3, 10.")
    ] = None
    corrupt: Annotated[
        str,
        typer.Option(
            help="Where the negatives of the classification come from: inside (the subgraph) or "
            "anywhere."
        ),
    ] = "inside"

    def evaluation(self, options: SubgraphOptions) -> SubgraphEvaluation:
        """Return what is computed of the subgraphs; the seed is that of negatives, too."""
        from kgdash.studies.reliability.subgraph_evaluation import KS, SubgraphEvaluation

        ranks = (options.evaluated, options.relik_method, options.filter_used)
        return SubgraphEvaluation(*ranks, tuple(self.k or KS), self.corrupt, options.seed)
