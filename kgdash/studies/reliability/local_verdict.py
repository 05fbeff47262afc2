"""What a subgraph's values say, with intervals: is the model reliable here, and do ranks agree?

Rules: numbers.md#22-verdicts.
"""

import numpy as np

from kgdash.breakdowns.breakdown import SMALL
from kgdash.progress import Progress, silent
from kgdash.ranking.metrics import POOLS
from kgdash.ranking.ratio_metrics import mean_estimate
from kgdash.runs import Run
from kgdash.statistics.estimate import Estimate, number, with_interval
from kgdash.studies.reliability.local_comparison import LocalComparison
from kgdash.studies.reliability.reliability_map import reliability_map
from kgdash.studies.reliability.run_relik import run_relik_known


def local_estimates(comparison: LocalComparison) -> dict[str, Estimate]:
    """Return the means of a comparison with 95% bootstrap intervals over triples.

    :return: by measure as ``comparison.means`` has them: "relik", "tail_mrr", "head_mrr",
        "both_mrr" (a triple's two ranks are drawn together), "relation_mrr"; n counts triples.
        ReliK that is sampled has the interval of its triples' bounds instead
    """
    triples, means = comparison.triples, comparison.means
    found = {"relik": mean_estimate(triples["relik"].dropna().to_numpy(np.float64))}
    if "relik_low" in means:
        ends = (means["relik_low"].value, means["relik_high"].value)
        found["relik"] = Estimate(means["relik"].value, *ends, means["relik"].n)
    for side, pool in POOLS.items():
        ranks = triples[[f"{one}_rank" for one in pool]].dropna().to_numpy(np.float64)
        found[f"{side}_mrr"] = mean_estimate((1 / ranks).mean(axis=1))
    return found


def whole_estimates(run: Run, progress: Progress = silent) -> dict[str, Estimate] | None:
    """Return mean ReliK and MRR of the whole graph, or None where its ReliK is not counted yet.

    :param progress: called with (done, total); may raise to cancel
    :return: "relik" (of all known triples) and "both_mrr" (of the test triples)
    """
    if not run_relik_known(run):
        return None
    map_ = reliability_map(run, progress=progress)
    relik = map_.relik["relik"].to_numpy()
    return {"relik": mean_estimate(relik), "both_mrr": mean_estimate(map_.reciprocal)}


def local_verdict(estimates: dict[str, Estimate], whole: dict[str, Estimate] | None) -> list[str]:
    """Say whether the model is more or less reliable here than in the whole graph.

    :param estimates: of `local_estimates`
    :param whole: "relik" and "both_mrr" of the whole graph, or None where they are not counted yet
    :return: sentences, none stronger than the intervals
    """
    relik, mrr = estimates["relik"], estimates["both_mrr"]
    if not relik.n:
        return []
    mean = f"Mean ReliK here is {with_interval(relik)}"
    if relik.n < SMALL:
        said = [f"{mean}: {relik.n} triple{'s' * (relik.n > 1)}, too few to say more of."]
    elif whole is None:
        said = [f"{mean}."]
    else:
        said = [
            f"ReliK here is {_against(relik, whole['relik'])} the whole graph's: mean "
            f"{with_interval(relik)} against {number(whole['relik'].value)}."
        ]
    if mrr.n < SMALL:
        said.append(
            f"Only {mrr.n} triple{'s are' if mrr.n > 1 else ' is'} ranked here, too few to say how "
            "well."
            if mrr.n
            else "No triple is ranked here, so there is no MRR."
        )
    elif whole is not None and whole["both_mrr"].n:
        said.append(
            f"The MRR is {_against(mrr, whole['both_mrr'])} the whole graph's: "
            f"{with_interval(mrr)} against {number(whole['both_mrr'].value)}, n = {mrr.n:,}."
        )
    return said


def _against(here: Estimate, whole: Estimate) -> str:
    if here.is_above(whole):
        return "above"
    return "below" if whole.is_above(here) else "not told apart from"
