"""Options that several commands share as a group: a dataclass whose fields are their options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from kgdash.commands.options.common import FilterOption, SeedOption

if TYPE_CHECKING:
    from kgdash.graph.subgraph import SubgraphSampling
    from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups: each parameter that is a dataclass becomes its fields' options.

    :param command: whose groups have a default for each field
    :return: a command for Typer
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Callable[..., Any]] = {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind))
            continue
        groups[parameter.name] = hints[parameter.name]
        kinds = get_type_hints(kind, include_extras=True)
        parameters += [
            parameter.replace(name=field.name, default=field.default, annotation=kinds[field.name])
            for field in fields(kind)
        ]

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
class SubgraphOptions:
    """How random subgraphs are drawn, and what is computed of them."""

    subgraphs: Annotated[int, typer.Option(help="How many subgraphs are drawn.")] = 100
    method: Annotated[str, typer.Option(help="rwr or neighbourhood.")] = "rwr"
    restart: Annotated[float, typer.Option(help="Restart probability of the walk.")] = 0.2
    hops: Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")] = 1
    direction: Annotated[str, typer.Option(help="either, outgoing or incoming.")] = "either"
    seed: SeedOption = 0
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test"
    filter: FilterOption = None
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact"

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
