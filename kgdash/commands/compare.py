"""The command ``compare``: 2 to 8 runs on one graph, side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.groupings import grouping_by, tell_of_minutes
from kgdash.commands.options.common import FilterOption, RankTypeOption, SeedOption, SplitOption
from kgdash.commands.options.groups import Output, RunsOptions
from kgdash.commands.options.output import print_json, records, write_or_print
from kgdash.errors import check_name, unknown_name
from kgdash.files.extensions import check_extension
from kgdash.progress import terminal

if TYPE_CHECKING:
    import numpy as np

    from kgdash.graph import KnowledgeGraph
    from kgdash.ranking.rank_setting import RankSetting
    from kgdash.runs import Run

#: what makes a table, by the table's name: only what is asked for is computed
Tables = dict[str, Callable[[], pd.DataFrame]]

#: what --table may name; those after "seeds" are of a pair
_TABLES = ("overall", "groups", "tests", "seeds", "relations", "communities", "entities", "triples")


def compare(
    runs: RunsOptions,
    split: SplitOption = "test",
    filter: FilterOption = None,
    by: Annotated[
        str | None, typer.Option(help="Grouping, as of `breakdown`: adds the table groups.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Of the groups: mrr, amri, hits@k, …, or a key of `metrics`.")
    ] = "inverse_harmonic_mean_rank",
    side: Annotated[
        str, typer.Option(help="Of tests, communities, entities and triples: head, tail or both.")
    ] = "both",
    rank_type: RankTypeOption = "realistic",
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Two of the runs, by name: adds the tables relations, communities, entities and "
            "triples.",
        ),
    ] = None,
    resolution: Annotated[
        float, typer.Option(help="Of the communities: the higher, the smaller they are.")
    ] = 1.0,
    table: Annotated[
        str | None, typer.Option(help=f"The table to print or write: {', '.join(_TABLES)}.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.html", help="Write all of it as one page that needs no network here."
        ),
    ] = None,
    seed: SeedOption = 0,
    *,
    output: Output,
) -> None:
    """Compare runs overall, by group, by paired tests, over seeds, and two of them in detail."""
    from kgdash.graph import default_filter
    from kgdash.ranking.metric_lookup import find_metric
    from kgdash.ranking.rank_setting import RankSetting
    from kgdash.reports.comparison import comparison_content
    from kgdash.reports.html import EXTENSIONS, write_report
    from kgdash.studies.comparison.comparison import compared_ranks, distinct_names, pair_of
    from kgdash.studies.comparison.comparison_verdict import comparison_verdict

    key = find_metric(metric).key
    wanted = table or ("groups" if by else "relations" if pair else "overall")
    check_name("table", wanted, _TABLES, "compare")
    if report is not None:
        check_extension(report, EXTENSIONS)
    loaded = runs.load()
    named = dict(zip(distinct_names(loaded), loaded, strict=True))
    chosen = filter or default_filter(split)
    ranks = compared_ranks(loaded, split, chosen, terminal("ranks"))
    setting = RankSetting.parse(split, chosen, side, rank_type)
    grouping = None if by is None else grouping_by(loaded[0], by)
    tables = _tables_of_all(named, ranks, setting, seed)
    if grouping is not None:
        tables["groups"] = lambda: _groups(loaded[0], ranks, grouping, key, rank_type)
    if pair is not None:
        two = pair_of(ranks, *pair)
        tables |= _tables_of_pair(loaded[0].graph, two, setting, resolution, seed)
    if wanted not in tables:
        needs = "--by" if wanted == "groups" else "--pair"
        raise unknown_name("table", wanted, list(tables), f"compare without {needs}")
    about: dict[str, Any] = {"runs": list(named), "split": split, "filter": chosen, "side": side}
    about |= {"by": by, "metric": key, "rank_type": rank_type, "pair": pair, "seed": seed}
    if output.as_json:
        about["verdict"] = comparison_verdict(tables["tests"]())
        print_json(about | records({name: make() for name, make in tables.items()}))
    if report is not None:
        content = comparison_content(loaded, setting, key, seed, terminal("report"))
        write_report(content, report)
        told = f"wrote {report} ({report.stat().st_size / 1e6:.1f} MB)"
        print(told, file=sys.stderr if output.as_json else sys.stdout)
    if output.out is not None or (report is None and output.printed):
        write_or_print(tables[wanted](), output.out, silent=output.as_json)


def _tables_of_all(
    runs: Mapping[str, Run], ranks: Mapping[str, pd.DataFrame], setting: RankSetting, seed: int
) -> Tables:
    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.statistics.paired_tests import RESAMPLES, paired_tests
    from kgdash.studies.comparison.comparison import overall, reciprocal_ranks
    from kgdash.studies.comparison.comparison_verdict import shared_tests, with_shared
    from kgdash.studies.comparison.seeds import seed_groups, seed_spread

    values = reciprocal_ranks(ranks, setting.side, setting.rank_type)

    def tests() -> pd.DataFrame:
        bootstrap = Bootstrap(resamples=RESAMPLES, seed=seed)
        found = paired_tests(values, list(ranks), bootstrap, terminal("tests"))
        return with_shared(found, shared_tests(ranks, setting.side, setting.rank_type))

    def seeds() -> pd.DataFrame:
        every = overall(ranks)
        spreads = [
            seed_spread(every, names).assign(configuration=name)
            for name, names in seed_groups(runs).items()
        ]
        return pd.concat(spreads) if spreads else pd.DataFrame()

    return {
        "overall": lambda: overall(ranks),
        "tests": tests,
        "seeds": seeds,
    }


def _groups(
    first: Run, ranks: Mapping[str, pd.DataFrame], grouping: Any, metric: str, rank_type: str
) -> pd.DataFrame:
    from kgdash.breakdowns.custom_grouping import groups_by
    from kgdash.breakdowns.grouping import groups_of
    from kgdash.breakdowns.rank_facts import add_rank_facts
    from kgdash.ranking.metric_lookup import find_metric
    from kgdash.studies.comparison.comparison import by_group

    annotated = add_rank_facts(next(iter(ranks.values())), first.graph, terminal("relations"))
    groups = groups_by(annotated, first.graph, grouping)
    tell_of_minutes(find_metric(metric), len(groups_of(annotated, groups)[2]) * len(ranks))
    return by_group(annotated, ranks, groups, metric, rank_type, terminal("groups"))


def _tables_of_pair(
    graph: KnowledgeGraph,
    pair: Mapping[str, pd.DataFrame],
    setting: RankSetting,
    resolution: float,
    seed: int,
) -> Tables:
    from kgdash.graph.communities import find_communities
    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.studies.comparison.community_differences import (
        community_differences,
        entity_differences,
    )
    from kgdash.studies.comparison.run_pairs import relation_sign_tests, triple_differences

    choices = (setting.side, setting.rank_type)

    def relations() -> pd.DataFrame:
        table = relation_sign_tests(pair, setting.rank_type)
        return table.assign(
            relation=graph.relation_lookup.distinct_labels(table["relation"].to_numpy())
        )

    def found() -> np.ndarray:
        return find_communities(graph, resolution, seed, terminal("communities"))

    def entities() -> pd.DataFrame:
        table = entity_differences(pair, *choices)
        labels = graph.entity_lookup.distinct_labels(table["entity"].to_numpy())
        return table.assign(community=found()[table["entity"]], entity=labels)

    return {
        "relations": relations,
        "communities": lambda: community_differences(
            pair, graph, found(), *choices, Bootstrap(seed=seed)
        ),
        "entities": entities,
        "triples": lambda: graph.with_names(triple_differences(pair, *choices)),
    }
