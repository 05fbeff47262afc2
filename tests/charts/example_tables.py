"""Tables as charts draw them: their values are other ones for another k."""

import numpy as np
import pandas as pd

from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import MetricsTable

MRR = metric_records()["inverse_harmonic_mean_rank"]
CONFUSION = {"true_positive": 6, "false_positive": 2, "true_negative": 3, "false_negative": 4}


def frame(**columns):
    return pd.DataFrame(columns)


def rows(k, **columns):
    """Return three rows with a value and its interval, all ``k`` times as large."""
    ends = {"value": [0.5, 0.2, 0.4], "low": [0.4, 0.1, 0.3], "high": [0.6, 0.3, 0.5]}
    return frame(**columns, **{end: k * np.array(each) for end, each in ends.items()})


def of_runs(k):
    return rows(k, run=["one", "two", "two"], side=["tail", "tail", "both"], position=[1, 2, 1])


def of_groups(k):
    table = rows(k, group=["a", "a", "b"], run=["one", "two", "one"], side="both", small=False)
    return table.assign(position=pd.array([1, 2, 1] if k == 1 else [2, 1, 1], dtype="Int64"))


def a_breakdown(k):
    table = rows(k, group=["a", "b", "c"], side="tail", small=False, triples=40)
    return table.assign(tied_share=0.0, largest_tie=1)


def covered(k):
    table = rows(0.3 * k, group=["a", "b", "c"], n=[9, 80, 70], mean_size=2.0, p_holm=1.0)
    return table.rename(columns={"value": "coverage"})


def in_conflict(k):
    table = rows(k / 2, group=["a", "b", "c"], queries=[9, 8, 7], small=[False, False, True])
    return table.rename(columns={"value": "ambiguity"})


def a_curve(k, x, y):
    table = {"threshold": [np.inf, 0.5, 0.1], x: [0.0, 0.4, 1.0], y: [0.0, 0.9 * k, 1.0]}
    return pd.DataFrame(table)


def bins(k, **names):
    counts = np.array([1, 8, 1] if k == 1 else [8, 1, 1])
    table = frame(left=[0.0, 1.0, 2.0], right=[1.0, 2.0, 3.0])
    shares = {f"{name}_share": counts / 10 for name in names}
    return table.assign(**dict.fromkeys(names, counts), **shares)


def calibrated(k):
    ends = {"predicted": [0.2, 0.8], "observed": [0.3 * k, 0.7], "low": 0.1, "high": 0.9}
    return frame(calibration="platt", count=9, **ends)


def named_triples(k):
    table = frame(head_degree=[1, 2, 30, 40], relik=k * np.array([0.1, 0.2, 0.8, 0.9]))
    return table.assign(head="h", relation="r", tail="t")


def classes(k):
    table = frame(mean=[0.3 * k], lower_quartile=0.1 * k, median=0.2 * k, upper_quartile=0.4)
    return table.assign(**{"class": "n-n", "triples": 40, "least": 0.01, "greatest": 1.0})


def factors(k):
    names = ["head_degree", "tail_degree", "frequency"]
    return rows(k, factor=names, measure="spearman", p_holm=0.01, triples=9)


def partials(k):
    names = ["none", "degree", "frequency"]
    return rows(k, coefficient="spearman", controls=names, p_holm=0.01, rows=9)


def coefficients(k):
    table = rows(k, task="tail_mrr", coefficient="pearson", size=[20, 40, 60], p_permutation=0.01)
    return table.assign(subgraphs=30)


def trials(k):
    table = frame(trial=[0, 1], value=[0.2 * k, 0.5], best_so_far=[0.2 * k, 0.5], state="finished")
    return table.assign(epochs=5, reason="", lr=[0.1, 0.01])


def metric_table(k):
    types = ("optimistic", "realistic", "pessimistic")
    heights = [k * each for each in (0.7, 0.6, 0.5)]
    return MetricsTable(pd.DataFrame([heights], [MRR.key], [("tail", t) for t in types]))


def ranks(k):
    return frame(side=["head", "tail"] * 2, realistic=[1.0, 2.0, 9.0, 16.0 * k], candidates=99)


def parts(k):
    table = frame(part=[0, 0], name="p", run=["one", "two"], relik=[0.1, 0.2], mrr=[0.9 * k, 0.5])
    flags = {"picked": [True, False], "best": [k == 1, k != 1], "small": False}
    return table.assign(evaluated=40, triples=100, **flags)


def regrets(k):
    ways = ["by ReliK", "one", "the best of each part"]
    table = frame(strategy=ways, overall_best=[False, True, False], regret=[0.2 * k, 0.1, 0])
    return table.assign(regret_low=0.05, regret_high=0.3, correct=1, parts=3, mrr=0.5)


def differences(k):
    table = frame(a="x", b="y", part=[1, 2], name=["p", "q"], evaluated=9)
    return table.assign(relik_difference=[0.1, 0.2], mrr_difference=[0.1 * k, 0.3])


def coverage(k):
    table = frame(scheme=["overlapping"], level=0.8, covered=0.9 * k, covered_low=0.1)
    return table.assign(covered_high=1.0, subgraphs=9, width=0.2)


def regions(k):
    table = rows(k, id=[0, 10, 20], label=list("abc"), small=False)
    table = table.rename(columns={"value": "relik"}).assign(entities=9, triples=[40, 30, 20])
    return table.assign(z=[3.0 * k, -2.0, 1.0], p=0.01, kind=["high", "low", "high"])


def links():
    return frame(a=[0], b=[10], triples=[5], relik=[0.1])


def pairs(k):
    columns = {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "p_holm": 0.01, "p_shared": 0.01}
    return rows(k, **columns).rename(columns={"value": "difference"})


def communities(k):
    table = rows(k, name=list("abc"), triples=40, small=False)
    return table.rename(columns={"value": "difference"})


def grid(k):
    table = frame(low_a=[1.0, 1.0], high_a=[2.0, 2.0], low_b=[1.0, 3.0], high_b=[2.0, 4.0])
    return table.assign(count=[100, 50 * k])


def wins(k):
    table = frame(relation=[0], triples=[10], wins=[6 * k], ties=[1], losses=[9 - 6 * k])
    return table.assign(p_holm=0.5).astype(int)


def relations(k):
    table = frame(group=["r", "s"], gap=[0.2 * k, 0.1], pessimistic=0.1, optimistic=0.3)
    return table.assign(tied_share=0.2, count=40, largest_tie=7)


def tied(k):
    table = frame(head=["h", "i"], relation="r", tail="t", side="head", candidates=100)
    return table.assign(equal_scores=[int(80 * k), 4])


def separated(k):
    table = frame(group=["2p"], n_true=[9], n_false=9, roc_auc=[0.8 * k], share_true=0.5)
    table = table.assign(
        auc_low=0.3, auc_high=0.9, auc_chance=0.5, average_precision=0.7, cohens_d=1.0
    )
    values = {"mean_true": 0.6 * k, "low_true": 0.2, "high_true": 0.7, "cliffs_delta": 0.5}
    return table.assign(**values, mean_false=0.2, low_false=0.1, high_false=0.3)
