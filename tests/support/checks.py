"""What many tests check alike: progress, intervals against SciPy's, metrics against PyKEEN's."""

import math

import pytest
from scipy import stats


def check_progress(work) -> None:
    """Check that ``work(progress)`` tells rising shares up to all, and that progress may stop it.

    What is kept on disk must not keep ``work`` from being done a second time.
    """
    told = []
    work(lambda done, total: told.append(done / total))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(stop)


def check_interval(ends, statistic, *samples, within, resamples=600) -> None:
    """Hold a 95% bootstrap interval against SciPy's, within a part of its width."""
    low, high = stats.bootstrap(
        samples,
        statistic,
        paired=len(samples) > 1,
        n_resamples=resamples,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert [float(end) for end in ends] == pytest.approx([low, high], abs=within * (high - low))


def pykeen_values(model, triples, known, **options) -> dict[str, float]:
    """Evaluate with PyKEEN, filtered by arrays of triples; keys are ``side.rank_type.metric``."""
    import torch
    from pykeen.evaluation import RankBasedEvaluator

    evaluator = RankBasedEvaluator(filtered=True)
    result = evaluator.evaluate(
        model=model,
        mapped_triples=torch.from_numpy(triples),
        additional_filter_triples=[torch.from_numpy(each) for each in known],
        **{"batch_size": 256, "use_tqdm": False, **options},
    )
    return result.to_flat_dict()


def check_values(values, theirs, rel=1e-8, tolerance=lambda key: 1e-8) -> None:
    """Hold a metrics table against all 225 values of PyKEEN's."""
    ours = {
        f"{side}.{rank_type}.{key}": value
        for side, rank_type in values.frame.columns
        for key, value in values.values(side, rank_type).items()
    }
    assert ours.keys() == theirs.keys()
    assert len(theirs) == 225
    wrong = {
        key: (ours[key], value)
        for key, value in theirs.items()
        if not math.isclose(ours[key], value, rel_tol=rel, abs_tol=tolerance(key))
        and not (math.isnan(ours[key]) and math.isnan(value))
    }
    assert not wrong
