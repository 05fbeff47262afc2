"""The command ``compare``: 2 to 8 runs on one graph, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.groupings import grouping_by
from kgdash.commands.shared import (
    DatasetOption,
    FilterOption,
    JsonOption,
    OutOption,
    RankTypeOption,
    SeedOption,
    SplitOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.errors import unknown_name
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import RESAMPLES

if TYPE_CHECKING:
    import numpy as np

    from kgdash.graph import KnowledgeGraph
    from kgdash.runs import Run

#: what makes a table, by the table's name: only what is asked for is computed
Tables = dict[str, Callable[[], pd.DataFrame]]

#: what --table may name; those after "seeds" are of a pair
_TABLES = ("overall", "groups", "tests", "seeds", "relations", "regions", "entities", "triples")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN RUN [RUN ...]", help="2 to 8 runs on the same graph."),
    ],
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    filter: FilterOption = None,
    by: Annotated[
        str | None,
        typer.Option(help="Grouping, as of `breakdown`: adds the table groups."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Of the groups: mrr, amri, hits@k, …, or a key of `metrics`.")
    ] = "inverse_harmonic_mean_rank",
    side: Annotated[
        str, typer.Option(help="Of tests, regions, entities and triples: head, tail or both.")
    ] = "both",
    rank_type: RankTypeOption = "realistic",
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Two of the runs, by name: adds the tables relations, regions, entities, triples.",
        ),
    ] = None,
    resolution: Annotated[
        float, typer.Option(help="Of the regions: the higher, the smaller they are.")
    ] = 1.0,
    table: Annotated[
        str | None, typer.Option(help=f"The table to print or write: {', '.join(_TABLES)}.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Compare runs overall, by group, by paired tests, over seeds, and two of them in detail."""
    from kgdash.graph import default_filter
    from kgdash.ranking.metric import find_metric
    from kgdash.studies.comparison.comparison import compared_ranks, distinct_names

    key = find_metric(metric).key
    wanted = table or ("groups" if by else "relations" if pair else "overall")
    if wanted not in _TABLES:
        raise unknown_name("table", wanted, _TABLES, "compare")
    loaded = [load_run(source, dataset_of(source, dataset)) for source in runs]
    named = dict(zip(distinct_names(loaded), loaded, strict=True))
    chosen = filter or default_filter(split)
    ranks = compared_ranks(loaded, split, chosen, terminal("ranks"))
    tables = _tables_of_all(named, ranks, by, key, side, rank_type, seed)
    if pair is not None:
        tables |= _tables_of_pair(loaded[0].graph, ranks, pair, side, rank_type, resolution, seed)
    if wanted not in tables:
        needs = "--by" if wanted == "groups" else "--pair"
        raise unknown_name("table", wanted, list(tables), f"compare without {needs}")
    if as_json:
        about: dict[str, Any] = {
            "runs": list(named),
            "split": split,
            "filter": chosen,
            "side": side,
        }
        about |= {"by": by, "metric": key, "rank_type": rank_type, "pair": pair, "seed": seed}
        print_json(about | {name: make().to_dict("records") for name, make in tables.items()})
    if out is not None or not as_json:
        write_or_print(tables[wanted](), out)


def _tables_of_all(
    runs: Mapping[str, Run],
    ranks: Mapping[str, pd.DataFrame],
    by: str | None,
    metric: str,
    side: str,
    rank_type: str,
    seed: int,
) -> Tables:
    from kgdash.breakdowns.custom_grouping import groups_by
    from kgdash.breakdowns.rank_facts import annotate
    from kgdash.statistics.paired_tests import paired_tests
    from kgdash.studies.comparison.comparison import by_group, overall, reciprocal_ranks
    from kgdash.studies.comparison.seeds import seed_groups, seed_spread

    first = next(iter(runs.values()))
    grouping = None if by is None else grouping_by(first, by)
    values = reciprocal_ranks(ranks, side, rank_type)

    def seeds() -> pd.DataFrame:
        every = overall(ranks)
        spreads = [
            seed_spread(every, names).assign(configuration=name)
            for name, names in seed_groups(runs).items()
        ]
        return pd.concat(spreads) if spreads else pd.DataFrame()

    def groups() -> pd.DataFrame:
        annotated = annotate(next(iter(ranks.values())), first.graph)
        own = groups_by(annotated, first.graph, grouping or "")
        return by_group(annotated, ranks, own, metric, rank_type, terminal("groups"))

    tables: Tables = {
        "overall": lambda: overall(ranks),
        "tests": lambda: paired_tests(
            values, list(ranks), Bootstrap(resamples=RESAMPLES, seed=seed), terminal("tests")
        ),
        "seeds": seeds,
    }
    return tables if grouping is None else {**tables, "groups": groups}


def _tables_of_pair(
    graph: KnowledgeGraph,
    ranks: Mapping[str, pd.DataFrame],
    pair: tuple[str, str],
    side: str,
    rank_type: str,
    resolution: float,
    seed: int,
) -> Tables:
    from kgdash.graph.communities import find_regions
    from kgdash.studies.comparison.comparison import pair_of
    from kgdash.studies.comparison.region_differences import entity_differences, region_differences
    from kgdash.studies.comparison.wins import relation_wins, triple_differences

    pair_of(ranks, *pair)
    choices = (*pair, side, rank_type)

    def relations() -> pd.DataFrame:
        table = relation_wins(ranks, *pair, rank_type)
        return table.assign(relation=[graph.relation_labels[r] for r in table["relation"]])

    def regions_of() -> np.ndarray:
        return find_regions(graph, resolution, seed, terminal("regions"))

    def entities() -> pd.DataFrame:
        table = entity_differences(ranks, *choices)
        labels = [graph.entity_labels[e] for e in table["entity"]]
        return table.assign(region=regions_of()[table["entity"]], entity=labels)

    return {
        "relations": relations,
        "regions": lambda: region_differences(
            ranks, *pair, graph, regions_of(), side, rank_type, seed=seed
        ),
        "entities": entities,
        "triples": lambda: graph.with_names(triple_differences(ranks, *choices)),
    }


def dataset_of(source: str, dataset: str | None) -> str | None:
    """Return the dataset for a PyKEEN directory; runs in our form hold their own graph."""
    from kgdash.formats.pykeen_directory import MODEL_FILE

    return dataset if (Path(source) / MODEL_FILE).is_file() else None
